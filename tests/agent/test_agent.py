"""The reply loop: rounds, failures of the model, interruptions."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from typing import Any

import pytest
from pydantic import ValidationError

from agentscope_like.agent import Agent, ContextConfig, ModelConfig, ReActConfig
from agentscope_like.event import EventType, UserInterruptEvent
from agentscope_like.exception import ConfigurationError, ModelError, ResumeError
from agentscope_like.message import (
    HintBlock,
    Msg,
    TextBlock,
    ToolCallState,
    ToolResultState,
    UserMsg,
)
from agentscope_like.model import ChatResponse, ChatUsage
from agentscope_like.tool import Bash
from agentscope_like.types import ErrorType, ReplyFinishedReason
from tests.agent.kit import (
    DictatedModel,
    agent_of,
    calls_of,
    events_of,
    outline,
    reloaded,
    results_of,
    text_of,
)
from tests.tool.kit import Probe, call_of, chunk_of

DONE = [TextBlock(text="All done.")]


async def test_a_reply_goes_on_until_the_model_calls_nothing() -> None:
    """Rounds of calls, then a text: the message holds all of it and says that it is complete."""
    probe = Probe()
    agent = agent_of([probe], [call_of(call_id="c1")], [call_of(call_id="c2")], DONE)
    message = await agent.reply(UserMsg("user", "go"))
    assert message.get_text_content() == "All done."
    assert message.finished_reason is ReplyFinishedReason.COMPLETED
    assert [block.type for block in message.content] == [
        "tool_call",
        "tool_result",
        "tool_call",
        "tool_result",
        "text",
    ]
    assert probe.runs == ["hi", "hi"]


async def test_the_model_is_told_the_prompt_the_context_and_the_results() -> None:
    """The second round sees the system prompt, the user's message and the first round's result."""
    agent = agent_of([Probe()], [call_of()], DONE)
    await agent.observe(UserMsg("user", "by the way"))
    await agent.reply(UserMsg("user", "go"))
    assert isinstance(agent.model, DictatedModel)
    told = agent.model.seen[1]
    assert [message.role for message in told] == ["system", "user", "user", "assistant"]
    assert told[-1].has_content_blocks("tool_result")


async def test_the_message_is_what_its_events_say() -> None:
    """Replaying the events into an empty message gives the message of the state."""
    agent = agent_of([Probe(), Probe("Ask", "ask")], [call_of(), call_of("Ask", call_id="c2")])
    events = await events_of(agent, "go")
    built = Msg(name="robot", role="assistant", content=[], id=agent.state.reply_id)
    for event in events:
        built.append_event(event)
    kept = agent.state.context[-1]
    as_told = [block.model_dump(exclude={"digest"}) for block in built.content]
    assert [block.model_dump(exclude={"digest"}) for block in kept.content] == as_told


async def test_a_stream_of_deltas_is_told_as_it_comes() -> None:
    """Parts are passed on at once; the whole at the end adds only what was not said yet."""

    async def stream() -> AsyncGenerator[ChatResponse, None]:
        for text in ("Hel", "lo"):
            yield ChatResponse(content=[TextBlock(id="t", text=text)], is_last=False)
        call = call_of(call_id="c1", arguments='{"text":')
        yield ChatResponse(content=[call], is_last=False)
        yield ChatResponse(content=[call.model_copy(update={"input": ' "hi"}'})], is_last=False)
        usage = ChatUsage(input_tokens=7, output_tokens=3, time=0.1)
        yield ChatResponse(
            content=[TextBlock(id="t", text="Hello"), call_of(), call_of(call_id="c2")],
            is_last=True,
            usage=usage,
        )

    probe = Probe()
    agent = agent_of([probe], stream, DONE)
    events = await events_of(agent, "go")
    deltas = [e.delta for e in events if e.type is EventType.TEXT_BLOCK_DELTA]
    assert deltas == ["Hel", "lo", "All done."]
    assert probe.runs == ["hi", "hi"]
    ends = [e for e in events if e.type is EventType.MODEL_CALL_END]
    assert (ends[0].input_tokens, ends[0].output_tokens) == (7, 3)


async def test_calls_that_may_run_side_by_side_do() -> None:
    """Two concurrent calls meet; two sequential ones never do."""
    for concurrent, expected in ((True, 2), (False, 1)):
        running: list[int] = [0, 0]

        async def meet(_: str, running: list[int] = running) -> AsyncGenerator[Any, None]:
            running[0] += 1
            running[1] = max(running)
            await asyncio.sleep(0.01)
            running[0] -= 1
            yield chunk_of("met")

        probe = Probe(work=meet, concurrent=concurrent)
        agent = agent_of([probe], [call_of(call_id="c1"), call_of(call_id="c2")], DONE)
        await agent.reply(UserMsg("user", "go"))
        assert running[1] == expected


async def test_every_result_begins_before_the_first_call_runs() -> None:
    """Whoever stores events before showing them knows what was running when a process died."""
    began: list[str] = []
    seen_at_start: list[list[str]] = []

    async def look(_: str) -> AsyncGenerator[Any, None]:
        seen_at_start.append(list(began))
        yield chunk_of("looked")

    agent = agent_of([Probe(work=look)], [call_of(call_id="c1"), call_of(call_id="c2")], DONE)
    async for event in agent.reply_stream(UserMsg("user", "go")):
        if not isinstance(event, Msg) and event.type is EventType.TOOL_RESULT_START:
            began += [event.tool_call_id]
    assert seen_at_start == [["c1", "c2"], ["c1", "c2"]]


async def test_an_id_that_was_used_before_gets_another() -> None:
    """A model that repeats a call id, in one response or later, confuses no results."""
    probe = Probe()
    first = call_of(arguments='{"text": "a"}')
    second = call_of(arguments='{"text": "b"}')
    third = call_of(arguments='{"text": "c"}')
    agent = agent_of([probe], [first, second], [third], DONE)
    await agent.reply(UserMsg("user", "go"))
    assert probe.runs == ["a", "b", "c"]
    assert sorted(results_of(agent)) == ["c1", "c1-2", "c1-3"]


async def test_an_empty_response_is_pointed_out_once() -> None:
    """The model is told; if it says nothing again, the reply ends with an error."""
    agent = agent_of([], [], DONE)
    message = await agent.reply(UserMsg("user", "go"))
    assert message.finished_reason is ReplyFinishedReason.COMPLETED
    assert any(isinstance(block, HintBlock) for block in message.content)
    silent = await agent_of([], [], [TextBlock(text=" ")]).reply(UserMsg("user", "go"))
    assert silent.finished_reason is ReplyFinishedReason.ERROR
    assert silent.error is not None
    assert silent.error.type is ErrorType.UPSTREAM


async def test_a_model_that_fails_ends_the_reply_and_not_the_session() -> None:
    """The reply ends with the error's kind; the next message is answered."""
    broken = ModelError("set OPENAI_API_KEY", type=ErrorType.AUTHENTICATION)
    agent = agent_of([], broken, DONE)
    failed = await agent.reply(UserMsg("user", "go"))
    assert failed.error is not None
    assert (failed.error.type, failed.error.message) == (ErrorType.AUTHENTICATION, broken.message)
    assert failed.get_text_content() == "The reply failed: set OPENAI_API_KEY"
    assert "The reply failed" not in agent.state.model_dump_json()
    assert (await agent.reply(UserMsg("user", "again"))).get_text_content() == "All done."


async def test_a_connection_lost_in_mid_stream_runs_nothing() -> None:
    """A call whose arguments broke off never runs; the text so far stays; the session goes on."""

    async def broken() -> AsyncGenerator[ChatResponse, None]:
        yield ChatResponse(content=[TextBlock(id="t", text="I will")], is_last=False)
        yield ChatResponse(content=[call_of(arguments='{"text": "hi"}')], is_last=False)
        raise ConnectionResetError("peer went away")

    probe = Probe()
    agent = agent_of([probe], broken, DONE)
    message = await agent.reply(UserMsg("user", "go"))
    assert message.finished_reason is ReplyFinishedReason.ERROR
    assert results_of(agent)["c1"].state is ToolResultState.INTERRUPTED
    assert "did not run" in text_of(results_of(agent)["c1"])
    assert (await agent.reply(UserMsg("user", "again"))).get_text_content() == "All done."
    assert probe.runs == []


async def test_a_fallback_model_answers_where_the_first_cannot() -> None:
    """It is taken only where the first has said nothing."""
    fallback = DictatedModel(DONE)
    first = DictatedModel(ModelError("down"), ModelError("down"))
    config = ModelConfig(max_retries=1, fallback_model=fallback)
    agent = Agent("robot", "", first, model_config=config)
    assert (await agent.reply(UserMsg("user", "go"))).get_text_content() == "All done."
    assert first.turns == []


async def test_rounds_are_bounded() -> None:
    """After `max_iters` rounds the reply says so and ends."""
    turns = [[call_of(call_id=f"c{n}")] for n in range(9)]
    probe = Probe()
    agent = agent_of([probe], *turns, config=ReActConfig(max_iters=3))
    lines = outline(await events_of(agent, "go"))
    assert lines[-2:] == ["EXCEED_MAX_ITERS", "REPLY_END exceed_max_iters"]
    assert len(probe.runs) == 3


async def endless(_: str) -> AsyncGenerator[Any, None]:
    """Tick for ever."""
    while True:
        yield chunk_of("tick ")
        await asyncio.sleep(0.01)


@pytest.mark.parametrize("raises", [False, True])
async def test_cancelling_interrupts_the_running_call(raises: bool) -> None:
    """The open call gets its result, the reply its end; the next message is answered."""
    config = ReActConfig(interruption_raise_cancelled_error=raises)
    agent = agent_of([Probe(work=endless)], [call_of()], DONE, config=config)
    seen: list[str] = []

    async def follow() -> None:
        async for event in agent.reply_stream(UserMsg("user", "go")):
            if not isinstance(event, Msg):
                seen.extend(outline([event]))

    task = asyncio.create_task(follow())
    await asyncio.sleep(0.1)
    task.cancel()
    await asyncio.wait([task])
    assert task.cancelled() is raises
    assert seen[-2:] == ["TOOL_RESULT_END c1 interrupted", "REPLY_END interrupted"]
    assert (await agent.reply(UserMsg("user", "again"))).get_text_content() == "All done."


async def test_a_stream_that_is_closed_early_leaves_nothing_open() -> None:
    """Whoever stops listening stops the call; the state says that it was interrupted."""
    closed = asyncio.Event()

    async def watched(_: str) -> AsyncGenerator[Any, None]:
        try:
            async for chunk in endless(""):
                yield chunk
        finally:
            closed.set()

    agent = agent_of([Probe(work=watched)], [call_of()], DONE)
    stream = agent.reply_stream(UserMsg("user", "go"))
    async for event in stream:
        if not isinstance(event, Msg) and event.type is EventType.TOOL_RESULT_TEXT_DELTA:
            break
    await stream.aclose()
    assert closed.is_set()
    assert results_of(agent)["c1"].state is ToolResultState.INTERRUPTED
    assert (await agent.reply(UserMsg("user", "again"))).get_text_content() == "All done."


async def test_one_reply_at_a_time() -> None:
    """A second reply while one is streamed is refused, and the first goes on."""
    agent = agent_of([Probe()], [call_of()], DONE)
    stream = agent.reply_stream(UserMsg("user", "go"))
    await anext(stream)
    with pytest.raises(ResumeError, match="replying already"):
        await agent.reply(UserMsg("user", "too"))
    rest = [event async for event in stream if not isinstance(event, Msg)]
    assert rest[-1].type is EventType.REPLY_END


async def test_a_call_that_was_running_when_the_process_died_is_never_run_again() -> None:
    """A state that shows a call as running is taken up with that call interrupted."""
    probe = Probe()
    agent = agent_of([probe], [call_of()])
    stream = agent.reply_stream(UserMsg("user", "go"))
    async for event in stream:
        if not isinstance(event, Msg) and event.type is EventType.TOOL_RESULT_START:
            break
    assert calls_of(agent)["c1"].state is ToolCallState.ALLOWED
    later = reloaded(agent, [probe], DONE)
    lines = outline(await events_of(later))
    assert lines == ["TOOL_RESULT_END c1 interrupted", "REPLY_END completed"]
    await stream.aclose()
    assert probe.runs == []


async def test_interrupting_an_idle_agent_does_nothing() -> None:
    """An interrupt with nothing to interrupt yields no event."""
    agent = agent_of([], DONE)
    await agent.reply(UserMsg("user", "go"))
    assert await events_of(agent, UserInterruptEvent(reply_id=agent.state.reply_id)) == []


async def test_the_final_message_is_yielded_on_request() -> None:
    """With `yield_final_msg` the last item is the message."""
    agent = agent_of([], DONE)
    items = [item async for item in agent.reply_stream(UserMsg("user", "go"), yield_final_msg=True)]
    assert items[-1] is agent.state.context[-1]


@pytest.mark.parametrize(
    ("wrong", "mend"),
    [
        ({"model": "gpt-5"}, "OpenAIChatModel"),
        ({"toolkit": [Bash()]}, r"Toolkit\(\["),
        ({"state": {}}, "model_validate_json"),
    ],
)
def test_what_is_no_part_of_an_agent_is_refused(wrong: dict[str, Any], mend: str) -> None:
    """A name in the place of a model and the like raise at once, with the mend in the message."""
    parts: dict[str, Any] = {"model": DictatedModel(), **wrong}
    with pytest.raises(ConfigurationError, match=mend):
        Agent("robot", "", **parts)


@pytest.mark.parametrize(
    ("config", "wrong", "meant"),
    [(ReActConfig, "max_iter", "max_iters"), (ContextConfig, "triger_ratio", "trigger_ratio")],
)
def test_a_misspelt_setting_is_told_the_nearest(
    config: Callable[..., object], wrong: str, meant: str
) -> None:
    """A setting that there is not is an error that names the one that was meant."""
    with pytest.raises(ValidationError, match=f"did you mean '{meant}'"):
        config(**{wrong: 1})
