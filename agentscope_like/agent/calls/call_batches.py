"""Decides the calls of one response and runs them in batches."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import aclosing
from itertools import groupby

from agentscope_like.agent.calls.call_runner import CallRunner
from agentscope_like.agent.reply import ReplyRecorder
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
from agentscope_like.tool import DecidedCall, DecisionLayer, Grant, Toolkit
from agentscope_like.tool.call import as_decided, says_something

__all__ = ["Acting"]

_QUEUED = 64
_Item = tuple[ToolCallBlock, ToolChunk | ToolResponse]


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
        """Decide and run pending calls, batch by batch, until one waits for an answer.

        Adjacent calls that are safe to run concurrently form one batch; other calls run one by one.
        If a call in a batch waits, the calls after the batch stay pending.
        """
        for batch in self._batches(calls):
            decided = [await self.decide(call) for call in batch]
            async with aclosing(self.finish(decided)) as events:
                async for event in events:
                    yield event
            if self._state.has_awaiting_tool_calls(self._recorder.name):
                return

    async def act_on_answers(
        self, answered: Sequence[tuple[ToolCallBlock, ConfirmResult]]
    ) -> AsyncGenerator[AgentEvent, None]:
        """Apply a person's answers, batch by batch, and run the calls they granted."""
        answers = {call.id: answer for call, answer in answered}
        for batch in self._batches([call for call, _ in answered]):
            decided = [
                await self._toolkit.confirm(
                    call, answers[call.id], self._state, layers=self._layers
                )
                for call in batch
            ]
            async with aclosing(self.finish(decided)) as events:
                async for event in events:
                    yield event

    async def decide(self, call: ToolCallBlock) -> DecidedCall:
        """Decide a call under the current rules without running it."""
        return await self._toolkit.decide(call, self._state, layers=self._layers)

    def _batches(self, calls: Sequence[ToolCallBlock]) -> Iterator[list[ToolCallBlock]]:
        def is_safe(call: ToolCallBlock) -> bool:
            return self._toolkit.is_concurrency_safe(call.name)

        for together, group in groupby(calls, key=is_safe):
            batch = list(group)
            if together:
                yield batch
            else:
                yield from ([call] for call in batch)

    async def finish(self, decided: Sequence[DecidedCall]) -> AsyncGenerator[AgentEvent, None]:
        """Report refusals, ask the open questions, and run the granted calls concurrently.

        Every result is begun before the first call runs, so that stored events tell which calls
        were running if the process dies.
        """
        granted: list[tuple[ToolCallBlock, Grant]] = []
        for one in decided:
            if one.refusal is not None:
                for event in self._refusal(one.call, one.refusal):
                    yield event
            elif one.grant is not None:
                granted.append((one.call, one.grant))
                for event in self._recorder.begin_result(one.call):
                    yield event
                for event in self._recorder.add_output(one.call.id, one.note or ""):
                    yield event
            else:
                for event in self.waiting([one.call], note=one.note or ""):
                    yield event
        async with aclosing(self._run(granted)) as items:
            async for call, item in items:
                for event in self._result(call, item):
                    yield event

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
        yield from self._recorder.begin_result(call)
        yield from self._recorder.add_output(call.id, refusal.content)
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
        yield self._recorder.end_result(call.id, item.state, item.metadata)

    async def _run(
        self, granted: Sequence[tuple[ToolCallBlock, Grant]]
    ) -> AsyncGenerator[_Item, None]:
        if len(granted) == 1:
            call, grant = granted[0]
            async with aclosing(self._runner.run(call, grant)) as items:
                async for item in items:
                    yield call, item
            return
        async with aclosing(self._side_by_side(granted)) as items:
            async for pair in items:
                yield pair

    async def _side_by_side(
        self, granted: Sequence[tuple[ToolCallBlock, Grant]]
    ) -> AsyncGenerator[_Item, None]:
        queue: asyncio.Queue[_Item | None] = asyncio.Queue()
        room = asyncio.Semaphore(_QUEUED)

        async def pump(call: ToolCallBlock, grant: Grant) -> None:
            try:
                async with aclosing(self._runner.run(call, grant)) as items:
                    async for item in items:
                        await room.acquire()
                        queue.put_nowait((call, item))
            except GeneratorExit as error:
                # Raised out of a task it would tear the generators of whoever awaits the task.
                raise RuntimeError(f"{call.name} raised GeneratorExit") from error

        tasks = [asyncio.create_task(pump(call, grant)) for call, grant in granted]
        for task in tasks:
            task.add_done_callback(lambda _: queue.put_nowait(None))
        try:
            running = len(tasks)
            while running:
                item = await queue.get()
                if item is None:
                    running -= 1
                else:
                    room.release()
                    yield item
            await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
