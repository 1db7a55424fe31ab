"""What a tool's middleware is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Callable
from typing import Any

from agentscope_like.message import ToolChunk

__all__ = ["NextHandler", "ToolMiddlewareBase"]

NextHandler = Callable[..., AsyncGenerator[ToolChunk, None]]
"""The next layer: call it as `next_handler(**input_kwargs)`; it always returns a stream."""


class ToolMiddlewareBase(ABC):
    """A layer around one tool's own `call` (seed 002, "Tool Middleware").

    It runs after the decision, each time the tool runs, whoever runs it. The first middleware of a
    tool is its outermost layer.
    """

    @abstractmethod
    def on_tool_call(
        self, tool: Any, input_kwargs: dict[str, Any], next_handler: NextHandler
    ) -> AsyncGenerator[ToolChunk, None]:
        """Run the call, or what takes its place; an async generator.

        Args:
            tool: The tool: a `ToolBase`, which this layer of the library cannot name.
            input_kwargs: Its arguments. They were decided upon as they are here: a middleware that
                passes other ones on runs a call that nobody decided.
            next_handler: The next layer; always returns a stream of chunks.

        Yields:
            Chunks of the result.
        """
