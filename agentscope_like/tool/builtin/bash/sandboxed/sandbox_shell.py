"""Runs the commands of `Bash` in a sandbox."""

from __future__ import annotations

import asyncio
import contextlib
import os
import posixpath
import shlex
import tempfile
import time
import uuid
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from copy import copy
from functools import partial
from typing import TYPE_CHECKING

from agentscope_like.exception import (
    AgentOrientedException,
    DeveloperOrientedException,
    IsolationError,
    ToolArgumentError,
)
from agentscope_like.message import ToolChunk, ToolResultState
from agentscope_like.paths import SensitiveNames
from agentscope_like.permission import PathRuleIndex, PermissionRule
from agentscope_like.sandbox.files import answer
from agentscope_like.sandbox.host import MARK_VARIABLE
from agentscope_like.sandbox.isolation import Profile
from agentscope_like.shell import (
    CommandAnalysis,
    KnownPrograms,
    PlainRead,
    Surroundings,
    search_path,
)
from agentscope_like.tool.builtin.bash.environment import (
    LOOKUP_VARIABLES,
    GitPlace,
    keys_below,
    not_told,
    shell_environment,
)
from agentscope_like.tool.builtin.bash.sandboxed.sandbox_command import SandboxCommand
from agentscope_like.tool.builtin.bash.sandboxed.sandbox_repository import (
    INCLUDED,
    foreign_file,
    listing_command,
)
from agentscope_like.tool.builtin.bash.shell_process import ShellExit
from agentscope_like.tool.builtin.bash.shell_result import (
    epilogue,
    not_confined,
    refuse_unsendable,
    run_seconds,
    say_chunk,
)
from agentscope_like.tool.builtin.bash.transcript import StreamedOutput, Transcript
from agentscope_like.tool.builtin.file_errors import FileToolError
from agentscope_like.tool.builtin.file_system import (
    SandboxFileSystem,
    UnknownNameError,
)
from agentscope_like.tool.builtin.tool_results import CancelCheck, off_loop
from agentscope_like.tool.builtin.waiter import Waiter

if TYPE_CHECKING:
    from agentscope_like.sandbox import SandboxHandle
    from agentscope_like.sandbox.secret_wall import CoveredRun
    from agentscope_like.tool.builtin.bash.command_shell import ExtraEnvironment

__all__ = ["SandboxShell"]

MOST_LOOKS = 48
"""The maximum number of decisions made to collect their questions about files: 40 symlinks, and
some globs."""

MOST_KEPT_BYTES = 64 << 20
"""The maximum size of an output that is stored in the sandbox."""

_ENVIRONMENT = """\
env -0 2>/dev/null || compgen -e | while read -r name; do printf '%s=%s\\0' "$name" "${!name}"; done
"""

_SWAP = r"tr '\n\000' '\000\n'"
"""Swaps line ends and null bytes, for programs that process lines."""


class SandboxShell:
    """Runs commands in a sandbox, one after another; see `CommandShell`.

    Args:
        handle: The sandbox.
        directory: Where commands start; relative to the workspace, which is the default.
    """

    def __init__(self, handle: SandboxHandle, directory: str | None = None) -> None:
        self._handle = handle
        # of the files that commands see, the file methods of a sandbox may reach only some
        self._system = SandboxFileSystem(handle, as_commands=True)
        self._start = self._system.directory(directory)
        self._moved_to: str | None = None
        self._inherited: dict[str, str] | None = None

    def at(self, directory: str | None) -> SandboxShell:
        """Return this shell for one session; see `CommandShell`."""
        shell = copy(self)
        is_usable = directory is not None and posixpath.isabs(directory)
        shell._moved_to = directory if is_usable else None  # noqa: SLF001 - one of its own class
        return shell

    @property
    def directory(self) -> str:
        """Return the absolute directory that the next command starts in."""
        return self._moved_to or self._start()

    @property
    def home(self) -> str | None:
        """Return the directory that `~` means in the sandbox, or None if unknown."""
        return self._system.home or None

    @property
    def work_tree(self) -> str | None:
        """Return None: the sandbox is not asked for it."""
        return None

    @property
    def has_to_look_up(self) -> bool:
        """Return whether a decision must be prepared; False while one is being prepared."""
        return not self._system.names.is_asking

    def surroundings(self, working: Sequence[str], sensitive: SensitiveNames) -> Surroundings:
        """Return the surroundings of the next command."""
        return Surroundings(
            directory=self.directory,
            working=tuple(working),
            root=self._start(),
            home=self._system.home,
            sensitive=sensitive,
            names=self._system.names,
            other_homes=self._system.homes,
        )

    async def programs(self, analysis: CommandAnalysis, working: Sequence[str]) -> KnownPrograms:
        """Return where a command finds its programs in the sandbox if it runs without approval."""
        path = shell_environment(await self._known_environment(), "").get("PATH")
        names, found = self._system.names, KnownPrograms("")

        async def look() -> None:
            nonlocal found
            own = search_path(path, working, root=self._start(), home=self.home, names=names)
            found = own.programs(analysis, names)

        try:
            await look()
        except UnknownNameError:  # nobody has decided about it, or prepared that
            await self._system.look_up_all(look, most=MOST_LOOKS)
            await look()
        return found

    def programs_of(self, line: PlainRead, working: Sequence[str]) -> None:
        """Return None: every file of a sandbox is looked up."""

    def git_aliases(self, analysis: CommandAnalysis, around: Surroundings) -> None:
        """Return None: a decision does not read files of the sandbox."""
        del analysis, around

    def checked(
        self,
        working: Sequence[str],
        analysis: CommandAnalysis,
        around: Callable[[], Surroundings],
    ) -> CommandAnalysis:
        """Return the analysis: repositories in a sandbox are looked at when a command runs."""
        del working, around
        return analysis

    def index(self, contents: Sequence[str], *, strict: bool) -> PathRuleIndex:
        """Compile the patterns of rules of the file tools."""
        return self._system.index(contents, strict=strict)

    async def look_up(
        self, look: Callable[[], Awaitable[object]], rules: Sequence[PermissionRule]
    ) -> None:
        """Look up all files that a decision asks for."""
        if not self._system.home:
            await self._system.look_up([self._start()], directory=self.directory)
        await self._system.look_up_rules(rules)

        async def do() -> None:
            await look()

        if not await self._system.look_up_all(do, most=MOST_LOOKS):
            raise FileToolError("The command names more files than can be looked up.")

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
    ) -> AsyncGenerator[ToolChunk, None]:
        """Run the command and yield its output as it arrives, then a last chunk with its status.

        Raises:
            ToolArgumentError: The command cannot be passed to a process.
            SandboxConnectionError: The other host cannot be reached, or was lost meanwhile.
        """
        del profile, covered, place
        refuse_unsendable(command)
        running = SandboxCommand(
            self._handle,
            command,
            directory=self.directory,
            environment=await self._environment(extra_environment),
            timeout=run_seconds(timeout_ms, in_background=in_background),
        )
        say = partial(say_chunk, block_id=uuid.uuid4().hex)
        started_at = time.monotonic()
        with contextlib.ExitStack() as stack:

            def new_file() -> str:
                kept = tempfile.TemporaryDirectory(prefix="agentscope-like-")
                return os.path.join(stack.enter_context(kept), "output.txt")

            transcript = Transcript(new_file)
            if in_background:
                transcript = StreamedOutput()
            with contextlib.closing(transcript):
                try:
                    async with aclosing(running.output()) as output:
                        async for text in output:
                            shown = await asyncio.to_thread(transcript.add, text.encode())
                            if shown:
                                yield say(shown)
                except IsolationError as error:
                    yield not_confined(error.message)
                    return
                if running.lost_directory:
                    yield self._gone()
                    return
                self._moved_to = running.directory or self._moved_to
                text = await self._finished(transcript)
        end = ShellExit(
            status=running.status,
            directory=running.directory,
            left_background=False,
            seconds=time.monotonic() - started_at,
        )
        yield say(
            text + epilogue(end, transcript, timeout_ms, None),
            state=ToolResultState.SUCCESS if end.status == 0 else ToolResultState.ERROR,
            metadata={
                "exit_code": end.status,
                "duration": round(end.seconds, 3),
                "directory": self.directory,
                "timed_out": end.status is None,
                "output_file": transcript.path,
            },
        )

    def _gone(self) -> ToolChunk:
        directory, start = self.directory, self._start()
        self._moved_to = None
        told = f"Commands now run in {start}: call again." if start != directory else "Make it."
        return say_chunk(
            f"The sandbox has no directory {directory} to run commands in, so this one was not "
            f"run. {told}",
            block_id=uuid.uuid4().hex,
            state=ToolResultState.ERROR,
        )

    async def _finished(self, transcript: Transcript) -> str:
        """Return the rest of the shown output; write the full output to a file if it is long."""
        kept = transcript.path
        if kept is not None:
            name = f"output-{uuid.uuid4().hex[:12]}.txt"
            place = posixpath.join(self._handle.scratch_path, name)
            try:
                await self._handle.write_file(place, await asyncio.to_thread(_beginning, kept))
            except (OSError, AgentOrientedException, DeveloperOrientedException) as error:
                transcript.lose(error)
            else:
                transcript.path = place
        return await asyncio.to_thread(transcript.finish)

    # Its environment

    async def _environment(self, extra: ExtraEnvironment | None) -> dict[str, str | None]:
        """Return the variables to change for a command; None removes one."""
        inherited = await self._known_environment()
        wanted = shell_environment(inherited, "")
        if extra is not None:
            wanted |= await self._unasked(extra, wanted)
        wanted.pop(MARK_VARIABLE, None)  # the sandbox knows its processes by it
        changed: dict[str, str | None] = {
            name: value for name, value in wanted.items() if inherited.get(name) != value
        }
        gone = [name for name in inherited if name not in wanted and name != MARK_VARIABLE]
        return changed | dict.fromkeys(gone)

    async def _known_environment(self) -> dict[str, str]:
        if self._inherited is None:
            told = await answer(self._handle, _ENVIRONMENT)
            pairs = os.fsdecode(told or b"").split("\0")[:-1]
            inherited = dict(pair.split("=", 1) for pair in pairs if "=" in pair)
            if not inherited:
                raise FileToolError("The environment of the sandbox could not be read.")
            self._inherited = inherited
        return self._inherited

    async def _unasked(
        self, extra: ExtraEnvironment, environment: dict[str, str]
    ) -> dict[str, str]:
        loop = asyncio.get_running_loop()

        def do(cancel_check: CancelCheck) -> dict[str, str]:
            return extra(dict(environment), partial(self._keys, Waiter(loop, cancel_check)))

        return await off_loop(do)

    def _keys(
        self, wait: Waiter, around: Surroundings, place: GitPlace, environment: Mapping[str, str]
    ) -> Sequence[str]:
        """Return the names of the settings of a repository in the sandbox; blocks."""
        del around
        variables = {
            **LOOKUP_VARIABLES,
            "GIT_CONFIG_COUNT": environment.get("GIT_CONFIG_COUNT", "0"),
            "PATH": environment["PATH"],
        }
        words = ["env", *(f"{name}={value}" for name, value in variables.items()), "git"]
        directory = shlex.quote(place.directory)

        def told(arguments: Sequence[str], only: str = "") -> bytes:
            git = f"{{ {shlex.join([*words, *arguments])} </dev/null 2>/dev/null || :; }}"
            if only:
                chosen = f"{{ grep -a {shlex.quote('^' + only)} || [ $? = 1 ]; }}"
                git = f"{git} | {_SWAP} | {chosen} | {_SWAP}"
            there = f"cd -- {directory} 2>/dev/null && command -v git >/dev/null"
            body = f"set -o pipefail; if {there}; then {git} && printf .; else printf .; fi"
            try:
                listed = wait(lambda: answer(self._handle, body))
            except OSError as error:
                raise not_told(place, error) from error
            if listed is None:
                raise not_told(place, OverflowError())
            if not listed.endswith(b"."):
                raise not_told(place, OSError())
            return listed[:-1]

        keys = keys_below(place, told)
        included = told([*place.options, *INCLUDED]) if any(map(_is_include, keys)) else b""
        listing = listing_command(place.directory, [*words, *place.options], self._start())
        try:
            listed = wait(lambda: answer(self._handle, listing))
        except OSError as error:
            raise not_told(place, error) from error
        if listed is None or (foreign := foreign_file(listed, included)):
            raise ToolArgumentError(
                f"the repository at {place.directory!r} leads git to files elsewhere "
                f"({foreign if listed is not None else 'too many to list'}). What is there is left "
                "to the user."
            )
        return keys


def _is_include(key: str) -> bool:
    return key.lower().startswith(("include.", "includeif."))


def _beginning(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read(MOST_KEPT_BYTES)
