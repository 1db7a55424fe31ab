"""Answers the calls of `agent.await` of a reply that waits for its child tasks."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping
from typing import Any

from agentscope_like.delegation import AWAIT, Awaited
from agentscope_like.event import ExternalExecutionResultEvent
from agentscope_like.exception import AgentOrientedException
from agentscope_like.message import (
    ToolCallBlock,
    ToolCallState,
    ToolResultBlock,
    ToolResultState,
)
from agentscope_like.profile import Account
from agentscope_like.state import AgentState
from agentscope_like.tool import shown_name
from agentscope_like.tool.call import shown_arguments

__all__ = ["AwaitedCalls", "is_await"]


def is_await(call: ToolCallBlock) -> bool:
    """Return whether this is a call of `agent.await`, by either of its names."""
    return call.name in (AWAIT, shown_name(AWAIT))


class AwaitedCalls:
    """The calls of `agent.await` that an agent waits for, in one stream.

    Args:
        name: The agent's name.
        state: Its state.
        account: Each answer is a call that is taken from it; None for no limit.
    """

    def __init__(self, name: str, state: AgentState, account: Account | None) -> None:
        self._name = name
        self._state = state
        self._account = account
        self._deadlines: dict[str, float] = {}

    def _open(self) -> Iterator[ToolCallBlock]:
        for call in self._state.get_awaiting_tool_calls(self._name):
            if call.state is ToolCallState.SUBMITTED and is_await(call):
                yield call

    def seconds_left(self) -> float | None:
        """Return how long to wait at most; None if no call waits."""
        waiting = {call.id for call in self._open()}
        deadlines = [end for call_id, end in self._deadlines.items() if call_id in waiting]
        return max(0.0, min(deadlines) - _now()) if deadlines else None

    def answers(self) -> ExternalExecutionResultEvent | None:
        """Return the results of the calls that need wait no longer, or None."""
        results = [result for call in self._open() if (result := self._result(call)) is not None]
        if not results:
            return None
        return ExternalExecutionResultEvent(
            reply_id=self._state.reply_id, execution_results=results
        )

    def _result(self, call: ToolCallBlock) -> ToolResultBlock | None:
        try:
            awaited = Awaited.of(shown_arguments(call), self._state)
            deadline = self._deadlines.setdefault(call.id, _now() + awaited.timeout)
            if not awaited.is_met and _now() < deadline:
                return None
            note = self._account.take_call(AWAIT) if self._account is not None else ""
        except AgentOrientedException as error:
            return _result(call, error.told, ToolResultState.ERROR, error.metadata)
        report = awaited.report()
        text = "\n".join(filter(None, (json.dumps(report, ensure_ascii=False), note)))
        return _result(call, text, ToolResultState.SUCCESS, report)


def _result(
    call: ToolCallBlock, text: str, state: ToolResultState, metadata: Mapping[str, Any]
) -> ToolResultBlock:
    return ToolResultBlock(
        id=call.id, name=call.name, output=text, state=state, metadata=dict(metadata)
    )


def _now() -> float:
    return asyncio.get_running_loop().time()
