"""What the tests of progress share: a clock to set, tools that show something, short forms."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from typing import Any

from agentscope_like.message import TextBlock, ToolCallBlock, ToolChunk, ToolResponse
from agentscope_like.permission import PermissionBehavior, PermissionDecision
from agentscope_like.progress import (
    ProgressQueue,
    ProgressSettings,
    ToolProgressEvent,
    register_progress_queue,
    unregister_progress_queue,
)
from agentscope_like.state import AgentState
from agentscope_like.tool import FunctionTool, ToolBase, Toolkit

__all__ = [
    "DEFAULTS",
    "Clock",
    "call_of",
    "drained",
    "run_watched",
    "shorts",
    "text_of",
    "tool_of",
]

DEFAULTS = ProgressSettings()


class Clock:
    """Time that stands still unless a test moves it."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def tool_of(work: Callable[..., Any], **options: Any) -> FunctionTool:
    """Return a function as a tool that nobody is asked about."""
    allowed = PermissionDecision(PermissionBehavior.ALLOW, "A test wants it.")
    return FunctionTool(work, permission=allowed, **options)


def call_of(tool: ToolBase, call_id: str = "c1", /, **arguments: Any) -> ToolCallBlock:
    """Return a model's call of a tool."""
    return ToolCallBlock(id=call_id, name=tool.name, input=json.dumps(arguments))


def drained(queue: ProgressQueue) -> list[ToolProgressEvent]:
    """Return the events that can be read now."""
    events = []
    while (event := queue.get_nowait()) is not None:
        events.append(event)
    return events


def shorts(events: list[ToolProgressEvent]) -> list[tuple[str, str]]:
    """Return the stream and the text of events; `("closed", "")` for the end of a call."""
    return [("closed", e.text) if e.closed else (e.stream, e.text) for e in events]


def text_of(events: list[ToolProgressEvent], tool_call_id: str, stream: str) -> str:
    """Return the whole text of one stream of a call."""
    wanted = (tool_call_id, stream)
    return "".join(e.text for e in events if (e.tool_call_id, e.stream) == wanted)


async def run_watched(
    tool: ToolBase, call_id: str = "c1", /, **arguments: Any
) -> tuple[list[ToolProgressEvent], str]:
    """Run a call in a toolkit, and return what it showed and the text of its result."""

    async def run() -> tuple[list[ToolProgressEvent], str]:
        queue = register_progress_queue()
        said = ""
        stream = Toolkit([tool]).call_tool(call_of(tool, call_id, **arguments), AgentState())
        async with aclosing(stream) as items:
            async for item in items:
                if isinstance(item, ToolResponse):
                    said = "".join(b.text for b in item.content if isinstance(b, TextBlock))
                else:
                    assert isinstance(item, ToolChunk)
        events = drained(queue)
        unregister_progress_queue()
        return events, said

    running: Awaitable[tuple[list[ToolProgressEvent], str]] = asyncio.create_task(run())
    return await running
