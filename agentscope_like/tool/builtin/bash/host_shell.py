"""Runs the commands of `Bash` on this host, streams their output and keeps the directory."""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
import time
import uuid
import weakref
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from copy import copy
from functools import partial
from typing import TYPE_CHECKING

from msgspec import to_builtins

from agentscope_like.exception import ConfigurationError, IsolationError
from agentscope_like.message import ToolChunk, ToolResultState
from agentscope_like.paths import SensitiveNames, is_below
from agentscope_like.permission import PathRuleIndex, PermissionRule
from agentscope_like.sandbox.host import OrphanGuard
from agentscope_like.sandbox.isolation import FORGOTTEN, Heard, Profile, find_violation
from agentscope_like.shell import (
    CommandAnalysis,
    KnownPrograms,
    PlainRead,
    SearchPath,
    Surroundings,
    search_path,
)
from agentscope_like.tool.builtin.bash.environment import (
    in_english,
    is_known_harmless,
    repository_keys,
    shell_environment,
    with_repository_doubts,
)
from agentscope_like.tool.builtin.bash.shell_process import ShellProcess, find_bash
from agentscope_like.tool.builtin.bash.shell_result import (
    epilogue,
    failure,
    not_confined,
    refuse_unsendable,
    run_seconds,
    say_chunk,
)
from agentscope_like.tool.builtin.bash.transcript import StreamedOutput, Transcript

if TYPE_CHECKING:
    from agentscope_like.sandbox.secret_wall import CoveredRun, CoveredSecrets
    from agentscope_like.tool.builtin.bash.command_shell import ExtraEnvironment
    from agentscope_like.tool.builtin.held import HeldStart

__all__ = ["Shell", "still_there"]

_CONFINED = {"TMPDIR": FORGOTTEN}
"""A confined command has no other place for temporary files."""

MAX_TOTAL_BYTES = 4 << 30
"""How much output is kept on disk before that of the oldest commands is removed."""

_SEARCHED_SECONDS = 5.0
_MOST_SEARCHED = 16
_NOWHERE = SearchPath(())
"""How long it is remembered which directories of PATH lie in which working directories."""


class Shell:
    """Runs commands on this host one after another, each in a new bash process.

    Attributes:
        start: The absolute directory that the shell was created for.

    Args:
        directory: Where commands start; by default, the process's current directory.
        outputs: The directory of whole outputs that are too long to show; by default one that is
            removed with the shell.

    Raises:
        ConfigurationError: There is no such directory.
    """

    def __init__(
        self,
        directory: str | os.PathLike[str] | None = None,
        outputs: str | os.PathLike[str] | None = None,
    ) -> None:
        self.start = _existing(directory)
        self._moved_to: str | None = None
        self._files = _OutputFiles(None if outputs is None else os.path.abspath(outputs))
        self._guard = OrphanGuard()
        self._searched: dict[tuple[object, ...], tuple[float, SearchPath]] = {}

    def at(self, directory: str | None) -> Shell:
        """Return this shell for one session; see `CommandShell`."""
        shell = copy(self)
        is_usable = directory is not None and os.path.isabs(directory)
        shell._moved_to = directory if is_usable else None  # noqa: SLF001 - one of its own class
        return shell

    @property
    def directory(self) -> str:
        """Return the absolute directory that the next command starts in."""
        return self._moved_to or self.start

    def move(self, directory: str) -> None:
        """Let the next command start in a directory; an empty one changes nothing."""
        if directory:
            self._moved_to = directory

    @property
    def home(self) -> str | None:
        """Return the directory that `~` means, or None if the environment does not say."""
        try:
            home = os.environ["HOME"]
        except KeyError:
            return None
        return home if home.startswith("/") else None

    @property
    def work_tree(self) -> str | None:
        """Return the root of the git work tree that the next command starts in, if known."""
        from agentscope_like.tool.builtin.bash.environment import work_tree_of  # few commands ask

        return work_tree_of(self.directory, os.environ)

    @property
    def has_to_look_up(self) -> bool:
        """Return False: this host can be asked at any time."""
        return False

    def surroundings(self, working: Sequence[str], sensitive: SensitiveNames) -> Surroundings:
        """Return the surroundings of the next command; see `CommandShell`."""
        return Surroundings(
            directory=self.directory,
            working=tuple(working),
            root=self.start,
            home=self.home,
            sensitive=sensitive,
            variables=os.environ,
        )

    async def programs(self, analysis: CommandAnalysis, working: Sequence[str]) -> KnownPrograms:
        """Return where a command finds its programs if it runs without approval."""
        return self._search_path(os.environ.get("PATH"), tuple(working)).programs(analysis)

    def programs_of(self, line: PlainRead, working: Sequence[str]) -> KnownPrograms | None:
        """Return the same for a plain line; None where files may put a doubt on it."""
        project = (self.directory, self.start, *working)
        search = self._search_path(os.environ.get("PATH"), project[2:])
        programs = search.programs_named(line.programs)
        if not all(programs.brought.values()):
            return None
        is_known = is_known_harmless(line, self.directory, project, os.environ)
        return programs if is_known else None

    def _search_path(self, path: str | None, working: tuple[str, ...]) -> SearchPath:
        """Return the directories of PATH, which are looked at again after a while."""
        asked, now = (path, working), time.monotonic()
        at, found = self._searched.get(asked, (now - _SEARCHED_SECONDS, _NOWHERE))
        if now - at >= _SEARCHED_SECONDS:
            found = search_path(path, working, root=self.start, home=self.home)
            if len(self._searched) >= _MOST_SEARCHED:
                self._searched.clear()
            self._searched[asked] = (now, found)
        return found

    def git_aliases(
        self, analysis: CommandAnalysis, around: Surroundings
    ) -> Mapping[str, Sequence[str]] | None:
        """Return what git's aliases stand for, by their names; None where that is not known."""
        from agentscope_like.tool.builtin.bash.environment import aliases_of_git  # few commands ask

        return aliases_of_git(analysis, around, os.environ)

    def checked(
        self,
        working: Sequence[str],
        analysis: CommandAnalysis,
        around: Callable[[], Surroundings],
    ) -> CommandAnalysis:
        """Return the analysis with doubts about the repositories that it reads."""
        project = (self.directory, self.start, *working)
        return with_repository_doubts(analysis, project, around, os.environ)

    def index(self, contents: Sequence[str], *, strict: bool) -> PathRuleIndex:
        """Compile the patterns of rules of the file tools; see `CommandShell`."""
        return PathRuleIndex(contents, strict=strict)

    async def look_up(
        self, look: Callable[[], Awaitable[object]], rules: Sequence[PermissionRule]
    ) -> None:
        """Do nothing: this host needs no lookup in advance."""

    async def run(
        self,
        command: str,
        *,
        timeout_ms: int,
        extra_environment: ExtraEnvironment | None = None,
        profile: Profile | None = None,
        covered: CoveredRun | None = None,
        in_background: bool = False,
        place: str = "",
        held: HeldStart | None = None,
    ) -> AsyncGenerator[ToolChunk, None]:
        """Run the command and yield its output as it arrives, then a last chunk with its status.

        Args:
            command: The text that bash runs.
            timeout_ms: The timeout in milliseconds, at most 600,000; 0 means the maximum.
            extra_environment: Returns additional variables; called in a thread.
            profile: The confinement; None for no confinement. If the command cannot be confined, it
                does not run.
            covered: Reports the credentials that the confinement hides from it.
            in_background: Whether to yield all its output and to take a longer timeout.
            place: Which directory it has to start in; empty for the one at the path.
            held: Starts it held; the directory that it ends in does not take effect then.

        Raises:
            ToolArgumentError: The command cannot be passed to a process.
        """
        refuse_unsendable(command)
        if problem := self.start_objection():
            yield failure(problem)
            return
        directory = self.directory
        process = await self._process(
            command,
            directory,
            seconds=run_seconds(timeout_ms, in_background=in_background),
            extra_environment=extra_environment,
            profile=profile,
            place=place,
            held=held,
        )
        heard = Heard()
        transcript = StreamedOutput() if in_background else Transcript(self._files.new)
        say = partial(say_chunk, block_id=uuid.uuid4().hex)
        async with AsyncExitStack() as stack:
            stack.callback(transcript.close)
            try:
                await stack.enter_async_context(process)
            except OSError as error:
                yield failure(f"bash could not be started in {directory}: {error}.")
                return
            except IsolationError as error:
                yield not_confined(error.message)
                return
            while data := await process.read():
                heard.add(data)
                if text := await _take(transcript, data):
                    yield say(text)
            end = await process.finish()
            if held is None:
                self._moved_to = await asyncio.to_thread(still_there, end.directory, directory)
            text = await asyncio.to_thread(transcript.finish)
            secrets = await asyncio.to_thread(held.report) if held is not None else None
        if not end.ran:
            yield not_confined(heard.text.strip())
            return
        violation = None
        if profile is not None:
            violation = find_violation(profile, end.status, heard.text, command)
        if covered is not None:
            secrets = covered.report()
        told = epilogue(
            end,
            transcript,
            timeout_ms,
            violation,
            self.kept_secret(secrets),
            is_held=held is not None,
        )
        is_fine = end.status == 0 and violation is None
        yield say(
            text + told,
            state=ToolResultState.SUCCESS if is_fine else ToolResultState.ERROR,
            metadata={
                "exit_code": end.status,
                "duration": round(end.seconds, 3),
                "directory": self.directory if held is None else end.directory or directory,
                "timed_out": end.status is None and end.excess is None,
                "output_file": transcript.path,
                **({} if violation is None else {"violation": to_builtins(violation)}),
                **({} if not secrets else {"covered_secrets": secrets.as_metadata()}),
            },
        )

    async def _process(
        self,
        command: str,
        directory: str,
        *,
        seconds: float,
        extra_environment: ExtraEnvironment | None,
        profile: Profile | None,
        place: str,
        held: HeldStart | None,
    ) -> ShellProcess:
        """Return the process of a command, to be entered."""
        mark = uuid.uuid4().hex
        environment = await self.environment(
            mark, extra_environment=extra_environment, is_confined=profile is not None
        )
        return ShellProcess(
            command,
            bash=find_bash() or "",
            directory=directory,
            environment=environment if held is None else in_english(environment),
            family_mark=mark,
            timeout=seconds,
            profile=profile,
            guard=self._guard,
            place=place,
            held=held,
        )

    async def environment(
        self,
        mark: str,
        *,
        extra_environment: ExtraEnvironment | None,
        is_confined: bool,
        carried: Mapping[str, str] | None = None,
    ) -> dict[str, str]:
        """Return all variables of the next command.

        Args:
            mark: The mark that identifies its processes.
            extra_environment: Returns additional variables; called in a thread.
            is_confined: Whether the command is confined.
            carried: Variables that earlier commands have set.
        """
        environment = shell_environment({**os.environ, **(carried or {})}, mark)
        environment["PWD"] = self.directory
        if extra_environment is not None:
            environment |= await asyncio.to_thread(extra_environment, environment, repository_keys)
        return in_english(environment | _CONFINED) if is_confined else environment

    def kept_secret(self, secrets: CoveredSecrets | None) -> list[str]:
        """Return the paths of the hidden credentials that a command opened."""
        own, home = os.path.realpath(self.directory), self.home
        found: list[str] = []
        for path in () if secrets is None else secrets.opened:
            if is_below(path, own):
                found.append(os.path.relpath(path, own))
            elif home is not None and is_below(path, home):
                found.append(f"~{path.removeprefix(home)}")
            else:
                found.append(path)
        return found

    def start_objection(self) -> str | None:
        """Return why no command can be started here, or None."""
        if find_bash() is None:
            return (
                "There is no bash in the system's directories, so no command can be run. Use the "
                "other tools, or ask for bash to be installed."
            )
        directory = self.directory
        if os.path.isdir(directory):
            return None
        self._moved_to = None
        if self.start != directory and os.path.isdir(self.start):
            return (
                f"The directory {directory} that commands ran in is gone, so this one was not run. "
                f"Commands now run in {self.start}: call again."
            )
        return (
            f"{directory} that commands run in does not exist, so this one was not run. It has to "
            "be made again before any command can run."
        )


class _OutputFiles:
    """Files for long output; the oldest are removed once there is too much.

    Args:
        directory: Where they are, made if missing; by default a private directory that is removed
            with the shell.
    """

    def __init__(self, directory: str | None) -> None:
        self._own: str | None = None
        self._given = directory

    def new(self) -> str:
        """Return a new path.

        Raises:
            OSError: There can be no directory for it.
        """
        directory = self._given
        if directory is not None:
            os.makedirs(directory, mode=0o700, exist_ok=True)
        elif self._own is None or not os.path.isdir(self._own):
            self._own = tempfile.mkdtemp(prefix="agentscope-like-")
            weakref.finalize(self, shutil.rmtree, self._own, ignore_errors=True)
        directory = directory or self._own or ""
        self._make_room(directory)
        return os.path.join(directory, f"output-{uuid.uuid4().hex[:12]}.txt")

    def _make_room(self, directory: str) -> None:
        """Remove the oldest files until the rest is within the limit."""
        with os.scandir(directory) as listing:
            files = [(each.stat(follow_symlinks=False), each.path) for each in listing]
        files.sort(key=lambda file: file[0].st_mtime_ns)
        total = sum(status.st_size for status, _ in files)
        for status, path in files:
            if total <= MAX_TOTAL_BYTES:
                return
            os.unlink(path)
            total -= status.st_size


def _existing(directory: str | os.PathLike[str] | None) -> str:
    try:
        start = os.path.abspath(os.getcwd() if directory is None else os.fspath(directory))
    except FileNotFoundError:
        start = "the process's own directory"
    if not os.path.isdir(start):
        raise ConfigurationError(
            f"commands cannot run in {start}: there is no such directory. Make it first, or give "
            "another `cwd`"
        )
    return start


async def _take(transcript: Transcript, data: bytes) -> str:
    if transcript.touches_disk(len(data)):
        return await asyncio.to_thread(transcript.add, data)
    return transcript.add(data)


def still_there(reported: str | None, before: str) -> str:
    """Return the directory that a command reported, or the one before if that is not there."""
    return reported if reported is not None and os.path.isdir(reported) else before
