"""Defines the base class of tool middlewares."""

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

    It runs after the decision, each time that the tool runs. The first middleware of a tool is its
    outermost layer.

    Attributes:
        may_repeat: Whether the tool's owner allows a call to be run again after a failed attempt
            although the tool is neither read-only nor idempotent.
    """

    may_repeat: bool = False

    @abstractmethod
    def on_tool_call(
        self, tool: Any, input_kwargs: dict[str, Any], next_handler: NextHandler
    ) -> AsyncGenerator[ToolChunk, None]:
        """Run or replace the call; an async generator.

        Args:
            tool: The tool, a `ToolBase`, whose type this layer cannot import.
            input_kwargs: Its arguments, as they were decided: if a middleware passes on other ones,
                these are decided again. Names that begin with `_` are injected: pass them on as
                they are.
            next_handler: The next layer; always returns a stream of chunks. It may be called again
                after a failed attempt without output, if the tool is read-only or idempotent or
                `may_repeat` is set; never after this stream has ended.

        Yields:
            Chunks of the result.
        """
