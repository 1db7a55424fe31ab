"""Runs what a terminal is told to, in one terminal for each session."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from typing_extensions import override

from agentscope_like.exception import AgentOrientedException
from agentscope_like.permission import PermissionContext
from agentscope_like.sandbox.host import OrphanGuard
from agentscope_like.tool.builtin.bash.host_shell import still_there
from agentscope_like.tool.builtin.bash.shell_result import refuse_unsendable
from agentscope_like.typed.executor import ToolConversation, ToolExecutor
from agentscope_like.typed.tools.terminal.action import TerminalAction
from agentscope_like.typed.tools.terminal.calls import TerminalCall
from agentscope_like.typed.tools.terminal.carried import carried_over
from agentscope_like.typed.tools.terminal.definition import TerminalConversation
from agentscope_like.typed.tools.terminal.observation import TerminalObservation
from agentscope_like.typed.tools.terminal.program import Program, start_program
from agentscope_like.typed.tools.terminal.telling import ended_observation, running_observation

if TYPE_CHECKING:
    from agentscope_like.state import AgentState
    from agentscope_like.typed.tools.terminal.definition import TerminalTool
    from agentscope_like.typed.tools.terminal.judge import TerminalJudge

__all__ = ["TerminalExecutor", "TerminalSession"]

QUIET_SECONDS = 10.0
"""Without new output for so long, a call returns while its program goes on."""

ANSWER_SECONDS = 2.0
"""The same after something was typed."""

PROMPTED_SECONDS = 1.0
"""The same behind a line that has not ended, as a question of the program."""

LONGEST_SECONDS = 120.0
"""A call returns after so long in any case."""

_ENDING_SECONDS = 5.0

NOTHING_RUNS = "No program is running in the terminal."
_NOT_TYPED = f"{NOTHING_RUNS} Nothing was typed: send a command without `is_input`."
_STILL_RUNS = (
    "`{}` is still running, so this was not run. Send an empty command to see what it shows, text "
    "with `is_input` to answer it, `C-c` to interrupt it, or `reset` to end it."
)


class TerminalSession:
    """The terminal of one session: its variables, and the program that runs.

    Args:
        judge: Knows where the next command starts.
        state: The state of the session; None outside of one.
        guard: Ends programs if this one is killed, where nothing else does.
    """

    def __init__(self, judge: TerminalJudge, state: AgentState | None, guard: OrphanGuard) -> None:
        self._judge = judge
        self._guard = guard
        self.state = state
        self._running: Program | None = None
        self._is_settled = True
        self._variables: dict[str, str] = {}
        self._refused: tuple[str, ...] = ()
        self._runs = 0
        self._is_busy = False

    # What decisions rest on

    @property
    def program(self) -> str:
        """Return the command that runs; empty if none does."""
        return "" if self._running is None else self._running.command

    @property
    def is_running(self) -> bool:
        """Return whether a program runs."""
        return self._running is not None and not self._running.process.is_over

    def program_state(self) -> str:
        """Return which program runs."""
        return f"run {self._runs}" if self.is_running else "none"

    def variables_state(self) -> str:
        """Return a digest of the variables that the next command gets."""
        text = json.dumps(sorted(self._variables.items()))
        return hashlib.sha256(text.encode(errors="surrogateescape")).hexdigest()

    def objection(self, action: TerminalAction) -> str | None:
        """Return why an action can only fail now, or None."""
        if action.reset or action.is_key:
            return None
        if action.is_input:
            return None if self.is_running else _NOT_TYPED
        return _STILL_RUNS.format(self.program) if self.is_running else None

    def settle(self) -> None:
        """Take over the directory and variables of a program that has ended."""
        program = self._running
        if program is None or self._is_settled or not program.process.is_over:
            return
        self._is_settled = True
        before = self._judge.shell(self.state).directory
        self._judge.move(self.state, still_there(program.directory, before))
        reported = program.variables
        if reported is not None:
            carried = carried_over(self._variables, program.environment, reported)
            self._variables, self._refused = carried.variables, carried.refused

    # What is done

    async def act(
        self, action: TerminalAction, call: TerminalCall | None, quiet: float
    ) -> TerminalObservation:
        """Do what the action says.

        Raises:
            AgentOrientedException: It cannot be done; the message says why.
        """
        with self._claimed():
            try:
                return await self._act(action, call, quiet)
            except asyncio.CancelledError:
                await asyncio.to_thread(self.end)
                raise

    async def _act(
        self, action: TerminalAction, call: TerminalCall | None, quiet: float
    ) -> TerminalObservation:
        if action.reset:
            return await self._start_over()
        if objection := self.objection(action):
            raise AgentOrientedException(objection)
        if action.is_key or action.is_input:
            return await self._type(action, quiet)
        if call is None:
            raise AgentOrientedException("The command was not read: call again.")
        rest = self._told_before()
        program = await self._begin(call)
        timeout = action.timeout
        longest = LONGEST_SECONDS if timeout is None else timeout + _ENDING_SECONDS
        await program.process.wait(
            quiet=quiet if timeout is None else None, longest=longest, prompted=PROMPTED_SECONDS
        )
        return self._look(before=rest)

    async def _begin(self, call: TerminalCall) -> Program:
        self._runs += 1
        self._refused = ()
        shell = self._judge.shell(self.state)
        if problem := shell.start_objection():
            self._judge.move(self.state, shell.directory)
            raise AgentOrientedException(problem)
        program = await start_program(
            self._judge, call, shell=shell, carried=self._variables, guard=self._guard
        )
        self._running, self._is_settled = program, False
        return program

    async def _type(self, action: TerminalAction, quiet: float) -> TerminalObservation:
        program = self._running
        if program is None:
            return self._nothing()
        if action.keys:
            if not await asyncio.to_thread(program.process.type, action.keys):
                told = f"`{program.command}` does not read what is typed"
                if self.is_running:
                    raise AgentOrientedException(f"{told}: not all of it was.")
            quiet = min(quiet, ANSWER_SECONDS)
        timeout = action.timeout
        await program.process.wait(
            quiet=quiet if timeout is None else None,
            longest=timeout or LONGEST_SECONDS,
            prompted=PROMPTED_SECONDS,
        )
        return self._look()

    def _look(self, before: str = "") -> TerminalObservation:
        """Return what there is to see."""
        program = self._running
        if program is None:
            return self._nothing()
        directory = self._judge.shell(self.state).directory
        if not program.process.is_over:
            return running_observation(program, before, program.take(), directory)
        self.settle()
        directory = self._judge.shell(self.state).directory
        self._running = None
        text, ended = program.finish()
        return ended_observation(program, ended, before, text, directory, self._refused)

    def _told_before(self) -> str:
        """Return what a program that has ended meanwhile has still to tell."""
        if self._running is None:
            return ""
        program = self.program
        try:
            told = (self._look()).text
        except AgentOrientedException as error:
            told = error.message
        return f"[`{program}` has ended meanwhile:]\n{told}\n\n"

    async def _start_over(self) -> TerminalObservation:
        program, self._running = self._running, None
        if program is not None:
            await asyncio.to_thread(program.end)
        self._variables, self._refused = {}, ()
        self._judge.start_over(self.state)
        directory = self._judge.shell(self.state).directory
        ended = "" if program is None else f"`{program.command}` was ended. "
        return TerminalObservation.from_text(f"{ended}The terminal starts anew in {directory}.")

    def _nothing(self) -> TerminalObservation:
        return TerminalObservation.from_text(NOTHING_RUNS)

    def end(self) -> None:
        """End what runs, with everything that came of it."""
        if self._running is not None:
            self._running.end()

    def wake(self) -> None:
        """Have a call that waits return."""
        if self._running is not None:
            self._running.process.wake()

    @contextmanager
    def _claimed(self) -> Iterator[None]:
        if self._is_busy:
            raise AgentOrientedException(
                "Another call of this terminal is under way: wait for its result, then call again."
            )
        self._is_busy = True
        try:
            yield
        finally:
            self._is_busy = False


class TerminalExecutor(ToolExecutor[TerminalAction, TerminalObservation]):
    """Runs the actions of a terminal.

    Args:
        tool: The terminal.
        quiet_seconds: Seconds without output after which a call returns; by default 10.
    """

    def __init__(self, tool: TerminalTool, *, quiet_seconds: float | None = None) -> None:
        self._tool = tool
        self._quiet = QUIET_SECONDS if quiet_seconds is None else quiet_seconds
        self._sessions: dict[str, TerminalSession] = {}
        self._guard = OrphanGuard()

    def terminal(self, state: AgentState | None) -> TerminalSession:
        """Return the terminal of a session; made when it is first asked for."""
        key = "" if state is None else state.session_id
        session = self._sessions.get(key)
        if session is None:
            session = TerminalSession(self._tool.judge, state, self._guard)
            self._sessions[key] = session
        elif state is not None:
            session.state = state  # it may have been loaded anew
        return session

    async def __call__(  # type: ignore[override]
        self, action: TerminalAction, conversation: ToolConversation | None = None
    ) -> TerminalObservation:
        """Do what the action says; outside of a session, in a terminal of the executor's own."""
        state = None if conversation is None else conversation.state
        call = conversation.command if isinstance(conversation, TerminalConversation) else None
        session = self.terminal(state)
        if call is None and not action.is_key:
            refuse_unsendable(action.command)
            context = PermissionContext() if state is None else state.permission_context
            arguments = action.model_dump(exclude={"kind"}, exclude_defaults=True)
            arguments.pop("kind", None)
            prepared = await self._tool.prepare_call(arguments, context, state)
            call = prepared if isinstance(prepared, TerminalCall) else None
        return await session.act(action, call, self._quiet)

    @override
    def interrupt(self) -> None:
        """Have the calls that wait return what there is."""
        for session in tuple(self._sessions.values()):
            session.wake()

    @override
    def close(self) -> None:
        """End every program, with everything that came of it."""
        for session in tuple(self._sessions.values()):
            session.end()
        self._sessions.clear()
