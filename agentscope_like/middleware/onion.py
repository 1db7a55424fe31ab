"""Nests layers around a call, like the skins of an onion.

The first layer is the outermost. There are coroutine layers, `async (call, next) -> result`, and
generator layers, which yield the items of a stream. A stream is always closed from the inside out,
like nested `with` blocks; and streams that a layer left open are closed as soon as the layer ends,
before the layer around it continues.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from types import AsyncGeneratorType, TracebackType
from typing import Any, Generic, TypeAlias, TypeVar

from typing_extensions import override

from agentscope_like.exception import ConfigurationError

__all__ = [
    "CallLayer",
    "LayerChain",
    "LayerStream",
    "OpenedStreams",
    "StreamHandler",
    "StreamLayer",
    "chain_layers",
    "wrap_call",
    "wrap_stream",
]

CallT = TypeVar("CallT")
ResultT = TypeVar("ResultT")
ItemT = TypeVar("ItemT")

CallLayer: TypeAlias = Callable[[CallT, Callable[[CallT], Awaitable[ResultT]]], Awaitable[ResultT]]
"""`async (call, next) -> result`: continues with `await next(call)`, or returns its own result."""

StreamHandler: TypeAlias = Callable[..., AsyncGenerator[ItemT, None]]
"""Called with the arguments as keywords, returns the stream of one run."""

StreamLayer: TypeAlias = Callable[
    [dict[str, Any], StreamHandler[ItemT]], AsyncGenerator[ItemT, None]
]
"""`(input_kwargs, next_handler) -> async generator`."""

LayerChain: TypeAlias = "tuple[StreamLayer[ItemT], LayerChain[ItemT] | None]"
"""A layer and those inside it, built once for many runs."""


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


def chain_layers(layers: Sequence[StreamLayer[ItemT]]) -> LayerChain[ItemT] | None:
    """Return the layers as a chain, the first outermost; None if there are none."""
    chain: LayerChain[ItemT] | None = None
    for layer in reversed(layers):
        chain = layer, chain
    return chain


def wrap_stream(
    layers: Sequence[StreamLayer[ItemT]], core: StreamHandler[ItemT]
) -> StreamHandler[ItemT]:
    """Return a handler whose streams pass through the layers, the first outermost.

    Args:
        layers: Each gets the arguments as a dictionary and the handler of the next layer, which it
            calls as `next_handler(**input_kwargs)`: once, many times or never.
        core: The innermost handler.
    """
    chain = chain_layers(layers)
    if chain is None:
        return core

    def handle(**input_kwargs: Any) -> AsyncGenerator[ItemT, None]:
        return LayerStream.start(chain, core, input_kwargs)

    return handle


class LayerStream(AsyncGenerator[ItemT, None], Generic[ItemT]):
    """The stream of one layer in one run; it closes streams that the layer left open.

    Created by `LayerStream.start`, for `wrap_stream`, and by each layer's `next_handler`.

    Attributes:
        is_over: Whether it ended, failed or was closed.
    """

    # Every call of a tool pays for each of its layers. In the common case, in which a layer opens
    # one stream and hears it out, there is one call to open it, one coroutine for each step and
    # nothing else; `open` fills in what it makes by itself, to spare the call of an `__init__`.
    __slots__ = ("_core", "_opened", "_rest", "_stream", "is_over")

    _core: StreamHandler[ItemT]
    _opened: AsyncGenerator[ItemT, None] | OpenedStreams | None
    _rest: LayerChain[ItemT] | None
    _stream: AsyncGenerator[ItemT, None]
    is_over: bool

    @classmethod
    def start(
        cls,
        chain: LayerChain[ItemT],
        core: StreamHandler[ItemT],
        input_kwargs: dict[str, Any],
    ) -> AsyncGenerator[ItemT, None]:
        """Return the stream of one run.

        Args:
            chain: The layers.
            core: The innermost handler.
            input_kwargs: The arguments of this run.

        Raises:
            ConfigurationError: The first layer is not an async generator function; the others are
                checked when they are opened.
        """
        outermost = cls()
        outermost._rest, outermost._core, outermost._opened = chain, core, None
        return outermost.open(**input_kwargs)

    @classmethod
    def owning(
        cls, stream: AsyncGenerator[ItemT, None], opened: OpenedStreams
    ) -> AsyncGenerator[ItemT, None]:
        """Return a stream that also closes `opened` when it ends, fails or is closed."""
        owner = cls()
        owner._stream, owner._opened, owner.is_over = stream, opened, False
        return owner

    def open(self, /, **input_kwargs: Any) -> AsyncGenerator[ItemT, None]:
        """Return the stream of the next layer or of the core; a layer's `next_handler`."""
        stream: AsyncGenerator[ItemT, None]
        if self._rest is None:
            stream = self._core(**input_kwargs)
        else:
            inner: LayerStream[ItemT] = LayerStream()
            inner._core, inner._opened, inner.is_over = self._core, None, False
            layer, inner._rest = self._rest
            inner._stream = layer(input_kwargs, inner.open)
            if type(inner._stream) is not AsyncGeneratorType:
                _check_stream(layer, inner._stream)
            stream = inner
        opened = self._opened
        if opened is None:
            self._opened = stream
        elif isinstance(opened, OpenedStreams):
            opened.add(stream)
        else:
            self._opened = OpenedStreams(opened, stream)
        return stream

    @override
    async def __anext__(self) -> ItemT:
        try:
            return await self._stream.asend(None)
        except BaseException:
            self.is_over = True
            opened = self._opened
            if type(opened) is LayerStream:
                if not opened.is_over:
                    await opened.aclose()
            elif opened is not None:
                await opened.aclose()
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
        try:
            return await self._stream.athrow(typ if val is None else val)
        except BaseException:
            self.is_over = True
            await self._close_inner()
            raise

    @override
    async def aclose(self) -> None:
        if self.is_over:  # and what it opened was closed as it ended
            return
        self.is_over = True
        try:
            await self._close_inner()
        finally:
            await self._stream.aclose()

    async def _close_inner(self) -> None:
        opened, self._opened = self._opened, None
        if opened is not None:
            await opened.aclose()


def _check_stream(layer: object, stream: object) -> None:
    if not hasattr(stream, "asend"):
        getattr(stream, "close", lambda: None)()
        raise ConfigurationError(
            f"{layer} is not an async generator: define it with `async def` and `yield` the "
            "chunks of `next_handler(**input_kwargs)`"
        )


class OpenedStreams:
    """Streams that one layer opened, closed together: the last opened first."""

    __slots__ = ("_streams",)

    def __init__(self, *streams: AsyncGenerator[Any, None]) -> None:
        self._streams = list(streams)

    def add(self, stream: AsyncGenerator[Any, None]) -> None:
        """Add a stream that was opened after the others."""
        self._streams.append(stream)

    async def aclose(self) -> None:
        """Close every stream, even if closing one raises an exception."""
        async with AsyncExitStack() as stack:
            while self._streams:
                stack.push_async_callback(self._streams.pop(0).aclose)
