"""Runs the loop of an interactive session: reply, ask, continue."""

from __future__ import annotations

import asyncio
import os
import signal
import stat
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterator, Mapping
from contextlib import aclosing, contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from agentscope_like.agent import Agent, AgentInput
from agentscope_like.cli.ask import (
    SESSION_SOURCE,
    Ended,
    Interrupted,
    Question,
    Respondent,
    without_echo,
)
from agentscope_like.cli.errors import CliError, ExitCode
from agentscope_like.cli.program_tools import reading_of
from agentscope_like.cli.project import PROJECT_SOURCE, ProjectRules
from agentscope_like.cli.show import Renderer, Tally
from agentscope_like.event import (
    AgentEvent,
    ConfirmResult,
    ExternalExecutionResultEvent,
    ReplyEndEvent,
    UserConfirmResultEvent,
    UserInterruptEvent,
)
from agentscope_like.exception import AgentOrientedException
from agentscope_like.message import ApplyQuestion, Msg, ToolCallBlock, ToolCallState, UserMsg
from agentscope_like.permission.explain import Explanation, explain_call
from agentscope_like.progress import (
    ProgressQueue,
    register_progress_queue,
    unregister_progress_queue,
)
from agentscope_like.session import SessionStorage, recorded
from agentscope_like.tool import HoldingTool
from agentscope_like.tool.builtin.files import PreviewingTool
from agentscope_like.tool.call import as_decided, shown_arguments
from agentscope_like.types import ReplyFinishedReason

__all__ = ["Session"]

GRACE = 3.0
"""Seconds for a call to end after the person leaves."""

_END: Any = object()
_T = TypeVar("_T")

_ENDINGS = {signal.SIGTERM: ExitCode.TERMINATED, signal.SIGHUP: ExitCode.HUNG_UP}
"""Signals that end the program, and their exit codes."""

_CODES = {
    ReplyFinishedReason.COMPLETED: ExitCode.DONE,
    ReplyFinishedReason.INTERRUPTED: ExitCode.INTERRUPTED,
    ReplyFinishedReason.EXCEED_MAX_ITERS: ExitCode.FAILED,
    ReplyFinishedReason.ERROR: ExitCode.FAILED,
}


@dataclass(slots=True)
class Session:
    """An agent with its respondent, renderer and storage.

    Attributes:
        agent: The agent.
        storage: Stores each event before it is shown.
        respondent: Answers the agent's questions.
        renderer: Shows the events.
        directory: The project's directory.
        project: The rules remembered for it.
        tally: Counts what happens.
        code: What the program ends with: how the last reply ended.
        on_leaving: Called when it is time to leave, whatever still runs.
    """

    agent: Agent
    storage: SessionStorage
    respondent: Respondent
    renderer: Renderer
    directory: Path
    project: ProjectRules
    tally: Tally
    code: ExitCode = ExitCode.DONE
    on_leaving: Callable[[ExitCode], None] | None = None
    _step: asyncio.Task[Any] | None = None
    _is_interrupted: bool = False
    _is_undelivered: bool = False
    _leaving: asyncio.Event = field(default_factory=asyncio.Event)

    async def run(self, message: str | None) -> ExitCode:
        """Work on the message and then on the person's next ones, until the person ends.

        Args:
            message: The first message; None to continue a resumed session, or to ask for one.

        Returns:
            The exit code. Calls that wait when the person ends are not approved: a later session
            can continue with them.
        """
        self.renderer.recall(self.agent.state.get_unfinished_tool_calls(self.agent.name))
        with self._interruptible():
            try:
                if self._is_unfinished():
                    await self._reply(None)
                while message is not None or (
                    message := await self._unless_leaving(self.respondent.next_message())
                ):
                    await self._reply(UserMsg("user", message))
                    message = None
            except Ended:
                self.renderer.pause()
        return self.code

    def _is_unfinished(self) -> bool:
        state = self.agent.state
        message = state.reply_message(self.agent.name)
        return message is not None and message.finished_reason is None

    async def _reply(self, inputs: AgentInput) -> None:
        """Let the agent reply, and answer its questions, until the reply ends."""
        self._is_interrupted = self._is_undelivered = False
        while True:
            await self._stream(inputs)
            waiting = self.agent.state.get_awaiting_tool_calls(self.agent.name)
            if not waiting:
                return
            try:
                inputs = await self._answer(waiting[0])
            except Interrupted:
                inputs = UserInterruptEvent(reply_id=self.agent.state.reply_id)

    async def _stream(self, inputs: AgentInput) -> None:
        state = self.agent.state
        events = recorded(
            self.agent.reply_stream(inputs), state, self.storage, directory=str(self.directory)
        )
        progress = register_progress_queue()
        showing = asyncio.create_task(self._show_progress(progress))
        ticking = asyncio.create_task(self._tick())
        try:
            with without_echo():
                async with aclosing(events):
                    while (event := await self._next(events)) is not _END:
                        self._catch_up(progress)
                        self._take(event)
        except asyncio.CancelledError:
            # The interrupt came while an event was being stored, not while the agent worked.
            if not self._is_interrupted or self._leaving.is_set():
                raise
            self.renderer.note("interrupted")
            if state.get_unfinished_tool_calls(self.agent.name):
                await self._stream(UserInterruptEvent(reply_id=state.reply_id))
        finally:
            ticking.cancel()
            unregister_progress_queue(progress)
            await showing
            self.renderer.pause()

    async def _show_progress(self, progress: ProgressQueue) -> None:
        async for event in progress:
            self.renderer.show_progress(event)

    async def _tick(self) -> None:
        while True:
            await asyncio.sleep(1)
            self.renderer.tick()

    def _catch_up(self, progress: ProgressQueue) -> None:
        """Show the progress of a call before its end."""
        while (event := progress.get_nowait()) is not None:
            self.renderer.show_progress(event)

    async def _next(self, events: AsyncGenerator[AgentEvent | Msg, None]) -> AgentEvent | Msg:
        """Return the next event; Ctrl-C cancels this step, a second one leaves."""
        self._step = step = asyncio.create_task(_advance(events))
        if self._is_undelivered:
            self._is_undelivered = False
            await asyncio.sleep(0)
            step.cancel()
        try:
            return await self._unless_leaving(step)
        finally:
            self._step = None

    async def _unless_leaving(self, work: Coroutine[Any, Any, _T] | asyncio.Task[_T]) -> _T:
        """Return the result of the work; if the person leaves, cancel it and leave."""
        step = work if isinstance(work, asyncio.Task) else asyncio.create_task(work)
        leaving = asyncio.create_task(self._leaving.wait())
        await asyncio.wait({step, leaving}, return_when=asyncio.FIRST_COMPLETED)
        leaving.cancel()
        if self._leaving.is_set():
            step.cancel()
            await asyncio.wait({step}, timeout=GRACE)
            raise Ended
        return step.result()

    def _take(self, event: AgentEvent | Msg) -> None:
        if isinstance(event, Msg):
            return
        self.tally.take(event)
        self.renderer.show(event)
        if isinstance(event, ReplyEndEvent):
            self.code = _CODES[event.finished_reason]

    async def _answer(self, call: ToolCallBlock) -> AgentInput:
        reply_id = self.agent.state.reply_id
        if call.state is ToolCallState.SUBMITTED:
            result = await self._unless_leaving(self.respondent.perform(as_decided(call)))
            return ExternalExecutionResultEvent(reply_id=reply_id, execution_results=[result])
        question = await self._prepared(call)
        answer = await self._unless_leaving(self.respondent.confirm(question))
        if call.apply is not None:  # it has run: there is nothing to edit
            same = answer.model_copy(update={"tool_call": call})
            return UserConfirmResultEvent(reply_id=reply_id, confirm_results=[self._kept(same)])
        while answer.tool_call.input != call.input and not self._fits(answer.tool_call):
            answer = await self._unless_leaving(self.respondent.confirm(question))
        if answer.tool_call.input != call.input:
            self.renderer.recall([answer.tool_call])
        return UserConfirmResultEvent(reply_id=reply_id, confirm_results=[self._kept(answer)])

    def _fits(self, edited: ToolCallBlock) -> bool:
        """Return whether the edited arguments fit the tool; print why if they do not."""
        try:
            self.agent.toolkit.check_arguments(edited.name, edited.input)
        except AgentOrientedException as error:
            self.renderer.note(error.message, "error")
            return False
        return True

    async def _prepared(self, call: ToolCallBlock) -> Question:
        """Return the question; Ctrl-C while it is prepared interrupts, a second time leaves."""
        self._step = step = asyncio.create_task(self._question(call))
        try:
            return await self._unless_leaving(step)
        except asyncio.CancelledError:
            if not self._is_interrupted:
                raise
            raise Interrupted from None
        finally:
            self._step = None

    async def _question(self, call: ToolCallBlock) -> Question:
        explanation = await self._explained(call)
        diff: str | None
        if call.apply is not None:
            diff, failure = await self._difference(call.name, call.apply), None
        else:
            diff, failure = await self._previewed(call.name, explanation.tool_input)
        can_remember = self.project.is_out_of_reach
        return Question(call, explanation, diff, failure=failure, can_remember=can_remember)

    async def _difference(self, tool_name: str, question: ApplyQuestion) -> str:
        """Return the unified diff of what a held command changed."""
        tool = await self.agent.toolkit.get_tool(tool_name)
        if not isinstance(tool, HoldingTool):
            return ""
        return await tool.held_difference(question, self.agent.state)

    async def _previewed(
        self, tool_name: str, tool_input: Mapping[str, Any]
    ) -> tuple[str | None, str | None]:
        """Return what a call would change in its file, or why it can only fail."""
        tool = await self.agent.toolkit.get_tool(tool_name)
        if not isinstance(tool, PreviewingTool):
            return None, None
        try:
            return await tool.preview(tool_input, self.agent.state) or None, None
        except AgentOrientedException as error:
            return None, error.message

    async def _explained(self, call: ToolCallBlock) -> Explanation:
        tool = await self.agent.toolkit.get_tool(call.name)
        if tool is None or call.decision is None:
            raise CliError(f"the call {call.id!r} of {call.name} waits, but cannot be decided")
        tool_input = shown_arguments(call)
        return await explain_call(
            tool,
            tool_input,
            self.agent.state.permission_context,
            decision=call.decision,
            analysis=reading_of(tool, tool_input, self.agent.state),
            session=self.agent.state,
        )

    def _kept(self, answer: ConfirmResult) -> ConfirmResult:
        """Remember those rules of the answer that are for the project."""
        rules = []
        for rule in answer.rules or ():
            if rule.source == PROJECT_SOURCE:
                try:
                    self.project.add(rule)
                except CliError as error:
                    self.renderer.note(f"remembered for this session only: {error}", "error")
                    rule = rule.model_copy(update={"source": SESSION_SOURCE})  # noqa: PLW2901
            rules.append(rule)
        return answer.model_copy(update={"rules": rules or None})

    @contextmanager
    def _interruptible(self) -> Iterator[None]:
        loop = asyncio.get_running_loop()
        handlers: dict[signal.Signals, Any] = {signal.SIGINT: self.interrupt}
        for number, code in _ENDINGS.items():
            if signal.getsignal(number) is not signal.SIG_IGN:  # as under `nohup`
                handlers[number] = partial(self.leave, code)
        for number, handler in handlers.items():
            loop.add_signal_handler(number, handler)
        try:
            yield
        finally:
            for number in handlers:
                loop.remove_signal_handler(number)

    def interrupt(self) -> None:
        """Interrupt the reply; a second interrupt before it has ended leaves."""
        if self._is_interrupted:
            self.leave(ExitCode.INTERRUPTED)
            return
        self._is_interrupted = True
        self._is_undelivered = self._step is None or not self._step.cancel()

    def leave(self, code: ExitCode) -> None:
        """End running calls and leave; waiting calls are kept for a later session.

        Args:
            code: The exit code; HUNG_UP if the terminal is gone.
        """
        if code is ExitCode.HUNG_UP:
            _print_nowhere()
        self.code = code
        if self.on_leaving is not None and not self._leaving.is_set():
            self.on_leaving(code)
        self._leaving.set()


def _print_nowhere() -> None:
    """Discard all further output, since the terminal is gone."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for descriptor in (1, 2):
        if stat.S_ISCHR(os.fstat(descriptor).st_mode):  # no longer one that `isatty` knows
            os.dup2(nowhere, descriptor)
    os.close(nowhere)


async def _advance(events: AsyncGenerator[AgentEvent | Msg, None]) -> AgentEvent | Msg:
    return await anext(events, _END)
