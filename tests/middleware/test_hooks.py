"""Hooks into an agent's work."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import Any, get_args

import pytest

from agentscope_like.exception import ConfigurationError
from agentscope_like.middleware import MiddlewareBase, hook_onion, system_prompt
from agentscope_like.middleware.hooks import CallHook, StreamHook
from agentscope_like.permission import PermissionBehavior, PermissionDecision

AGENT = object()
Next = Callable[..., Any]


class Tracing(MiddlewareBase):
    """Overrides one hook of each shape."""

    def __init__(self, name: str, events: list[str], **overrides: Any) -> None:
        self.name = name
        self.events = events
        self.overrides = overrides

    async def on_acting(
        self, agent: Any, input_kwargs: dict[str, Any], next_handler: Next
    ) -> AsyncGenerator[Any, None]:
        assert agent is AGENT
        self.events.append(f"{self.name} {input_kwargs}")
        try:
            async for item in next_handler(**self.overrides):
                yield f"{self.name}({item})"
        finally:
            self.events.append(f"{self.name} out")

    async def on_model_call(
        self, agent: Any, input_kwargs: dict[str, Any], next_handler: Next
    ) -> Any:
        self.events.append(f"{self.name} {input_kwargs}")
        return f"{self.name}({await next_handler(**self.overrides)})"


async def _stream(**inputs: Any) -> AsyncGenerator[str, None]:
    yield f"{inputs}"


async def _call(**inputs: Any) -> str:
    return f"{inputs}"


async def items(stream: AsyncGenerator[Any, None]) -> list[Any]:
    async with aclosing(stream):
        return [item async for item in stream]


async def test_overrides_are_merged_over_the_inputs() -> None:
    """`next_handler()` passes everything on; what is overridden takes its input's place."""
    events: list[str] = []
    layers = [Tracing("a", events), Tracing("b", events, y=3), Tracing("c", events)]
    stream = hook_onion(layers, "on_acting", AGENT, _stream)
    assert await items(stream(x=1, y=2)) == ["a(b(c({'x': 1, 'y': 3})))"]
    assert events[:3] == ["a {'x': 1, 'y': 2}", "b {'x': 1, 'y': 2}", "c {'x': 1, 'y': 3}"]
    assert events[3:] == ["c out", "b out", "a out"]
    events.clear()
    call = hook_onion(layers, "on_model_call", AGENT, _call)
    assert await call(x=1, y=2) == "a(b(c({'x': 1, 'y': 3})))"
    assert events == ["a {'x': 1, 'y': 2}", "b {'x': 1, 'y': 2}", "c {'x': 1, 'y': 3}"]


@pytest.mark.parametrize("hook", ["on_acting", "on_model_call"])
async def test_an_override_of_nothing_is_an_error(hook: Any) -> None:
    """A misspelt input is told to the developer with the nearest one."""
    onion: Any = hook_onion(
        [Tracing("a", [], tool_cal=1)], hook, AGENT, _stream if hook == "on_acting" else _call
    )
    run = items(onion(tool_call=1)) if hook == "on_acting" else onion(tool_call=1)
    with pytest.raises(ConfigurationError, match="did you mean 'tool_call'"):
        await run


async def test_middlewares_without_the_hook_cost_nothing() -> None:
    """Where none overrides the hook, the core itself is returned."""
    assert hook_onion([MiddlewareBase(), Tracing("a", [])], "on_reply", AGENT, _stream) is _stream


@pytest.mark.parametrize("hook", [*get_args(StreamHook), *get_args(CallHook)])
async def test_every_hook_passes_through_by_default(hook: Any) -> None:
    """The base class's hooks change nothing."""
    method = getattr(MiddlewareBase(), hook)
    decision = PermissionDecision(PermissionBehavior.ALLOW, "")
    if hook in get_args(StreamHook):
        assert await items(method(AGENT, {}, lambda: _stream(a=1))) == ["{'a': 1}"]
        return

    async def next_handler() -> Any:
        return decision

    result = await method(AGENT, {}, next_handler)
    assert result is (None if hook == "on_compress_context" else decision)


def test_a_hook_counts_as_implemented_where_it_is_overridden() -> None:
    """By a class, by its base class, or on the object itself."""

    class Derived(Tracing):
        pass

    plain, derived = MiddlewareBase(), Derived("a", [])
    assert not plain.is_implemented("on_acting")
    assert derived.is_implemented("on_acting")
    assert not derived.is_implemented("on_reply")
    plain.on_reply = _stream  # type: ignore[method-assign, assignment]
    assert plain.is_implemented("on_reply")


def test_an_unknown_hook_is_an_error() -> None:
    """A misspelt hook is told to the developer with the nearest one."""
    with pytest.raises(ConfigurationError, match="did you mean 'on_acting'"):
        MiddlewareBase().is_implemented("on_actin")
    with pytest.raises(ConfigurationError, match="did you mean 'on_reply'"):
        hook_onion([], "on_repl", AGENT, _stream)  # type: ignore[call-overload]


async def test_the_system_prompt_goes_through_in_order() -> None:
    """Each middleware gets what the one before it made of the prompt."""

    class Adding(MiddlewareBase):
        def __init__(self, text: str) -> None:
            self.text = text

        async def on_system_prompt(self, agent: Any, current_prompt: str) -> str:
            return current_prompt + self.text

    layers = [Adding("1"), MiddlewareBase(), Adding("2")]
    assert await system_prompt(layers, AGENT, "p") == "p12"


async def test_a_system_prompt_that_is_none_is_an_error() -> None:
    """A hook that forgets to return the prompt is named."""

    class Forgetful(MiddlewareBase):
        async def on_system_prompt(self, agent: Any, current_prompt: str) -> str:
            return None  # type: ignore[return-value]

    with pytest.raises(ConfigurationError, match=r"Forgetful\.on_system_prompt returned None"):
        await system_prompt([Forgetful()], AGENT, "p")


async def test_a_middleware_has_no_tools_and_a_key_of_its_own() -> None:
    """The defaults of what is no hook."""
    assert await MiddlewareBase().list_tools() == []
    assert (
        await Tracing("a", []).get_middleware_key() != await MiddlewareBase().get_middleware_key()
    )


@pytest.mark.parametrize(
    "ending", ["heard out", "closed early", "never begun", "answered", "failed"]
)
async def test_a_model_s_stream_is_closed_whatever_a_middleware_does(ending: str) -> None:
    """A stream that `on_model_call` opens is closed when its own ends, however that is."""
    closed: list[str] = []

    async def responses() -> AsyncGenerator[str, None]:
        try:
            yield "1"
            yield "2"
        finally:
            closed.append("model")

    async def model(**inputs: Any) -> AsyncGenerator[str, None]:
        return responses()

    class Peeking(MiddlewareBase):
        async def on_model_call(
            self,
            agent: Any,
            input_kwargs: dict[str, Any],
            next_handler: Next,
        ) -> Any:
            inner = await next_handler()
            first = await anext(inner)
            if ending == "failed":
                raise ValueError("boom")
            if ending == "answered":
                return first

            async def outer() -> AsyncGenerator[str, None]:
                try:
                    yield first
                    async for item in inner:
                        yield item
                finally:
                    closed.append("outer")

            return outer()

    onion = hook_onion([MiddlewareBase(), Peeking()], "on_model_call", AGENT, model)
    if ending == "failed":
        with pytest.raises(ValueError, match="boom"):
            await onion()
    elif ending == "answered":
        assert await onion() == "1"
    else:
        stream = await onion()
        if ending == "heard out":
            assert await items(stream) == ["1", "2"]
        elif ending == "closed early":
            assert await anext(stream) == "1"
        await stream.aclose()
    begun = ending in ("heard out", "closed early")
    assert closed == (["model", "outer"] if begun else ["model"])
