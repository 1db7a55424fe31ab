"""Layers around reasoning and around calling the model."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from typing import Any

from agentscope_like.event import (
    EventType,
    HintBlockEvent,
)
from agentscope_like.exception import ModelError
from agentscope_like.message import (
    HintBlock,
    TextBlock,
    ToolResultState,
    UserMsg,
)
from agentscope_like.model import ChatResponse
from agentscope_like.types import ReplyFinishedReason
from tests.agent.kit import (
    DictatedModel,
    agent_of,
    model_of,
    results_of,
)
from tests.agent.layers import Around, once, said
from tests.tool.kit import Probe, call_of

DONE = [TextBlock(text="All done.")]
GO = UserMsg("user", "go")
Next = Callable[..., Any]


async def breaking_off() -> AsyncGenerator[ChatResponse, None]:
    """Begin a call whose arguments happen to be whole, and fail."""
    yield ChatResponse(content=[call_of(arguments='{"text": "rm"}')], is_last=False)
    raise ModelError("gone")


async def test_a_reasoning_hook_may_choose_what_must_be_called() -> None:
    """`tool_choice` reaches the model."""

    async def force(agent: Any, inputs: dict[str, Any], go_on: Next) -> AsyncGenerator[Any, None]:
        from agentscope_like.tool import ToolChoice

        async for event in go_on(tool_choice=ToolChoice(mode="required")):
            yield event

    agent = agent_of([Probe()], DONE, middlewares=[Around(on_reasoning=force)])
    await agent.reply(GO)
    assert [choice and choice.mode for choice in model_of(agent).choices] == ["required"]


async def test_what_a_reasoning_hook_says_is_part_of_the_reply() -> None:
    """Without `next_handler` the model is not called, and the hook's words end the reply."""

    async def speak(agent: Any, inputs: dict[str, Any], go_on: Next) -> AsyncGenerator[Any, None]:
        for event in said(agent, "I know that."):
            yield event

    agent = agent_of([], middlewares=[Around(on_reasoning=speak)])
    message = await agent.reply(GO)
    assert message.get_text_content() == "I know that."
    assert message.finished_reason is ReplyFinishedReason.COMPLETED
    assert agent.state.context[-1] is message


async def test_a_hint_of_a_reasoning_hook_is_kept_once() -> None:
    """One that it puts into the state by itself and tells of is not there twice."""

    async def hint(agent: Any, inputs: dict[str, Any], go_on: Next) -> AsyncGenerator[Any, None]:
        block = HintBlock(hint="It is Friday.", source="calendar")
        agent.state.append_context(agent.name, [block])
        yield HintBlockEvent(
            reply_id=agent.state.reply_id, block_id=block.id, source=block.source, hint=block.hint
        )
        yield HintBlockEvent(reply_id=agent.state.reply_id, block_id="b", hint="It rains.")
        async for event in go_on():
            yield event

    agent = agent_of([], DONE, middlewares=[Around(on_reasoning=hint)])
    await agent.reply(GO)
    hints = [b.hint for b in agent.state.context[-1].content if isinstance(b, HintBlock)]
    assert hints == ["It is Friday.", "It rains."]
    assert [b.type for b in model_of(agent).seen[0][-1].content] == ["hint", "hint"]


async def test_a_call_that_broke_off_never_runs_whatever_a_hook_makes_of_it() -> None:
    """A hook that swallows the failure, stops listening or gives up waiting revives no call."""

    async def swallow(agent: Any, inputs: dict[str, Any], go_on: Next) -> AsyncGenerator[Any, None]:
        try:
            async for event in go_on():
                yield event
        except ModelError:
            return

    async def stop(agent: Any, inputs: dict[str, Any], go_on: Next) -> AsyncGenerator[Any, None]:
        async for event in go_on():
            yield event
            if event.type is EventType.TOOL_CALL_DELTA:
                return

    async def give_up(agent: Any, inputs: dict[str, Any], go_on: Next) -> AsyncGenerator[Any, None]:
        stream = go_on()
        for _ in range(3):
            yield await anext(stream)
        try:
            async with asyncio.timeout(0.01):
                await anext(stream)
        except TimeoutError:
            return

    async def hanging() -> AsyncGenerator[ChatResponse, None]:
        yield ChatResponse(content=[call_of(arguments='{"text": "rm"}')], is_last=False)
        await asyncio.sleep(60)

    for hook, turn in ((swallow, breaking_off), (stop, breaking_off), (give_up, hanging)):
        probe = Probe()
        agent = agent_of([probe], turn, DONE, middlewares=[Around(on_reasoning=once(hook))])
        message = await agent.reply(GO)
        assert probe.runs == []
        assert results_of(agent)["c1"].state is ToolResultState.INTERRUPTED
        assert message.get_text_content() == "All done."


async def test_a_model_hook_may_take_another_model_or_answer_itself() -> None:
    """What it overrides reaches the model; what it returns without one is the answer."""
    other = DictatedModel([TextBlock(text="The other one.")])

    async def route(agent: Any, inputs: dict[str, Any], go_on: Next) -> Any:
        return await go_on(current_model=other)

    async def cached(agent: Any, inputs: dict[str, Any], go_on: Next) -> Any:
        return ChatResponse(content=[TextBlock(text="From the cache.")], is_last=True)

    async def nonsense(agent: Any, inputs: dict[str, Any], go_on: Next) -> Any:
        return "text"

    for hook, text in ((route, "The other one."), (cached, "From the cache.")):
        agent = agent_of([], middlewares=[Around(on_model_call=hook)])
        assert (await agent.reply(GO)).get_text_content() == text
    failed = await agent_of([], middlewares=[Around(on_model_call=nonsense)]).reply(GO)
    assert failed.error is not None
    assert "not an answer" in failed.error.message
