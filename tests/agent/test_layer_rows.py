"""What others got wrong about layers, row by row.

The rows are those of "Approvals and middleware: what peers get wrong, and what to build": 2.1 says
where permission stands among layers, 2.2 what goes wrong with asynchronous generators.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from contextvars import ContextVar, copy_context
from typing import Any, cast

import pytest

from agentscope_like.event import EventType
from agentscope_like.message import (
    Msg,
    TextBlock,
    ToolCallBlock,
    ToolCallState,
    ToolResultState,
    UserMsg,
)
from agentscope_like.middleware import MiddlewareBase
from agentscope_like.permission import (
    PermissionBehavior,
    PermissionDecision,
)
from agentscope_like.types import ReplyFinishedReason
from tests.agent.kit import (
    agent_of,
    calls_of,
    events_of,
    outline,
    results_of,
)
from tests.agent.layers import Around
from tests.tool.kit import Probe, call_of, chunk_of

DONE = [TextBlock(text="All done.")]
GO = UserMsg("user", "go")
Next = Callable[..., Any]


async def test_2_1_permission_is_no_layer_that_could_be_left_out() -> None:
    """A layer that decides by itself, without going on, is still held against the engine."""

    async def sure(agent: Any, inputs: dict[str, Any], go_on: Next) -> PermissionDecision:
        return PermissionDecision(PermissionBehavior.ALLOW, "Sure.")

    probe = Probe(opinion="deny")
    agent = agent_of([probe], [call_of()], DONE, middlewares=[Around(on_check_permission=sure)])
    await agent.reply(GO)
    assert probe.runs == []


async def test_2_1_what_was_decided_is_what_runs() -> None:
    """Arguments are rewritten before the decision; afterwards they are decided anew."""

    async def danger(agent: Any, inputs: dict[str, Any], go_on: Next) -> PermissionDecision:
        return cast("PermissionDecision", await go_on(tool_input={"text": "dangerous"}))

    async def later(agent: Any, inputs: dict[str, Any], go_on: Next) -> AsyncGenerator[Any, None]:
        call = inputs["tool_call"].model_copy(update={"input": '{"text": "dangerous"}'})
        async for item in go_on(tool_call=call):
            yield item

    for layer, state in (
        (Around(on_check_permission=danger), ToolCallState.ASKING),
        (Around(on_acting=later), ToolCallState.FINISHED),
    ):
        probe = Probe()
        agent = agent_of([probe], [call_of()], DONE, middlewares=[layer])
        await agent.reply(GO)
        assert probe.runs == []
        assert calls_of(agent)["c1"].state is state


def nested(notes: list[str]) -> list[MiddlewareBase]:
    """Return two layers around everything that note when they are left, without any `aclosing`."""

    def layer(name: str) -> Any:
        async def hook(
            agent: Any, inputs: dict[str, Any], go_on: Next
        ) -> AsyncGenerator[Any, None]:
            try:
                async for item in go_on():
                    yield item
            finally:
                notes.append(name)

        return hook

    return [
        Around(on_reply=layer("outer"), on_acting=layer("acting")),
        Around(on_reply=layer("inner")),
    ]


async def endless(_: str) -> AsyncGenerator[Any, None]:
    """Tick for ever."""
    while True:
        yield chunk_of("tick ")
        await asyncio.sleep(0.001)


async def test_2_2_1_a_consumer_that_stops_has_every_layer_cleaned_up_at_once() -> None:
    """From the inside out, before `aclose` returns."""
    notes: list[str] = []
    agent = agent_of([Probe(work=endless)], [call_of()], middlewares=nested(notes))
    stream = agent.reply_stream(GO)
    async for event in stream:
        if not isinstance(event, Msg) and event.type is EventType.TOOL_RESULT_TEXT_DELTA:
            break
    await stream.aclose()
    assert notes == ["acting", "inner", "outer"]
    assert results_of(agent)["c1"].state is ToolResultState.INTERRUPTED


async def test_2_2_2_no_context_variable_leaks_into_the_consumer() -> None:
    """What the library may set for itself while it works is not seen between two events."""
    agent = agent_of([Probe()], [call_of(call_id="c1"), call_of(call_id="c2")], DONE)
    before = dict(copy_context())
    async with aclosing(agent.reply_stream(GO)) as stream:
        async for _ in stream:
            assert dict(copy_context()) == before


async def test_2_2_3_a_timeout_of_the_consumer_ends_the_reply_and_not_the_consumer() -> None:
    """A timeout around the whole stream is one; none of the library's own is around a `yield`."""
    agent = agent_of([Probe(work=endless)], [call_of()], DONE)
    agent.react_config.interruption_raise_cancelled_error = True
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05):
            await agent.reply(GO)
    assert agent.state.context[-1].finished_reason is ReplyFinishedReason.INTERRUPTED
    assert (await agent.reply(GO)).get_text_content() == "All done."


async def test_2_2_4_a_failure_reaches_the_layers_inside() -> None:
    """A layer that fails closes those inside it before its exception goes on."""
    notes: list[str] = []

    async def failing(agent: Any, inputs: dict[str, Any], go_on: Next) -> AsyncGenerator[Any, None]:
        async for item in go_on():
            yield item
            if not isinstance(item, Msg) and item.type is EventType.TOOL_RESULT_TEXT_DELTA:
                notes.append("failing")
                raise KeyError("oops")

    agent = agent_of(
        [Probe(work=endless)],
        [call_of()],
        middlewares=[Around(on_reply=failing), *nested(notes)],
    )
    with pytest.raises(KeyError):
        await agent.reply(GO)
    assert notes == ["failing", "acting", "inner", "outer"]


async def test_2_2_5_a_layer_that_catches_exceptions_does_not_swallow_a_cancellation() -> None:
    """`except Exception` lets it through, and the reply ends in order."""

    async def careful(agent: Any, inputs: dict[str, Any], go_on: Next) -> AsyncGenerator[Any, None]:
        try:
            async for item in go_on():
                yield item
        except Exception:
            pytest.fail("a cancellation is no Exception")

    agent = agent_of([Probe(work=endless)], [call_of()], middlewares=[Around(on_acting=careful)])
    task = asyncio.create_task(events_of(agent, "go"))
    await asyncio.sleep(0.05)
    task.cancel()
    lines = outline(await task)
    assert lines[-2:] == ["TOOL_RESULT_END c1 interrupted", "REPLY_END interrupted"]


async def test_2_2_6_hooks_run_in_the_task_of_the_reply() -> None:
    """A context variable that the caller set is seen in the hooks around the reply."""
    user: ContextVar[str] = ContextVar("user")
    seen: list[str] = []

    async def look(agent: Any, inputs: dict[str, Any], go_on: Next) -> AsyncGenerator[Any, None]:
        seen.append(user.get())
        async for item in go_on():
            yield item

    async def check(agent: Any, inputs: dict[str, Any], go_on: Next) -> Any:
        seen.append(user.get())
        return await go_on()

    user.set("ada")
    layer = Around(
        on_reply=look,
        on_reasoning=look,
        on_acting=look,
        on_model_call=check,
        on_check_permission=check,
    )
    calls: list[ToolCallBlock] = [call_of(call_id="c1"), call_of(call_id="c2")]
    await agent_of([Probe()], calls, DONE, middlewares=[layer]).reply(GO)
    assert set(seen) == {"ada"}
    assert len(seen) == 1 + 2 * 2 + 2 * 2
