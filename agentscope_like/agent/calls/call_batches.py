"""Decides the calls of one response, and runs them at the same time where they do not conflict."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Sequence
from contextlib import aclosing

from agentscope_like.agent.calls.call_plan import CallPlan
from agentscope_like.agent.calls.call_runner import CallRunner
from agentscope_like.agent.calls.running_calls import RunningCalls
from agentscope_like.agent.reply_recorder import ReplyRecorder
from agentscope_like.event import (
    AgentEvent,
    ConfirmResult,
    RequireExternalExecutionEvent,
    RequireUserConfirmEvent,
)
from agentscope_like.message import (
    ToolCallBlock,
    ToolCallState,
    ToolChunk,
    ToolResponse,
)
from agentscope_like.tool import DecidedCall, DecisionLayer, Toolkit
from agentscope_like.tool.call import as_decided, park, says_something

__all__ = ["Acting"]


class Acting:
    """Takes the calls of a reply from pending until they have results or wait for answers.

    Args:
        toolkit: Decides and runs the calls.
        recorder: The reply.
        runner: Runs granted calls.
        layers: Decision layers around the toolkit's own.
    """

    def __init__(
        self,
        toolkit: Toolkit,
        recorder: ReplyRecorder,
        runner: CallRunner,
        layers: Sequence[DecisionLayer] = (),
    ) -> None:
        self._toolkit = toolkit
        self._recorder = recorder
        self._runner = runner
        self._layers = layers
        self._state = recorder.state
        self._told: set[str] = set()

    async def act(self, calls: Sequence[ToolCallBlock]) -> AsyncGenerator[AgentEvent, None]:
        """Decide and run pending calls; those that do not conflict run at the same time.

        Each call is decided when the calls before it that it must follow have ended. If one waits
        for an answer, the calls that must follow it stay pending.
        """
        plan = CallPlan(self._toolkit, calls)

        async def ready() -> list[DecidedCall]:
            decided = []
            while (call := plan.next()) is not None:
                decided.append(await self.decide(call))
                if decided[-1].grant is None and decided[-1].refusal is None:
                    plan.wait(call)
            return decided

        async with aclosing(self._follow(plan, ready)) as events:
            async for event in events:
                yield event

    async def act_on_answers(
        self, answered: Sequence[tuple[ToolCallBlock, ConfirmResult]]
    ) -> AsyncGenerator[AgentEvent, None]:
        """Apply a person's answers, in the same order as `act`, and run the calls they granted."""
        answers = {call.id: answer for call, answer in answered}

        plan = CallPlan(self._toolkit, [call for call, _ in answered])

        async def ready() -> list[DecidedCall]:
            decided = []
            while (call := plan.next()) is not None:
                decided.append(
                    await self._toolkit.confirm(
                        call, answers[call.id], self._state, layers=self._layers
                    )
                )
                if decided[-1].grant is None:  # asked anew; the other answers hold all the same
                    plan.end(call)
            return decided

        async with aclosing(self._follow(plan, ready)) as events:
            async for event in events:
                yield event

    async def decide(self, call: ToolCallBlock) -> DecidedCall:
        """Decide a call under the current rules without running it."""
        return await self._toolkit.decide(call, self._state, layers=self._layers)

    async def finish(self, decided: Sequence[DecidedCall]) -> AsyncGenerator[AgentEvent, None]:
        """Report refusals, ask the open questions, and run the granted calls at the same time."""
        left = [list(decided)]

        async def ready() -> list[DecidedCall]:
            return left.pop() if left else []

        async with aclosing(self._follow(CallPlan(self._toolkit, ()), ready)) as events:
            async for event in events:
                yield event

    async def _follow(
        self, plan: CallPlan, ready: Callable[[], Awaitable[list[DecidedCall]]]
    ) -> AsyncGenerator[AgentEvent, None]:
        """Take calls until none is ready and none runs.

        The results of calls that are ready together are begun before the first of them runs, so
        that stored events tell which calls were running if the process dies.

        Args:
            plan: Is told which calls have ended.
            ready: Decides the calls that can begin now.
        """
        running = RunningCalls(self._runner)
        try:
            while (decided := await ready()) or running.count:
                for event in self._begun(decided):
                    yield event
                for one in decided:
                    if one.refusal is not None:
                        plan.end(one.call)
                granted = [(one.call, one.grant) for one in decided if one.grant is not None]
                if len(granted) == 1 and not running.count:
                    call, grant = granted[0]
                    async with aclosing(self._runner.run(call, grant)) as items:
                        async for item in items:
                            for event in self._result(call, item):
                                yield event
                    _note_end(plan, call)
                    continue
                for call, grant in granted:
                    running.start(call, grant)
                async with aclosing(running.until_one_ends()) as pairs:
                    async for call, item in pairs:
                        for event in self._result(call, item):
                            yield event
                for call in running.ended():
                    _note_end(plan, call)
        finally:
            await running.stop()

    def _begun(self, decided: Sequence[DecidedCall]) -> Iterator[AgentEvent]:
        """Report refusals, ask the open questions, and begin the results of granted calls."""
        for one in decided:
            if one.refusal is not None:
                yield from self._refusal(one.call, one.refusal)
            elif one.grant is not None:
                yield from self._recorder.begin_result(one.call)
                yield from self._recorder.add_output(one.call.id, one.note or "")
            else:
                yield from self.waiting([one.call], note=one.note or "")

    def waiting(self, calls: Sequence[ToolCallBlock], *, note: str = "") -> Iterator[AgentEvent]:
        """Yield an event that asks for what each of these calls waits for.

        Args:
            calls: The waiting calls.
            note: A note to the model, put before the results of calls that run elsewhere.
        """
        reply_id = self._recorder.reply_id
        for call in calls:
            if call.state is ToolCallState.ASKING:
                copies = [as_decided(call)]
                yield self._recorder.take(
                    RequireUserConfirmEvent(reply_id=reply_id, tool_calls=copies)
                )
            elif call.state is ToolCallState.SUBMITTED:
                yield from self._recorder.begin_result(call)
                yield from self._recorder.add_output(call.id, note)
                call.state = ToolCallState.SUBMITTED
                copies = [as_decided(call)]
                yield self._recorder.take(
                    RequireExternalExecutionEvent(reply_id=reply_id, tool_calls=copies)
                )

    def _refusal(self, call: ToolCallBlock, refusal: ToolResponse) -> Iterator[AgentEvent]:
        is_told = call.apply is not None  # its output was told as it ran
        yield from self._recorder.begin_result(call)
        yield from self._recorder.add_output(call.id, refusal.content[-1 if is_told else 0 :])
        yield self._recorder.end_result(call.id, refusal.state, refusal.metadata)

    def _result(self, call: ToolCallBlock, item: ToolChunk | ToolResponse) -> Iterator[AgentEvent]:
        if isinstance(item, ToolChunk):
            if says_something(item.content):
                self._told.add(call.id)
            yield from self._recorder.add_output(call.id, item.content)
            return
        if call.id not in self._told:
            yield from self._recorder.add_output(call.id, item.content)
        self._told.discard(call.id)
        if item.question is not None:
            park(call, item.question)
            yield from self.waiting([call])
            return
        yield self._recorder.end_result(call.id, item.state, item.metadata)


def _note_end(plan: CallPlan, call: ToolCallBlock) -> None:
    """Note that a call has ended, or waits for an answer about what it changed."""
    if call.state is ToolCallState.ASKING:
        plan.wait(call)
    else:
        plan.end(call)
