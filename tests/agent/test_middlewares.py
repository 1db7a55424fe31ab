"""Layers around the parts of an agent's work: their order, whole replies, tools that they bring."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import Any, cast

import pytest

from agentscope_like.agent import Agent, ReActConfig
from agentscope_like.event import (
    EventType,
)
from agentscope_like.exception import ConfigurationError
from agentscope_like.message import (
    Msg,
    TextBlock,
    ToolCallState,
    UserMsg,
)
from agentscope_like.middleware import LoggingMiddleware, MiddlewareBase
from agentscope_like.permission import PermissionBehavior, PermissionDecision
from agentscope_like.tool import Toolkit
from agentscope_like.types import ReplyFinishedReason
from tests.agent.kit import (
    DictatedModel,
    agent_of,
    answer,
    calls_of,
    events_of,
    model_of,
    outline,
    reloaded,
    results_of,
    text_of,
)
from tests.agent.layers import Around, WithTools, said
from tests.tool.kit import Probe, call_of

DONE = [TextBlock(text="All done.")]
GO = UserMsg("user", "go")
Next = Callable[..., Any]


class Tracing(MiddlewareBase):
    """Notes each hook as it is entered and left."""

    def __init__(self, name: str, notes: list[str]) -> None:
        self.name = name
        self.notes = notes

    async def _stream(
        self, hook: str, inputs: dict[str, Any], go_on: Next
    ) -> AsyncGenerator[Any, None]:
        self.notes.append(f"{self.name} {hook} {','.join(inputs)}")
        try:
            async with aclosing(go_on()) as stream:
                async for item in stream:
                    yield item
        finally:
            self.notes.append(f"{self.name} {hook} out")

    async def on_reply(
        self, agent: Any, input_kwargs: dict[str, Any], next_handler: Next
    ) -> AsyncGenerator[Any, None]:
        async with aclosing(self._stream("reply", input_kwargs, next_handler)) as stream:
            async for item in stream:
                yield item

    async def on_reasoning(
        self, agent: Any, input_kwargs: dict[str, Any], next_handler: Next
    ) -> AsyncGenerator[Any, None]:
        async with aclosing(self._stream("reasoning", input_kwargs, next_handler)) as stream:
            async for item in stream:
                yield item

    async def on_acting(
        self, agent: Any, input_kwargs: dict[str, Any], next_handler: Next
    ) -> AsyncGenerator[Any, None]:
        async with aclosing(self._stream("acting", input_kwargs, next_handler)) as stream:
            async for item in stream:
                yield item

    async def on_check_permission(
        self, agent: Any, input_kwargs: dict[str, Any], next_handler: Next
    ) -> PermissionDecision:
        self.notes.append(f"{self.name} permission {','.join(input_kwargs)}")
        return cast("PermissionDecision", await next_handler())

    async def on_model_call(
        self, agent: Any, input_kwargs: dict[str, Any], next_handler: Next
    ) -> Any:
        self.notes.append(f"{self.name} model {','.join(input_kwargs)}")
        return await next_handler()

    async def on_system_prompt(self, agent: Any, current_prompt: str) -> str:
        return f"{current_prompt} {self.name}"


async def test_the_hooks_surround_the_parts_of_a_reply() -> None:
    """The first is the outermost, and each hook is called where its part happens."""
    notes: list[str] = []
    agent = agent_of(
        [Probe()], [call_of()], DONE, middlewares=[Tracing("a", notes), Tracing("b", notes)]
    )
    assert (await agent.reply(GO)).get_text_content() == "All done."
    reasoning = [
        "a reasoning tool_choice",
        "b reasoning tool_choice",
        "a model current_model,messages,tools,tool_choice",
        "b model current_model,messages,tools,tool_choice",
        "b reasoning out",
        "a reasoning out",
    ]
    assert notes == [
        "a reply inputs,structured_schema",
        "b reply inputs,structured_schema",
        *reasoning,
        "a permission tool_call,tool,tool_input",
        "b permission tool_call,tool,tool_input",
        "a acting tool_call",
        "b acting tool_call",
        "b acting out",
        "a acting out",
        *reasoning,
        "b reply out",
        "a reply out",
    ]
    assert model_of(agent).seen[0][0].get_text_content() == "Be helpful. a b"


async def test_with_hooks_that_pass_everything_on_nothing_changes() -> None:
    """The events of an agent with such layers are those of one without, parked and resumed too."""
    calls = [call_of(call_id="c1"), call_of("Ask", call_id="c2"), call_of("Ext", call_id="c3")]
    tools = [Probe(), Probe("Ask", "ask"), Probe("Ext", external=True)]
    told = []
    for layers in ([], [Tracing("a", [])]):
        agent = agent_of(tools, calls, DONE, middlewares=layers)
        lines = outline(await events_of(agent, "go"))
        agent = reloaded(agent, tools, DONE)
        lines += outline(await events_of(agent, answer(agent, "c2")))
        told.append(lines)
    assert told[0] == told[1]


async def test_a_reply_hook_may_reply_in_the_agents_place() -> None:
    """Its words are the reply; the agent did nothing, and its state says so."""

    async def refuse(agent: Any, inputs: dict[str, Any], go_on: Next) -> AsyncGenerator[Any, None]:
        for event in said(agent, "We are closed."):
            yield event

    agent = agent_of([], middlewares=[Around(on_reply=refuse)])
    assert (await agent.reply(GO)).get_text_content() == "We are closed."
    assert agent.state.context == []


async def test_a_reply_hook_hears_the_message_last_and_may_change_the_input() -> None:
    """The last item is the message; what is overridden is what the agent replies to."""
    heard: list[Any] = []

    async def listen(agent: Any, inputs: dict[str, Any], go_on: Next) -> AsyncGenerator[Any, None]:
        async for item in go_on(inputs=UserMsg("user", "changed")):
            heard.append(item)
            yield item

    agent = agent_of([], DONE, middlewares=[Around(on_reply=listen)])
    events = [event async for event in agent.reply_stream(GO)]
    assert isinstance(heard[-1], Msg)
    assert not any(isinstance(event, Msg) for event in events)
    assert agent.state.context[0].get_text_content() == "changed"


@pytest.mark.parametrize("raises", [False, True])
async def test_a_cancellation_ends_the_reply_wherever_it_comes(raises: bool) -> None:
    """In a tool or in a hook: the reply ends in order, and the layers are closed."""
    notes: list[str] = []

    async def dawdle(agent: Any, inputs: dict[str, Any], go_on: Next) -> AsyncGenerator[Any, None]:
        try:
            async for event in go_on():
                yield event
                if getattr(event, "type", "") == EventType.TOOL_RESULT_END:
                    await asyncio.sleep(60)
        finally:
            notes.append("closed")

    config = ReActConfig(interruption_raise_cancelled_error=raises)
    agent = agent_of(
        [Probe()], [call_of()], DONE, config=config, middlewares=[Around(on_reply=dawdle)]
    )
    task = asyncio.create_task(events_of(agent, "go"))
    await asyncio.sleep(0.05)
    task.cancel()
    await asyncio.wait([task])
    assert task.cancelled() is raises
    assert notes == ["closed"]
    assert agent.state.context[-1].finished_reason is ReplyFinishedReason.INTERRUPTED


async def test_a_cancellation_before_the_reply_began_leaves_what_waits_waiting() -> None:
    """A hook that is cancelled before it goes on has not touched the parked reply."""

    async def wait_first(
        agent: Any, inputs: dict[str, Any], go_on: Next
    ) -> AsyncGenerator[Any, None]:
        await asyncio.sleep(60)
        async for event in go_on():
            yield event

    probe = Probe("Ask", "ask")
    agent = agent_of([probe], [call_of("Ask")])
    await events_of(agent, "go")
    agent.middlewares = (Around(on_reply=wait_first),)
    task = asyncio.create_task(events_of(agent, answer(agent, "c1")))
    await asyncio.sleep(0.02)
    task.cancel()
    await asyncio.wait([task])
    assert task.cancelled()
    assert calls_of(agent)["c1"].state is ToolCallState.ASKING


async def test_a_stream_that_is_closed_early_closes_every_layer() -> None:
    """Whoever stops listening has all layers cleaned up, from the inside out, at once."""
    notes: list[str] = []
    agent = agent_of(
        [Probe()], [call_of()], DONE, middlewares=[Tracing("a", notes), Tracing("b", notes)]
    )
    async with aclosing(agent.reply_stream(GO)) as stream:
        async for event in stream:
            if not isinstance(event, Msg) and event.type is EventType.TOOL_RESULT_TEXT_DELTA:
                break
    assert notes[-4:] == ["b acting out", "a acting out", "b reply out", "a reply out"]


async def test_a_middleware_brings_tools_for_its_own_agent_only() -> None:
    """They are told, decided and run; an agent with the same toolkit has none of them."""
    shared, brought = Toolkit([Probe()]), Probe("Brought", "ask")
    agent = Agent(
        "robot", "", DictatedModel([call_of("Brought")], DONE), shared, [WithTools(brought)]
    )
    other = Agent("other", "", DictatedModel([call_of("Brought")], DONE), shared)
    await events_of(agent, "go")
    again = Agent("robot", "", DictatedModel(DONE), shared, [WithTools(brought)], state=agent.state)
    await events_of(again, answer(again, "c1"))
    await other.reply(GO)
    assert brought.runs == ["hi"]
    assert model_of(agent).shown_tools == [["Probe", "Brought"]]
    assert model_of(other).shown_tools[0] == ["Probe"]
    assert "no tool named 'Brought'" in text_of(results_of(other)["c1"])
    assert await shared.get_tool("Brought") is None


async def test_a_rule_may_speak_of_a_middlewares_tool() -> None:
    """Rules are checked against all the tools that the agent has."""
    from agentscope_like.permission import PermissionRule

    brought = Probe("Brought", "ask")
    agent = agent_of([], [call_of("Brought")], DONE, middlewares=[WithTools(brought)])
    rule = PermissionRule(tool_name="Brought", behavior=PermissionBehavior.ALLOW)
    agent.state.permission_context.allow_rules["Brought"] = [rule]
    await agent.reply(GO)
    assert brought.runs == ["hi"]


async def test_two_tools_of_one_name_are_refused() -> None:
    """A middleware does not take the place of a tool that there is; nothing was done."""
    agent = agent_of([Probe()], middlewares=[WithTools(Probe())])
    with pytest.raises(ConfigurationError, match="two tools named 'Probe'"):
        await agent.reply(GO)
    assert agent.state.context == []


def test_what_is_no_middleware_is_refused() -> None:
    """A layer of a tool belongs to that tool; the message says so."""
    with pytest.raises(ConfigurationError, match="given to that tool"):
        agent_of([], middlewares=[cast("Any", LoggingMiddleware())])
    with pytest.raises(ConfigurationError, match="subclass MiddlewareBase"):
        agent_of([], middlewares=[cast("Any", object())])
