"""A command that a terminal has started, until what came of it has been told."""

from __future__ import annotations

import asyncio
import contextlib
import os
import uuid
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from msgspec import Struct

from agentscope_like.exception import AgentOrientedException, IsolationError
from agentscope_like.sandbox.host import OrphanGuard, find_bash
from agentscope_like.sandbox.isolation import Heard, Violation, find_violation
from agentscope_like.sandbox.terminal import (
    COLUMNS,
    ROWS,
    ProgramStart,
    PtyProcess,
    confined_environment,
)
from agentscope_like.tool.builtin.bash.bash_start import (
    bash_start,
    confined_by,
    reported_directory,
    reported_variables,
)
from agentscope_like.tool.builtin.bash.descriptors import Descriptors
from agentscope_like.tool.builtin.bash.host_shell import Shell
from agentscope_like.tool.builtin.bash.start_directory import held_path, open_directory
from agentscope_like.typed.tools.terminal.calls import TerminalCall
from agentscope_like.typed.tools.terminal.judge import Boundary, TerminalJudge

__all__ = ["Ended", "Program", "start_program"]

_TERMINAL = {"TERM": "xterm", "COLUMNS": str(COLUMNS), "LINES": str(ROWS)}

_NOT_CONFINED = (
    "The command was not run, because it could not be confined to what was decided about it: {}. "
    "Nothing is run without that unless the user switches it off."
)


class Ended(Struct, frozen=True):
    """How a command ended.

    Attributes:
        status: Its exit status; None if it was ended.
        timed_out: Whether that was after its timeout.
        left_background: Whether processes in the background were ended with it.
        violation: What it tried beyond what was decided.
        kept_secret: The paths of hidden credentials that it opened.
        covered: What the metadata says of these.
    """

    status: int | None
    timed_out: bool
    left_background: bool
    violation: Violation | None
    kept_secret: tuple[str, ...]
    covered: dict[str, Any] | None


class Program:
    """A started command.

    Attributes:
        command: Its text.
        process: What runs it.
        environment: The variables that it was given.
        boundary: What it runs within.
        timeout: Seconds until it is ended; None for no limit.
    """

    def __init__(
        self,
        call: TerminalCall,
        process: PtyProcess,
        environment: Mapping[str, str],
        boundary: Boundary,
        shell: Shell,
        timeout: float | None,
    ) -> None:
        self.command = call.read.command
        self.process = process
        self.environment = environment
        self.boundary = boundary
        self.timeout = timeout
        self._shell = shell
        self._has_left = False
        self._heard = Heard()

    @property
    def directory(self) -> str | None:
        """Return the directory that it ended in; None if it did not report one."""
        return reported_directory(self.process.report)

    @property
    def variables(self) -> dict[str, str] | None:
        """Return what it exported as it ended; None if it did not report that."""
        return reported_variables(self.process.report)

    def take(self) -> str:
        """Return its output since the last look."""
        text = self.process.take()
        self._heard.add(text.encode(errors="replace"))
        return text

    def finish(self) -> tuple[str, Ended]:
        """Return the rest of its output, and how it ended.

        Raises:
            AgentOrientedException: It did not run.
        """
        text, process = self.take(), self.process
        covered = self.boundary.covered
        secrets = None if covered is None else covered.report()
        self._leave_boundary()
        if process.objection is not None:
            raise AgentOrientedException(f"bash could not be started: {process.objection}.")
        if not process.has_run:
            raise AgentOrientedException(_NOT_CONFINED.format(self._heard.text.strip()))
        status = None if process.was_ended else process.exit_status
        violation = None
        if self.boundary.profile is not None:
            heard = self._heard.text
            violation = find_violation(self.boundary.profile, status, heard, self.command)
        return text, Ended(
            status=status,
            timed_out=process.timed_out,
            left_background=process.left_background,
            violation=violation,
            kept_secret=tuple(self._shell.kept_secret(secrets)),
            covered=secrets.as_metadata() if secrets else None,
        )

    def end(self) -> None:
        """End it with everything that came of it, and wait until it has ended."""
        self.process.close()
        self._leave_boundary()

    def _leave_boundary(self) -> None:
        """Leave what it ran within, once."""
        if not self._has_left:
            self._has_left = True
            self.boundary.leave()


async def start_program(
    judge: TerminalJudge,
    call: TerminalCall,
    *,
    shell: Shell,
    carried: Mapping[str, str],
    guard: OrphanGuard,
) -> Program:
    """Start a decided command on a terminal of its own.

    Args:
        judge: Says what confines it.
        call: The command, as it was decided.
        shell: Where it starts.
        carried: The variables that earlier commands have set.
        guard: Ends it if this program is killed, where nothing else does.

    Raises:
        AgentOrientedException: It cannot be started.
    """
    timeout = call.action.timeout
    boundary = await judge.boundary(call)
    try:
        mark = uuid.uuid4().hex
        environment = await shell.environment(
            mark,
            extra_environment=boundary.extra,
            is_confined=boundary.profile is not None,
            carried=carried,
        )
        if not boundary.has_streams_of_bash:
            environment |= _TERMINAL
        process = await _in_thread(
            partial(_started, call, shell.directory, environment, mark, boundary, guard)
        )
    except BaseException as error:
        boundary.leave()
        if isinstance(error, IsolationError):
            raise AgentOrientedException(_NOT_CONFINED.format(error.message)) from None
        if isinstance(error, OSError):
            told = f"bash could not be started in {shell.directory}: {error}."
            raise AgentOrientedException(told) from None
        raise
    return Program(call, process, environment, boundary, shell, timeout)


async def _in_thread(start: Callable[[], PtyProcess]) -> PtyProcess:
    """Return what is started in a thread; if this is cancelled, it is ended."""
    starting = asyncio.create_task(asyncio.to_thread(start))
    try:
        return await asyncio.shield(starting)
    except asyncio.CancelledError:
        with contextlib.suppress(Exception):
            process = await starting
            await asyncio.to_thread(process.close)
        raise


def _started(
    call: TerminalCall,
    directory: str,
    environment: Mapping[str, str],
    mark: str,
    boundary: Boundary,
    guard: OrphanGuard,
) -> PtyProcess:
    place = open_directory(directory, call.place)
    try:
        held = held_path(place, directory)
        return _started_in(held, call, directory, environment, mark, boundary, guard)
    finally:
        os.close(place)


def _started_in(
    held: str,
    call: TerminalCall,
    directory: str,
    environment: Mapping[str, str],
    mark: str,
    boundary: Boundary,
    guard: OrphanGuard,
) -> PtyProcess:
    descriptors = Descriptors()
    profile = boundary.profile
    try:
        start = bash_start(
            call.read.command,
            bash=find_bash() or "",
            environment=environment,
            descriptors=descriptors,
            unseen=profile is not None and profile.processes,
            reports_variables=True,
        )
        confinement = None
        if profile is not None:
            shown = confined_environment(start.environment)
            confinement = confined_by(profile, directory, shown)
    except BaseException:
        descriptors.close_all()
        raise
    return PtyProcess(
        ProgramStart(
            words=start.words,
            directory=held,
            environment=start.environment,
            mark=mark,
            descriptors=start.inherited,
            report=start.report,
            confinement=confinement,
            piped=boundary.has_streams_of_bash,
        ),
        guard=guard,
        longest=call.action.timeout,
    )
