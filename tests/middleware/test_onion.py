"""The onion: order, closing, failures, cancellation, contexts."""

from __future__ import annotations

import asyncio
import contextvars
import itertools
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from typing import Any

import pytest

from agentscope_like.exception import ConfigurationError
from agentscope_like.middleware import wrap_call, wrap_stream

Handler = Callable[..., AsyncGenerator[str, None]]
Layer = Callable[[dict[str, Any], Handler], AsyncGenerator[str, None]]

VARIABLE: contextvars.ContextVar[str] = contextvars.ContextVar("VARIABLE", default="unset")


class Recorder:
    """Layers and a core that write down what happens to them."""

    def __init__(self, *, items: int = 1) -> None:
        self.events: list[str] = []
        self.items = items
        self.runs = itertools.count(1)

    def layer(self, name: str) -> Layer:
        async def layer(input_kwargs: dict[str, Any], next_handler: Handler) -> Any:
            self.events.append(f"{name} in")
            try:
                async for item in next_handler(**input_kwargs):
                    yield f"{name}({item})"
            finally:
                self.events.append(f"{name} out")

        return layer

    async def core(self, **kwargs: Any) -> AsyncGenerator[str, None]:
        run = next(self.runs)
        self.events.append(f"core{run} in")
        try:
            for i in range(self.items):
                yield f"{i}"
        finally:
            await asyncio.sleep(0)  # closing may need the loop
            self.events.append(f"core{run} out")


async def heard(stream: AsyncGenerator[str, None]) -> list[str]:
    async with aclosing(stream):
        return [item async for item in stream]


# Order


async def test_the_first_layer_is_the_outermost() -> None:
    """The first layer begins first and ends last."""
    recorder = Recorder()
    handle = wrap_stream([recorder.layer("a"), recorder.layer("b")], recorder.core)
    assert await heard(handle()) == ["a(b(0))"]
    assert recorder.events == ["a in", "b in", "core1 in", "core1 out", "b out", "a out"]


async def test_no_layer_is_the_core_itself() -> None:
    """Without layers nothing stands between caller and core."""
    recorder = Recorder()
    assert wrap_stream([], recorder.core) == recorder.core


async def test_a_handler_serves_many_runs_at_once() -> None:
    """Runs of one handler share nothing."""
    recorder = Recorder(items=3)
    handle = wrap_stream([recorder.layer("a")], recorder.core)
    runs = await asyncio.gather(*(heard(handle()) for _ in range(5)))
    assert runs == [["a(0)", "a(1)", "a(2)"]] * 5


async def test_layers_pass_on_what_arguments_they_like() -> None:
    """A layer gets a dictionary of its own, and `next_handler` takes any keyword."""
    got: list[dict[str, Any]] = []

    async def changing(input_kwargs: dict[str, Any], next_handler: Handler) -> Any:
        input_kwargs["b"] = 2
        async for item in next_handler(**input_kwargs, self=3, layer=4, kwargs=5):
            yield item

    async def core(**kwargs: Any) -> AsyncGenerator[str, None]:
        got.append(kwargs)
        yield "x"

    given = {"a": 1}
    await heard(wrap_stream([changing], core)(**given))
    assert (got, given) == ([{"a": 1, "b": 2, "self": 3, "layer": 4, "kwargs": 5}], {"a": 1})


async def test_a_layer_may_answer_alone() -> None:
    """A layer that never calls the next one keeps the core from running."""
    recorder = Recorder()

    async def answering(input_kwargs: dict[str, Any], next_handler: Handler) -> Any:
        yield "mine"

    handle = wrap_stream([recorder.layer("a"), answering, recorder.layer("b")], recorder.core)
    assert await heard(handle()) == ["a(mine)"]
    assert recorder.events == ["a in", "a out"]


# Closing


@pytest.mark.parametrize("depth", [1, 2, 5])
async def test_an_early_close_goes_from_the_inside_out(depth: int) -> None:
    """Whoever stops listening closes the core first and the outermost layer last."""
    recorder = Recorder(items=3)
    names = [f"l{i}" for i in range(depth)]
    stream = wrap_stream([recorder.layer(name) for name in names], recorder.core)()
    await anext(stream)
    recorder.events.clear()
    await stream.aclose()
    assert recorder.events == ["core1 out", *(f"{name} out" for name in reversed(names))]
    with pytest.raises(StopAsyncIteration):
        await anext(stream)


async def test_closing_what_never_ran_is_fine() -> None:
    """A stream that was never begun closes without running anything."""
    recorder = Recorder()
    await wrap_stream([recorder.layer("a")], recorder.core)().aclose()
    assert recorder.events == []


@pytest.mark.parametrize("ending", ["return", "raise", "break"])
async def test_what_a_layer_leaves_open_is_closed_before_the_next_one_goes_on(
    ending: str,
) -> None:
    """A layer that ends early has its inner stream closed promptly, by whatever way it ends."""
    recorder = Recorder(items=3)

    async def ends_early(input_kwargs: dict[str, Any], next_handler: Handler) -> Any:
        async for item in next_handler(**input_kwargs):
            yield item
            if ending == "raise":
                raise ValueError("enough")
            if ending == "return":
                return
            break

    async def outer(input_kwargs: dict[str, Any], next_handler: Handler) -> Any:
        try:
            async for item in next_handler(**input_kwargs):
                yield item
        except ValueError:
            recorder.events.append("caught")
        recorder.events.append("after")

    handle = wrap_stream([outer, ends_early, recorder.layer("b")], recorder.core)
    assert await heard(handle()) == ["b(0)"]
    caught = ["caught"] if ending == "raise" else []
    assert recorder.events == ["b in", "core1 in", "core1 out", "b out", *caught, "after"]


@pytest.mark.parametrize("hears_out", [True, False])
async def test_a_layer_may_open_the_next_one_several_times(hears_out: bool) -> None:
    """Each run is closed by the time the layer has ended, the last opened first."""
    recorder = Recorder(items=2)

    async def thrice(input_kwargs: dict[str, Any], next_handler: Handler) -> Any:
        for _ in range(3):
            async for item in next_handler(**input_kwargs):
                yield item
                if not hears_out:
                    break

    assert len(await heard(wrap_stream([thrice], recorder.core)())) == (6 if hears_out else 3)
    out = [event for event in recorder.events if event.endswith("out")]
    order = [1, 2, 3] if hears_out else [3, 2, 1]
    assert out == [f"core{run} out" for run in order]


async def test_every_stream_is_closed_though_closing_one_fails() -> None:
    """An error while one stream closes keeps none of the others open."""
    closed: list[int] = []
    runs = itertools.count()

    async def core(**kwargs: Any) -> AsyncGenerator[str, None]:
        run = next(runs)
        try:
            yield "x"
        finally:
            closed.append(run)
            if run == 1:
                raise OSError("cannot close")

    async def thrice(input_kwargs: dict[str, Any], next_handler: Handler) -> Any:
        streams = [next_handler(**input_kwargs) for _ in range(3)]
        for stream in streams:
            yield await anext(stream)

    with pytest.raises(OSError, match="cannot close"):
        await heard(wrap_stream([thrice], core)())
    assert closed == [2, 1, 0]


# Failures


@pytest.mark.parametrize("where", [0, 1, 2, 3])
async def test_an_exception_passes_through_every_layer_outside(where: int) -> None:
    """Each layer around the failure sees it, ends, and the caller gets it."""
    recorder = Recorder()

    async def failing(input_kwargs: dict[str, Any], next_handler: Handler) -> Any:
        async for _ in next_handler(**input_kwargs):
            raise ValueError("boom")
        yield "never"

    layers = [recorder.layer(name) for name in "abc"]
    layers.insert(where, failing)
    with pytest.raises(ValueError, match="boom"):
        await heard(wrap_stream(layers, recorder.core)())
    begun = [event.split()[0] for event in recorder.events if event.endswith("in")]
    ended = [event.split()[0] for event in recorder.events if event.endswith("out")]
    assert ended == begun[::-1]


async def test_a_layer_may_catch_and_try_again() -> None:
    """What failed is closed before the layer that catches it opens the next run."""
    recorder = Recorder(items=2)
    tries = itertools.count(1)

    async def flaky(input_kwargs: dict[str, Any], next_handler: Handler) -> Any:
        async for item in next_handler(**input_kwargs):
            if next(tries) < 3:
                raise ConnectionError
            yield item

    async def retry(input_kwargs: dict[str, Any], next_handler: Handler) -> Any:
        while True:
            try:
                async for item in next_handler(**input_kwargs):
                    yield item
                return
            except ConnectionError:
                recorder.events.append("again")

    assert await heard(wrap_stream([retry, flaky], recorder.core)()) == ["0", "1"]
    assert recorder.events == [
        *("core1 in", "core1 out", "again"),
        *("core2 in", "core2 out", "again"),
        *("core3 in", "core3 out"),
    ]


async def test_a_thrown_exception_reaches_the_layer_with_its_inside_closed() -> None:
    """`athrow` closes what is inside, and the layer may still answer."""
    recorder = Recorder(items=2)

    async def catching(input_kwargs: dict[str, Any], next_handler: Handler) -> Any:
        try:
            async for item in next_handler(**input_kwargs):
                yield item
        except KeyError:
            recorder.events.append("caught")
            yield "instead"

    stream = wrap_stream([catching], recorder.core)()
    await anext(stream)
    assert await stream.athrow(KeyError("k")) == "instead"
    assert recorder.events == ["core1 in", "core1 out", "caught"]
    assert await heard(stream) == []

    uncaught = wrap_stream([recorder.layer("a")], recorder.core)()
    await anext(uncaught)
    with pytest.raises(KeyError):
        await uncaught.athrow(KeyError("k"))
    assert recorder.events[-2:] == ["core2 out", "a out"]


async def _coroutine(input_kwargs: dict[str, Any], next_handler: Handler) -> str:
    return "text"


def _plain(input_kwargs: dict[str, Any], next_handler: Handler) -> str:
    return "text"


@pytest.mark.parametrize("wrong", [_coroutine, _plain])
@pytest.mark.parametrize("outside", [0, 1])
async def test_a_layer_that_is_no_generator_is_an_error(wrong: Any, outside: int) -> None:
    """A coroutine or a plain function in place of an async generator is told to the developer."""
    recorder = Recorder()
    layers = [*(recorder.layer("a") for _ in range(outside)), wrong]
    with pytest.raises(ConfigurationError, match=r"_(coroutine|plain).*async generator"):
        await heard(wrap_stream(layers, recorder.core)())


# Cancellation and contexts


@pytest.mark.parametrize("place", ["before", "in core", "after", "closing"])
async def test_cancellation_closes_every_layer_wherever_it_strikes(place: str) -> None:
    """CancelledError passes through; everything is closed from the inside out, exactly once."""
    events: list[str] = []
    reached = asyncio.Event()

    async def stop(here: str) -> None:
        if here == place:
            reached.set()
            await asyncio.sleep(60)

    async def core(**kwargs: Any) -> AsyncGenerator[str, None]:
        try:
            await stop("in core")
            yield "x"
            yield "y"
        finally:
            events.append("core")
            await stop("closing")

    async def layer(input_kwargs: dict[str, Any], next_handler: Handler) -> Any:
        try:
            await stop("before")
            async for item in next_handler(**input_kwargs):
                yield item
            await stop("after")
        finally:
            events.append("layer")

    async def outer(input_kwargs: dict[str, Any], next_handler: Handler) -> Any:
        try:
            async for item in next_handler(**input_kwargs):
                yield item
                if place == "closing":
                    return
        finally:
            events.append("outer")

    task = asyncio.create_task(heard(wrap_stream([outer, layer], core)()))
    await reached.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    expected = {
        "before": ["layer", "outer"],
        "in core": ["core", "layer", "outer"],
        "after": ["core", "layer", "outer"],
        "closing": ["outer", "core", "layer"],
    }
    assert events == expected[place]


async def test_a_context_variable_that_the_caller_sets_is_seen_inside() -> None:
    """All layers run in the caller's own context: no task stands between."""
    seen: list[str] = []

    async def core(**kwargs: Any) -> AsyncGenerator[str, None]:
        for _ in range(2):
            seen.append(VARIABLE.get())
            yield "x"

    recorder = Recorder()
    stream = wrap_stream([recorder.layer("a"), recorder.layer("b")], core)()
    VARIABLE.set("first")
    await anext(stream)
    VARIABLE.set("second")
    await heard(stream)
    assert seen == ["first", "second"]


async def test_an_abandoned_stream_leaves_no_task() -> None:
    """Streams need no task of their own."""
    recorder = Recorder(items=2)
    before = asyncio.all_tasks()
    stream = wrap_stream([recorder.layer("a")], recorder.core)()
    await anext(stream)
    assert asyncio.all_tasks() == before
    await stream.aclose()


# Coroutine layers


async def test_coroutine_layers_nest() -> None:
    """The first is the outermost; each may change the request, answer alone or call twice."""

    async def doubling(call: int, go_on: Callable[[int], Awaitable[str]]) -> str:
        return await go_on(call * 2) + await go_on(call * 2)

    async def marking(call: int, go_on: Callable[[int], Awaitable[str]]) -> str:
        return f"<{await go_on(call + 1)}>"

    async def core(call: int) -> str:
        return str(call)

    assert await wrap_call([marking, doubling], core)(3) == "<88>"
    assert await wrap_call([doubling, marking], core)(3) == "<7><7>"
    assert await wrap_call([], core)(3) == "3"
