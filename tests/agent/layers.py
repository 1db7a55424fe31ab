"""Layers that tests put around the parts of an agent's work."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import Any

from agentscope_like.event import (
    TextBlockDeltaEvent,
    TextBlockEndEvent,
    TextBlockStartEvent,
)
from agentscope_like.middleware import MiddlewareBase
from agentscope_like.tool import ToolBase

Next = Callable[..., Any]


class Around(MiddlewareBase):
    """Overrides the hooks that it is given."""

    def __init__(self, **hooks: Any) -> None:
        for name, hook in hooks.items():
            setattr(self, name, hook)


class WithTools(MiddlewareBase):
    """Brings a tool."""

    def __init__(self, *tools: ToolBase) -> None:
        self.tools = list(tools)

    async def list_tools(self) -> list[Any]:
        return self.tools


def once(hook: Any) -> Any:
    """Return the hook for the first time that it is called; later ones pass everything on."""
    rest = [hook]

    async def first(agent: Any, inputs: dict[str, Any], go_on: Next) -> AsyncGenerator[Any, None]:
        stream = rest.pop()(agent, inputs, go_on) if rest else go_on()
        async with aclosing(stream) as events:
            async for event in events:
                yield event

    return first


def said(agent: Any, text: str) -> list[Any]:
    """Return the events of a text."""
    where = {"reply_id": agent.state.reply_id, "block_id": "own"}
    return [
        TextBlockStartEvent(**where),
        TextBlockDeltaEvent(**where, delta=text),
        TextBlockEndEvent(**where),
    ]
