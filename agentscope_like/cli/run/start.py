"""Starts a session from the options of `run`."""

from __future__ import annotations

import asyncio
import logging
import os
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from msgspec import Struct

from agentscope_like.agent import Agent
from agentscope_like.checkpoint import CheckpointStore
from agentscope_like.cli.ask import Keyboard, Person, Recorded, Respondent
from agentscope_like.cli.check import make_context
from agentscope_like.cli.errors import CliError, ExitCode
from agentscope_like.cli.program_tools import all_tools
from agentscope_like.cli.project import PROJECT_SOURCE, ProjectRules, is_out_of_reach
from agentscope_like.cli.run.extra_tools import extra_tools
from agentscope_like.cli.run.session import Session
from agentscope_like.cli.run.session_profile import SessionProfile
from agentscope_like.cli.run.workspace_reads import WORKSPACE_SOURCE, told_reads, workspace_reads
from agentscope_like.cli.show import Renderer, Tally, make_console
from agentscope_like.exception import DeveloperOrientedException
from agentscope_like.model import ChatModelBase, ScriptedModel
from agentscope_like.permission import PermissionConfigError, PermissionMode, PermissionRule
from agentscope_like.profile import PROFILE_SOURCE
from agentscope_like.session import SQLiteSessionStorage
from agentscope_like.state import AgentState
from agentscope_like.tool import BackgroundCommands, Bash, ToolBase, Toolkit
from agentscope_like.tool.builtin.undo import settle_restorations

if TYPE_CHECKING:
    from agentscope_like.sandbox.isolation import Confine
    from agentscope_like.session import SessionStorage
    from agentscope_like.tool.builtin.bash import Contain

__all__ = ["RunOptions", "make_model", "opening_notes", "prepare_session", "run_session"]

AGENT_NAME = "agent"
LONGEST_END = 8.0
"""Seconds that ending in order may take once it is time to leave."""

COMMAND_LINE_SOURCE = "command line"
MODEL_VARIABLE = "AGENTSCOPE_LIKE_MODEL"
_NOTES = "cli"
_SOURCES_READ_ANEW = (PROJECT_SOURCE, COMMAND_LINE_SOURCE, WORKSPACE_SOURCE, PROFILE_SOURCE)

SYSTEM_PROMPT = """\
You are a coding agent in a terminal, working in {directory}.

Look before you change: read the files that matter, then make the smallest change that does what
was asked, then check it by running the project's own tests. Use Read, Grep and Glob to look, Edit
and Write to change files, Bash for everything else; one simple command at a time is easiest to
permit. Each call is judged before it runs. When one is denied or rejected, read why and take
another way; never try to get around it. Say briefly what you did when you are done."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """The options of `run`.

    Attributes:
        task: The first message.
        mode: The mode; None for that of the resumed session, or the default one.
        model: `scripted:FILE`, or a model's name; None for that of the resumed session, or of the
            environment.
        base_url: The base URL of the model's server.
        directory: The project's directory; None for that of the resumed session, or the current
            one.
        resume: The id of a session to resume, or a prefix of it.
        rules: Rules of the command line.
        confine: Whether the kernel keeps commands to what was decided about them.
        contain: Whether commands that would ask run held; without confinement none does.
        with_summary: Whether a table is shown at the end.
        ask_reads: Whether reading files of the project asks, in the default mode.
        with_saving: Whether the session is kept, so that it can be resumed.
        without: The kinds of tools that are left out: `web`, `memory`, `background`, `undo`.
        profile: The file of the profile; None for that of the resumed session, or none.
    """

    task: str | None = None
    mode: PermissionMode | None = None
    model: str | None = None
    base_url: str | None = None
    directory: Path | None = None
    resume: str | None = None
    rules: tuple[PermissionRule, ...] = ()
    confine: Confine = "auto"
    contain: Contain = "on"
    with_summary: bool = False
    ask_reads: bool = False
    with_saving: bool = True
    without: frozenset[str] = frozenset()
    profile: Path | None = None


async def run_session(options: RunOptions) -> ExitCode:
    """Run a session at the terminal or, if there is none, until its task is done.

    Raises:
        CliError: The options are invalid.
    """
    console = make_console()
    renderer = Renderer(console)
    at_terminal = all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stdout))
    task = options.task if options.task and not options.task.isspace() else None
    if not at_terminal and task is None and options.resume is None:
        raise CliError("there is no terminal to ask for a task: give one")
    async with AsyncExitStack() as stack:
        stack.enter_context(_mistakes_told())
        storage = SQLiteSessionStorage(_place(options, stack))
        stack.push_async_callback(storage.close)
        background = None if "background" in options.without else BackgroundCommands()
        if background is not None:
            stack.push_async_callback(background.close)
        checkpoints = None
        if "undo" not in options.without:
            checkpoints = CheckpointStore(Path(storage.path).with_name("checkpoints.db"))
        session = await prepare_session(
            options,
            storage,
            renderer,
            at_terminal=at_terminal,
            background=background,
            checkpoints=checkpoints,
        )
        stack.push_async_callback(session.agent.model.close)
        reason = await _confinement_objection(options.confine)
        held = "" if reason else await _holding_objection(session)
        for note in opening_notes(session, options, held=held):
            renderer.note(note)
        if reason:
            renderer.note(f"commands are decided but not confined: {reason}")
        code = await session.run(task)
        if options.with_summary:
            console.print(session.tally.table())
            console.print(session.tally.closing_line())
        can_resume = is_out_of_reach(storage.path, session.directory)
        if at_terminal and options.with_saving and can_resume:
            session_id = session.agent.state.session_id[:8]
            renderer.note(f"continue with: agentscope-like run --resume {session_id}")
        return code


def _place(options: RunOptions, stack: AsyncExitStack) -> Path | None:
    """Return where sessions are kept; None for the usual place, else one that is removed.

    Raises:
        CliError: A session cannot be taken up and forgotten at once.
    """
    if options.with_saving:
        return None
    if options.resume is not None:
        raise CliError("--no-save begins a session that is not kept; leave out --resume")
    return Path(stack.enter_context(TemporaryDirectory())) / "sessions.db"


def opening_notes(session: Session, options: RunOptions, *, held: str | None = "") -> Iterator[str]:
    """Yield what a person is told as a session starts.

    Args:
        session: The session.
        options: What `run` was asked to do.
        held: Why no command runs held; None if commands do, empty if that was not asked for.
    """
    state = session.agent.state
    mode = state.permission_context.mode
    holds = "; unknown commands run held: no network, changes kept aside" if held is None else ""
    yield f"session {state.session_id[:8]} in {session.directory}, mode {mode}{holds}"
    if held:
        yield f"unknown commands ask before they run, as none can run held here: {held}"
    if told := told_reads(mode, ask_reads=options.ask_reads):
        yield told


async def _confinement_objection(confine: Confine) -> str | None:
    """Return why commands are not confined although they might be, or None.

    Raises:
        CliError: They cannot, and `--confine require` is given.
    """
    if confine == "off":
        return None
    from agentscope_like.sandbox.isolation import bubblewrap_objection

    reason = await asyncio.to_thread(bubblewrap_objection, native=True)
    if reason is not None and confine == "require":
        raise CliError(f"commands cannot be confined here: {reason}", ExitCode.CONFIG)
    return reason


async def _holding_objection(session: Session) -> str | None:
    """Return why no command of the session runs held, or None; empty if that was not asked for."""
    tool = await session.agent.toolkit.get_tool("Bash")
    mode = session.agent.state.permission_context.mode.properties
    if not isinstance(tool, Bash) or mode.only_reads or mode.otherwise == "allow":
        return ""
    return await tool.holding_objection(session.agent.state)


@contextmanager
def _mistakes_told() -> Iterator[None]:
    """Turn configuration errors into `CliError`s; errors inside of tools go to the model."""
    logging.getLogger("agentscope_like").addHandler(logging.NullHandler())
    try:
        yield
    except DeveloperOrientedException as error:
        raise CliError(error.message, ExitCode.CONFIG) from error
    except PermissionConfigError as error:
        raise CliError(str(error), ExitCode.CONFIG) from error


async def prepare_session(
    options: RunOptions,
    storage: SQLiteSessionStorage,
    renderer: Renderer,
    *,
    at_terminal: bool,
    background: BackgroundCommands | None = None,
    checkpoints: CheckpointStore | None = None,
) -> Session:
    """Return the session that the options ask for, ready to run.

    Args:
        options: What `run` was asked to do.
        storage: Where sessions are kept.
        renderer: Where it is shown.
        at_terminal: Whether a person answers; else answers come from the recording.
        background: The commands in the background; None if there are none.
        checkpoints: Keeps what files were before tools change them; None if nothing does.

    Raises:
        CliError: The options cannot be followed.
    """
    state = await _load(storage, options.resume) if options.resume else None
    notes = dict(state.middle_context.get(_NOTES, {})) if state is not None else {}
    directory = _directory(options, notes)
    if state is not None:
        _refuse_own_session(storage, directory)
    project = ProjectRules(directory)
    mode = options.mode or (state.permission_context.mode if state else PermissionMode.DEFAULT)
    kept = _remembered(state) if state is not None else ()
    reads = () if options.ask_reads else workspace_reads()
    rules = (*kept, *project.load(), *options.rules, *reads)
    context = make_context(mode, directory, rules)
    if state is None:
        state = AgentState(permission_context=context)
    else:
        state.permission_context = context
    model_name = options.model or notes.get("model") or os.environ.get(MODEL_VARIABLE)
    base_url = options.base_url or notes.get("base_url")
    model = make_model(model_name, base_url, renderer)
    notes = {"directory": str(directory), "model": _absolute(model_name), "base_url": base_url}
    state.middle_context[_NOTES] = notes
    if checkpoints is not None and not is_out_of_reach(checkpoints.path, directory):
        checkpoints = None
    if checkpoints is not None:
        await asyncio.to_thread(settle_restorations, checkpoints, state.session_id)
    places = _Places.beside(storage, state.session_id)
    toolkit = Toolkit(_tools(options, directory, places, background, checkpoints))
    toolkit.check_new_rules(rules)
    agent = Agent(
        AGENT_NAME, SYSTEM_PROMPT.format(directory=directory), model, toolkit, state=state
    )
    names = await toolkit.tool_names()
    profile = SessionProfile.of(options.profile, directory, state, names)
    if profile is not None:
        profile.apply(agent, names)
    respondent = _respondent(model, renderer, at_terminal=at_terminal)
    return Session(
        agent,
        storage,
        respondent,
        renderer,
        directory,
        project,
        Tally(),
        on_leaving=_end_soon,
    )


def _refuse_own_session(storage: SQLiteSessionStorage, directory: Path) -> None:
    """Refuse a session that the project could have written.

    Raises:
        CliError: It is kept inside of the project.
    """
    if not is_out_of_reach(storage.path, directory):
        raise CliError(
            f"the session is kept in {storage.path}, inside of the project, which could have "
            "written it to grant itself rights; set XDG_DATA_HOME to another place, or begin a new "
            "session",
            ExitCode.CONFIG,
        )


class _Places(Struct, frozen=True):
    """Where a session keeps what its tools leave.

    Attributes:
        outputs: Long outputs of commands.
        layers: What held commands change.
        memories: The memories of all sessions.
    """

    outputs: Path
    layers: Path
    memories: Path

    @classmethod
    def beside(cls, storage: SQLiteSessionStorage, session_id: str) -> _Places:
        """Return the places beside the sessions."""
        data = Path(storage.path).parent
        return cls(data / "outputs" / session_id, data / "layers", data / "memories.db")


def _tools(
    options: RunOptions,
    directory: Path,
    places: _Places,
    background: BackgroundCommands | None,
    checkpoints: CheckpointStore | None,
) -> list[ToolBase]:
    """Return the tools of a session."""
    is_contained = options.contain == "on" and options.confine != "off"
    is_kept = options.with_saving and is_out_of_reach(places.memories, directory)
    return [
        *all_tools(
            directory,
            confine=options.confine,
            outputs=places.outputs,
            background=background,
            layers=places.layers if is_contained else None,
            checkpoints=checkpoints,
        ),
        *extra_tools(
            options.without,
            memories=places.memories if is_kept else None,
            owner=str(directory),
            background=background,
            directory=directory,
            checkpoints=checkpoints,
        ),
    ]


def _respondent(model: ChatModelBase, renderer: Renderer, *, at_terminal: bool) -> Respondent:
    """Return who answers: the person at the terminal, or the recording."""
    if at_terminal:
        return Person(renderer.console, Keyboard())
    answers = model.script.answers if isinstance(model, ScriptedModel) else {}
    return Recorded(answers, renderer)


def _end_soon(code: ExitCode) -> None:
    """End the process although a thread may wait for a file system that does not answer."""
    end = threading.Timer(LONGEST_END, os._exit, [int(code)])
    end.daemon = True
    end.start()


def make_model(name: str | None, base_url: str | None, renderer: Renderer) -> ChatModelBase:
    """Return the model of this name.

    Args:
        name: `scripted:FILE`, or a name that the server knows.
        base_url: Where the server is; OpenAI's by default.
        renderer: Where it is shown that a busy server is waited for.

    Raises:
        CliError: No model is named, or the key for it is missing.
        ConfigurationError: The script cannot be read.
    """
    if not name:
        raise CliError(
            "no model is named: give --model NAME or --model scripted:FILE, or set "
            f"{MODEL_VARIABLE}"
        )
    kind, colon, path = name.partition(":")
    if kind == "scripted" and colon:
        return ScriptedModel(path)
    from agentscope_like.model import OpenAIChatModel

    if not (os.environ.get("OPENAI_API_KEY") or base_url or os.environ.get("OPENAI_BASE_URL")):
        raise CliError(
            f"no API key for {name!r}: set OPENAI_API_KEY, give --base-url for a server without "
            "one, or use --model scripted:FILE",
            ExitCode.CONFIG,
        )

    async def wait(seconds: float) -> None:
        renderer.note(f"{name} did not answer; trying again in {max(round(seconds), 1)} s")
        await asyncio.sleep(seconds)

    return OpenAIChatModel(name, base_url=base_url, sleep=wait)


async def _load(storage: SessionStorage, wanted: str) -> AgentState:
    known = [info.id for info in await storage.list_sessions()]
    fitting = [wanted] if wanted in known else [i for i in known if i.startswith(wanted)]
    if len(fitting) != 1:
        what = f"{len(fitting)} sessions begin with" if fitting else "there is no session"
        raise CliError(
            f"{what} {wanted!r}; `agentscope-like sessions` lists them", ExitCode.NO_INPUT
        )
    state = await storage.load(fitting[0])
    if state is None:
        raise CliError(f"the session {wanted!r} is gone; start a new one", ExitCode.NO_INPUT)
    return state


def _directory(options: RunOptions, notes: Mapping[str, str]) -> Path:
    saved = notes.get("directory")
    if saved is None:
        return options.directory or Path.cwd().resolve()
    if options.directory is not None and str(options.directory) != saved:
        raise CliError(
            f"the session works in {saved}, not in {options.directory}: leave --cwd out, or begin "
            "a new session"
        )
    if not Path(saved).is_dir():
        raise CliError(f"the session's directory {saved} is gone", ExitCode.NO_INPUT)
    return Path(saved)


def _remembered(state: AgentState) -> Sequence[PermissionRule]:
    """Return the rules stored in a resumed session; project rules are loaded from their file."""
    context = state.permission_context
    tables = (context.allow_rules, context.deny_rules, context.ask_rules)
    return [
        rule
        for table in tables
        for rules in table.values()
        for rule in rules
        if rule.source not in _SOURCES_READ_ANEW
    ]


def _absolute(model: str | None) -> str | None:
    if model is None or not model.startswith("scripted:"):
        return model
    return "scripted:" + str(Path(model.removeprefix("scripted:")).resolve())
