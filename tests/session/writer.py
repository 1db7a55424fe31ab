"""A process that keeps events until it is killed: `python -m tests.session.writer FILE`."""

from __future__ import annotations

import asyncio
import sys

from agentscope_like.event import (
    ReplyStartEvent,
    TextBlockDeltaEvent,
    TextBlockStartEvent,
    ToolCallDeltaEvent,
    ToolCallEndEvent,
    ToolCallStartEvent,
    ToolResultStartEvent,
    ToolResultTextDeltaEvent,
)
from agentscope_like.message import UserMsg
from agentscope_like.session import SQLiteSessionStorage
from agentscope_like.state import AgentState

__all__ = ["main"]


async def main(path: str) -> None:
    """Say each piece of the running call's output only once it is kept."""
    reply = "r"
    storage = SQLiteSessionStorage(path)
    await storage.save(AgentState(session_id="s", context=[UserMsg("u", "count for me")]))
    for event in (
        ReplyStartEvent(session_id="s", reply_id=reply, name="agent"),
        TextBlockStartEvent(reply_id=reply, block_id="t"),
        TextBlockDeltaEvent(reply_id=reply, block_id="t", delta="Counting."),
        ToolCallStartEvent(reply_id=reply, tool_call_id="c", tool_call_name="Bash"),
        ToolCallDeltaEvent(reply_id=reply, tool_call_id="c", delta='{"command": "seq inf"}'),
        ToolCallEndEvent(reply_id=reply, tool_call_id="c"),
        ToolResultStartEvent(reply_id=reply, tool_call_id="c", tool_call_name="Bash"),
    ):
        await storage.append("s", event)
    number = 0
    while True:
        number += 1
        text = f"{number}\n"
        await storage.append(
            "s", ToolResultTextDeltaEvent(reply_id=reply, tool_call_id="c", delta=text)
        )
        sys.stdout.write(text)
        sys.stdout.flush()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
