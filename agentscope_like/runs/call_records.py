"""Records the calls of a run in its journal, each before it has any effect."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from typing import Any

from agentscope_like.event import ToolResultEndEvent
from agentscope_like.journal import CallOutcome, Journal, RecordedRun
from agentscope_like.message import (
    DataBlock,
    TextBlock,
    ToolCallBlock,
    ToolChunk,
    ToolResponse,
    ToolResultState,
)
from agentscope_like.permission import PermissionDecision
from agentscope_like.state import AgentState
from agentscope_like.tool import CallRequest, Grant

__all__ = ["CallRecords"]

Items = AsyncGenerator[ToolChunk | ToolResponse, None]


class CallRecords:
    """The calls of one run, in its journal.

    A call is recorded as it is decided, as it begins to run, and as it ends. The journal says how
    each call is to be called: its own number, because providers repeat the ids of calls.

    Args:
        journal: The journal.
    """

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._open: dict[str, int] = {}
        self._ran: set[str] = set()

    async def resume(self) -> None:
        """Take up the calls that were requested before the process was started anew."""
        if self._journal.count:
            recorded = await asyncio.to_thread(RecordedRun.read, self._journal.directory)
            self._open = {
                call.call_id: call.n
                for call in recorded.calls
                if call.outcome is CallOutcome.NOT_DONE and call.result is None
            }

    async def decided(
        self, request: CallRequest, go_on: Callable[[CallRequest], Awaitable[PermissionDecision]]
    ) -> PermissionDecision:
        """Record a call and its decision; a layer of decisions."""
        call = request.call
        if call.id in self._ran:  # a middleware of the tool changed its arguments
            return await go_on(request)
        if call.id not in self._open:
            self._open[call.id] = await self._requested(
                call.id, request.tool.name, request.arguments
            )
        decision = await go_on(request)
        await self._journal.record(
            "call_decided",
            call=self._open[call.id],
            behavior=decision.behavior.value,
            message=decision.message,
        )
        return decision

    async def run(self, grant: Grant, state: AgentState, run: Items) -> Items:
        """Record the beginning and the end of a run; a layer of runs."""
        del state
        call = self._open.pop(grant.call_id, None)
        if call is None:  # a layer of the agent runs it once more
            call = await self._requested(grant.call_id, grant.tool.name, grant.arguments)
        self._ran.add(grant.call_id)
        await self._journal.record("call_started", call=call, arguments=grant.arguments)
        async with aclosing(run) as items:
            async for item in items:
                if isinstance(item, ToolResponse):
                    await self._journal.record("call_ended", call=call, result=_told(item))
                yield item

    async def _requested(self, call_id: str, tool: str, arguments: dict[str, Any]) -> int:
        return await self._journal.record(
            "call_requested", call_id=call_id, tool=tool, arguments=arguments
        )

    async def ended(self, event: ToolResultEndEvent, call: ToolCallBlock, text: str) -> None:
        """Record the result of a call that ran elsewhere, or did not run."""
        if event.tool_call_id in self._ran:
            self._ran.discard(event.tool_call_id)
            return
        result = {"state": event.state.value, "text": text, "metadata": event.metadata}
        number = self._open.pop(event.tool_call_id, None)
        facts: dict[str, Any] = {"call_id": call.id, "tool": call.name, "result": result}
        if number is None:
            await self._journal.record("call_refused", arguments=call.input, **facts)
        elif event.state is ToolResultState.SUCCESS:
            await self._journal.record("call_ended", call=number, **facts)
        else:
            await self._journal.record("call_refused", call=number, **facts)


def _told(response: ToolResponse) -> dict[str, Any]:
    texts = [block.text for block in response.content if isinstance(block, TextBlock)]
    data = [block.source.media_type for block in response.content if isinstance(block, DataBlock)]
    told = {"state": response.state.value, "text": "".join(texts), "metadata": response.metadata}
    return {**told, "data": data} if data else told
