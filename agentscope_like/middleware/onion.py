"""The onion: layers around a call, written once.

The first layer is the outermost. There are two shapes: coroutine layers `async (call, next) ->
result`, and generator layers, which yield what passes through them. A stream is closed from the
inside out, as nested `with` blocks would be, whatever ends it.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from types import TracebackType
from typing import Any, Generic, TypeAlias, TypeVar

from typing_extensions import override

from agentscope_like.exception import ConfigurationError

__all__ = ["CallLayer", "LayerStream", "StreamHandler", "StreamLayer", "wrap_call", "wrap_stream"]

CallT = TypeVar("CallT")
ResultT = TypeVar("ResultT")
ItemT = TypeVar("ItemT")

CallLayer: TypeAlias = Callable[[CallT, Callable[[CallT], Awaitable[ResultT]]], Awaitable[ResultT]]
"""`async (call, next) -> result`: goes on with `await next(call)`, or answers by itself."""

StreamHandler: TypeAlias = Callable[..., AsyncGenerator[ItemT, None]]
"""Called with the arguments as keywords, returns the stream of one run."""

StreamLayer: TypeAlias = Callable[
    [dict[str, Any], StreamHandler[ItemT]], AsyncGenerator[ItemT, None]
]
"""`(input_kwargs, next_handler) -> async generator`."""


def wrap_call(
    layers: Sequence[CallLayer[CallT, ResultT]], core: Callable[[CallT], Awaitable[ResultT]]
) -> Callable[[CallT], Awaitable[ResultT]]:
    """Return `core` inside the layers, the first outermost."""
    wrapped = core
    for layer in reversed(layers):
        wrapped = _around_call(layer, wrapped)
    return wrapped


def _around_call(
    layer: CallLayer[CallT, ResultT], inner: Callable[[CallT], Awaitable[ResultT]]
) -> Callable[[CallT], Awaitable[ResultT]]:
    def call(request: CallT) -> Awaitable[ResultT]:
        return layer(request, inner)

    return call


def wrap_stream(
    layers: Sequence[StreamLayer[ItemT]], core: StreamHandler[ItemT]
) -> StreamHandler[ItemT]:
    """Return a handler whose streams pass through the layers, the first outermost.

    Args:
        layers: Each gets the arguments as a dictionary and the handler of the next layer, which it
            calls as `next_handler(**input_kwargs)`: once, many times or never.
        core: The innermost handler.
    """
    wrapped = core
    for layer in reversed(layers):
        wrapped = _around_stream(layer, wrapped)
    return wrapped


def _around_stream(layer: StreamLayer[ItemT], inner: StreamHandler[ItemT]) -> StreamHandler[ItemT]:
    def handle(**input_kwargs: Any) -> AsyncGenerator[ItemT, None]:
        return LayerStream(layer, inner, input_kwargs)

    return handle


class LayerStream(AsyncGenerator[ItemT, None], Generic[ItemT]):
    """The stream of one layer in one run; it closes what the layer opened and left open.

    Args:
        layer: The layer.
        inner: The handler of the next layer.
        input_kwargs: The arguments of this run.

    Raises:
        ConfigurationError: The layer is not an async generator function.
    """

    __slots__ = ("_inner", "_opened", "_stream")

    def __init__(
        self,
        layer: StreamLayer[ItemT],
        inner: StreamHandler[ItemT],
        input_kwargs: dict[str, Any],
    ) -> None:
        self._inner = inner
        self._opened: list[AsyncGenerator[ItemT, None]] = []
        self._stream = layer(input_kwargs, self._open)
        if not hasattr(self._stream, "__anext__"):
            getattr(self._stream, "close", lambda: None)()
            raise ConfigurationError(
                f"{layer} is not an async generator: define it with `async def` and `yield` the "
                "chunks of `next_handler(**input_kwargs)`"
            )

    def _open(self, **input_kwargs: Any) -> AsyncGenerator[ItemT, None]:
        stream = self._inner(**input_kwargs)
        self._opened.append(stream)
        return stream

    @override
    async def __anext__(self) -> ItemT:
        try:
            return await self._stream.__anext__()
        except BaseException:
            await self._close_inner()
            raise

    @override
    async def asend(self, value: None) -> ItemT:
        return await self.__anext__()

    @override
    async def athrow(
        self,
        typ: Any,
        val: Any = None,
        tb: TracebackType | None = None,
    ) -> ItemT:
        await self._close_inner()
        return await self._stream.athrow(typ if val is None else val)

    @override
    async def aclose(self) -> None:
        try:
            await self._close_inner()
        finally:
            await self._stream.aclose()

    async def _close_inner(self) -> None:
        while self._opened:
            await self._opened.pop().aclose()
