"""Records the course of a run in its journal: model responses, results, waits and the end."""

from __future__ import annotations

from typing import Any

from agentscope_like.agent import Agent
from agentscope_like.event import (
    AgentEvent,
    ModelCallEndEvent,
    ModelCallStartEvent,
    TextBlockDeltaEvent,
    ThinkingBlockDeltaEvent,
    ToolCallDeltaEvent,
    ToolCallStartEvent,
    ToolResultEndEvent,
)
from agentscope_like.journal import Journal
from agentscope_like.message import Msg, TextBlock, ToolCallBlock, ToolResultBlock
from agentscope_like.runs.call_records import CallRecords
from agentscope_like.runs.outcome import RunError, RunState

__all__ = ["RunRecord"]


class RunRecord:
    """The journal of one run, apart from its calls that run.

    Args:
        journal: The journal; None to record nothing.
        calls: Records the calls; None with no journal.
        agent: The agent.
    """

    def __init__(self, journal: Journal | None, calls: CallRecords | None, agent: Agent) -> None:
        self._journal = journal
        self._calls = calls
        self._agent = agent
        self._response: dict[str, Any] = {}

    async def begun(self, run_id: str, profile_id: str) -> None:
        """Record the beginning, or that the run goes on in another process."""
        await self._write("run_started", run_id=run_id, profile=profile_id)

    async def waits(self) -> None:
        """Record that the run waits, with the calls that it waits for."""
        awaiting = self._agent.state.get_awaiting_tool_calls(self._agent.name)
        await self._write("run_waiting", call_ids=[call.id for call in awaiting])

    async def ended(self, state: RunState, error: RunError | None) -> None:
        """Record the end."""
        told = None if error is None else {"code": error.code, "message": error.message}
        await self._write("run_ended", state=state.value, error=told)

    async def heard(self, event: AgentEvent | Msg) -> None:
        """Record what an event of the agent tells."""
        match event:
            case ModelCallStartEvent():
                self._response = {
                    "model": event.model_name,
                    "text": "",
                    "thinking": "",
                    "calls": {},
                }
            case TextBlockDeltaEvent() if self._response:
                self._response["text"] += event.delta
            case ThinkingBlockDeltaEvent() if self._response:
                self._response["thinking"] += event.delta
            case ToolCallStartEvent() if self._response:
                call = {"id": event.tool_call_id, "tool": event.tool_call_name, "input": ""}
                self._response["calls"][event.tool_call_id] = call
            case ToolCallDeltaEvent() if event.tool_call_id in self._response.get("calls", ()):
                self._response["calls"][event.tool_call_id]["input"] += event.delta
            case ModelCallEndEvent():
                calls = list(self._response.get("calls", {}).values())
                await self._write("model_response", response={**self._response, "calls": calls})
                self._response = {}
            case ToolResultEndEvent() if self._calls is not None:
                call_block, text = self._result(event.tool_call_id)
                if call_block is not None:
                    await self._calls.ended(event, call_block, text)
            case _:
                pass

    def _result(self, call_id: str) -> tuple[ToolCallBlock | None, str]:
        """Return a call of the reply, and the text of its result."""
        message = self._agent.state.reply_message(self._agent.name)
        call: ToolCallBlock | None = None
        text = ""
        for block in () if message is None else message.content:
            if isinstance(block, ToolCallBlock) and block.id == call_id:
                call = block
            elif isinstance(block, ToolResultBlock) and block.id == call_id:
                text = _text(block)
        return call, text

    async def _write(self, type: str, /, **data: Any) -> None:  # noqa: A002 - as the journal has it
        if self._journal is not None:
            await self._journal.record(type, **data)


def _text(result: ToolResultBlock) -> str:
    if isinstance(result.output, str):
        return result.output
    return "".join(block.text for block in result.output if isinstance(block, TextBlock))
