"""`ToolStream`: what calling a tool returns, to be iterated over or awaited."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from types import TracebackType
from typing import Any, TypeAlias

from typing_extensions import override

from agentscope_like.message import ToolChunk

__all__ = ["Produced", "ToolStream"]

Produced: TypeAlias = ToolChunk | AsyncGenerator[ToolChunk, None]
"""What awaiting a tool's call gives: its one chunk, or the stream of its chunks."""


class ToolStream(AsyncGenerator[ToolChunk, None]):
    """One run of a tool, which begins when it is first iterated over or awaited.

    `async for` gives the chunks of every tool. `await` gives the chunk of a tool that returns one,
    and the stream of every other and of one with middlewares.

    Args:
        stream: Begins the run as a stream.
        produced: Begins the run and returns what the tool returns; None for the stream.
    """

    def __init__(
        self,
        stream: Callable[[], AsyncGenerator[ToolChunk, None]],
        produced: Callable[[], Awaitable[Produced]] | None,
    ) -> None:
        self._stream = stream
        self._produced = produced
        self._begun: AsyncGenerator[ToolChunk, None] | None = None
        self._is_awaited = False

    def __await__(self) -> Generator[Any, None, Produced]:
        return self._awaited().__await__()

    async def _awaited(self) -> Produced:
        if self._is_awaited or self._begun is not None:
            raise RuntimeError("this run of the tool has begun already: call the tool again")
        self._is_awaited = True
        return await self._produced() if self._produced is not None else self._stream()

    def _running(self) -> AsyncGenerator[ToolChunk, None]:
        if self._is_awaited:
            raise RuntimeError("this run of the tool was awaited: iterate over what that gave")
        if self._begun is None:
            self._begun = self._stream()
        return self._begun

    @override
    async def __anext__(self) -> ToolChunk:
        return await self._running().__anext__()

    @override
    async def asend(self, value: None) -> ToolChunk:
        return await self._running().asend(value)

    @override
    async def athrow(
        self,
        typ: Any,
        val: BaseException | object = None,
        tb: TracebackType | None = None,
    ) -> ToolChunk:
        return await self._running().athrow(typ, val, tb)

    @override
    async def aclose(self) -> None:
        if not self._is_awaited:
            await self._running().aclose()
