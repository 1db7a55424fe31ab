"""Defines `FunctionTool`, a function wrapped as a tool."""

from __future__ import annotations

import inspect
from collections.abc import AsyncGenerator, Callable, Generator, Mapping, Sequence
from contextlib import aclosing, closing
from typing import Any

from pydantic import BaseModel
from pydantic_core import to_json

from agentscope_like.bridge import call_in_thread, iterate_in_thread
from agentscope_like.exception import ConfigurationError
from agentscope_like.message import DataBlock, TextBlock, ToolChunk
from agentscope_like.middleware import ToolMiddlewareBase
from agentscope_like.permission import (
    PermissionBehavior,
    PermissionContext,
    PermissionDecision,
)
from agentscope_like.tool.base import ToolBase
from agentscope_like.tool.make.argument_model import (
    behind_partial,
    implementation,
    parsed_docstring,
)
from agentscope_like.tool.make.parameters import STATE, Parameters
from agentscope_like.tool.resources import DeclaredResources

__all__ = ["FunctionTool"]

DONE = "Done."


class FunctionTool(ToolBase):
    """A function, wrapped as a tool (seed 002, "Wrap Function as Tool").

    The function may be a method, a `functools.partial` or an object with `__call__`; it may be
    `async`, a generator, both, or a coroutine function that returns a generator. A function that is
    not `async` runs in a worker thread with a copy of the context variables. When the call is
    cancelled, a generator is closed at its next `yield`, but a plain function cannot be stopped: it
    continues in the background. Threads are reused, so thread-local data may still be there in a
    later call. With `inline=True` the function runs on the event loop instead: this saves a thread
    switch but blocks the loop.

    A returned or yielded value becomes a `ToolChunk`: text unchanged, blocks as content, None as a
    message of success, and anything else as JSON.

    Args:
        func: The function.
        name: The tool's name; by default that of the function.
        description: What the tool does, for the model; by default the docstring without its
            sections. The docstring also describes the parameters.
        input_schema: A JSON Schema instead of the one from the type hints; or a pydantic model
            class, which validates the arguments, and whose field values the function gets.
        is_concurrency_safe: Whether its calls may run concurrently with others.
        is_read_only: Whether the function never changes anything.
        is_state_injected: Whether the function gets the agent's state as `_agent_state`.
        middlewares: Layers around the call; the first is the outermost.
        permission: The tool's own decision about every call; by default ASK, which an allow rule
            overrides.
        is_idempotent: Whether it is harmless to run a call again after a failure.
        inline: Whether the function never blocks, so that it may run on the event loop.
        resources: Returns from the arguments what a call touches; by default the tool does not say.

    Raises:
        ConfigurationError: The function or an argument is not valid for a tool.
    """

    def __init__(
        self,
        func: Callable[..., Any],
        name: str | None = None,
        description: str | None = None,
        input_schema: Mapping[str, Any] | type[BaseModel] | None = None,
        is_concurrency_safe: bool = True,
        is_read_only: bool = False,
        is_state_injected: bool = False,
        middlewares: Sequence[ToolMiddlewareBase] | None = None,
        *,
        permission: PermissionDecision | None = None,
        is_idempotent: bool = False,
        inline: bool = False,
        resources: Callable[[dict[str, Any]], DeclaredResources | None] | None = None,
    ) -> None:
        super().__init__(middlewares)
        self.name = _name(func, name)
        self._parameters = Parameters(self.name, func, input_schema, wants_state=is_state_injected)
        self.description = _description(func) if description is None else description
        self.input_schema = self._parameters.schema
        self.is_concurrency_safe = is_concurrency_safe
        self.is_read_only = is_read_only
        self.is_state_injected = is_state_injected
        self.is_idempotent = is_idempotent
        self._permission = permission or PermissionDecision(
            PermissionBehavior.ASK, f"{self.name} runs a function that nothing allows yet."
        )
        self._inline = inline
        if resources is not None:  # else the tool says nothing, and is not asked
            self.resources = resources  # type: ignore[assignment, method-assign]
        self._returns_at_once = inline or _returns_at_once(implementation(func))

    async def check_permissions(
        self, tool_input: dict[str, Any], context: PermissionContext
    ) -> PermissionDecision:
        """Return the decision of `permission`; a plain ASK by default."""
        del tool_input, context
        return self._permission

    async def call(self, /, **kwargs: Any) -> ToolChunk | AsyncGenerator[ToolChunk, None]:
        """Run the function.

        Args:
            **kwargs: Its arguments, as JSON values or as values of the annotated types.

        Raises:
            ToolArgumentError: The arguments do not fit the function's types.
        """
        state = kwargs.pop(STATE, None) if self.is_state_injected else None
        run = self._parameters.bind(kwargs, state)
        result = run() if self._returns_at_once else await call_in_thread(run)
        if inspect.isawaitable(result):
            result = await result
        if isinstance(result, Generator):
            return _chunks(_on_loop(result) if self._inline else iterate_in_thread(result))
        if isinstance(result, AsyncGenerator):
            return _chunks(result)
        return _chunk(DONE if result is None else result)


def _name(func: Callable[..., Any], given: str | None) -> str:
    if isinstance(func, type) or not callable(func):
        raise ConfigurationError(
            f"{func!r} is not a function: give a function, a method, a functools.partial or an "
            "object with `__call__`"
        )
    name: str | None = given or getattr(behind_partial(func), "__name__", None)
    if name is None or name == "<lambda>":
        raise ConfigurationError(f"{func!r} has no name that a model could call: give `name=`")
    return name


def _description(func: Callable[..., Any]) -> str:
    return (parsed_docstring(func).description or "").strip()


def _returns_at_once(func: Callable[..., Any]) -> bool:
    """Return whether calling it only creates a coroutine or generator, so that nothing blocks."""
    return (
        inspect.iscoroutinefunction(func)
        or inspect.isasyncgenfunction(func)
        or inspect.isgeneratorfunction(func)
    )


async def _on_loop(generator: Generator[Any, Any, Any]) -> AsyncGenerator[Any, None]:
    with closing(generator):
        for item in generator:
            yield item


async def _chunks(items: AsyncGenerator[Any, None]) -> AsyncGenerator[ToolChunk, None]:
    async with aclosing(items):
        async for item in items:
            if isinstance(item, ToolChunk):
                yield item
            elif item is not None:
                yield _chunk(item, is_part=True)


def _chunk(result: Any, *, is_part: bool = False) -> ToolChunk:
    if isinstance(result, ToolChunk):
        return result
    return ToolChunk(content=_content(result, is_part=is_part), is_last=not is_part)


def _content(result: Any, *, is_part: bool) -> list[TextBlock | DataBlock]:
    if isinstance(result, str):
        return [TextBlock(text=result)]
    blocks = result if isinstance(result, list) and result else [result]
    if all(isinstance(block, TextBlock | DataBlock) for block in blocks):
        return blocks
    return [TextBlock(text=_json(result) + ("\n" if is_part else ""))]


def _json(value: Any) -> str:
    try:
        return to_json(value, fallback=str).decode()
    except ValueError:  # bytes that are no text, half a surrogate pair, a value inside itself
        return str(value)
