"""Older history replaced with a summary, so that the model can read the rest."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from pydantic import ValidationError

from agentscope_like.agent import Agent, ContextConfig, Offloader
from agentscope_like.event import AgentEvent, CustomEvent
from agentscope_like.exception import ConfigurationError, ModelError
from agentscope_like.message import (
    HintBlock,
    Msg,
    TextBlock,
    ToolCallBlock,
    ToolCallState,
    ToolResultBlock,
    UserMsg,
)
from agentscope_like.model.openai.formatter import format_messages
from agentscope_like.state import AgentState
from agentscope_like.tool import Toolkit
from tests.agent.kit import (
    UNTOLD,
    DictatedModel,
    Turn,
    answer,
    calls_of,
    events_of,
    model_of,
    outline,
    reloaded,
)
from tests.agent.layers import Around
from tests.tool.kit import Probe, call_of, chunk_of

DONE = [TextBlock(text="All done.")]
SUMMARY = {
    "task_overview": "Count the words.",
    "current_state": "Half of them.",
    "important_discoveries": "There are {many}.",
    "next_steps": "The other half.",
    "context_to_preserve": "",
}


def summing_up(**fields: str) -> list[ToolCallBlock]:
    """Return the turn in which the model writes a summary."""
    return [call_of("write_summary", json.dumps({**SUMMARY, **fields}), "s")]


def small_agent(
    *turns: Turn,
    tools: Sequence[Probe] = (),
    size: int = 1_000,
    middlewares: Sequence[Around] = (),
    offloader: Offloader | None = None,
    **config: Any,
) -> Agent:
    """Return an agent whose model reads `size` tokens."""
    model = DictatedModel(*turns)
    model.context_size = size
    return Agent(
        "robot",
        "Be helpful.",
        model,
        Toolkit(tools),
        middlewares,
        context_config=ContextConfig(**config),
        injection_config=UNTOLD,
        offloader=offloader,
    )


def talk(words: int, count: int = 4) -> list[Msg]:
    """Return a conversation of messages with about so many tokens each."""
    return [UserMsg("user", f"{n} " + "word" * words, id=f"m{n}") for n in range(count)]


def reports(events: Sequence[AgentEvent]) -> list[Any]:
    """Return what compressions told of themselves."""
    return [event.value for event in events if isinstance(event, CustomEvent)]


async def test_history_near_the_limit_is_summed_up_before_the_next_round() -> None:
    """The model writes the summary, which stands for the oldest messages from then on."""
    agent = small_agent(summing_up(), DONE)
    await agent.observe(talk(220))
    events = await events_of(agent, "go")
    model = model_of(agent)
    asked, told = model.seen
    assert model.shown_tools[0] == ["write_summary"]
    assert [m.id for m in asked[1:-1]] == ["m0", "m1", "m2", "m3"]
    assert "summary" in (asked[-1].get_text_content() or "")
    assert [m.role for m in told] == ["system", "user", "user"]
    summary = told[1].get_text_content() or ""
    assert "Count the words." in summary
    assert "There are {many}." in summary
    assert told[2].get_text_content() == "go"
    assert agent.state.summary == summary
    (report,) = reports(events)
    assert report["tokens_before"] > 800 > report["tokens_after"]


async def test_a_conversation_within_the_limit_is_left_alone() -> None:
    """Nothing is asked, nothing is removed."""
    agent = small_agent(DONE)
    await agent.observe(talk(150))
    assert reports(await events_of(agent, "go")) == []
    assert len(agent.state.context) == 6
    assert agent.state.summary == ""


async def test_the_latest_messages_are_kept_within_the_reserve() -> None:
    """As many of the latest ones as fit stay word for word."""
    agent = small_agent(summing_up(), DONE, reserve_ratio=0.5)
    await agent.observe(talk(200, count=5))
    await events_of(agent, "go")
    assert [m.id for m in agent.state.context[:-2]] == ["m3", "m4"]


async def test_a_second_summary_takes_the_first_one_in() -> None:
    """The model is shown the summary that it replaces."""
    agent = small_agent(summing_up(), DONE, summing_up(task_overview="More."), DONE)
    for _ in range(2):
        await agent.observe(talk(220))
        await events_of(agent, "go")
    asked = model_of(agent).seen[2]
    assert "Count the words." in (asked[1].get_text_content() or "")
    assert "More." in str(agent.state.summary)
    assert "Count the words." not in str(agent.state.summary)


def working(count: int, words: int) -> tuple[Probe, list[Turn]]:
    """Return a tool that says much, and turns that call it again and again."""

    async def work(text: str) -> Any:
        yield chunk_of(f"{text} " + "word" * words)

    turns: list[Turn] = [
        [
            TextBlock(id=f"t{n}", text=f"Round {n}."),
            call_of("Work", json.dumps({"text": f"a{n}"}), f"a{n}"),
            call_of("Work", json.dumps({"text": f"b{n}"}), f"b{n}"),
        ]
        for n in range(count)
    ]
    return Probe("Work", work=work), turns


async def test_a_long_reply_is_compressed_in_its_middle() -> None:
    """Rounds go as a whole: no call without its result, no result without its call; it goes on."""
    tool, turns = working(5, 100)
    agent = small_agent(*turns[:4], summing_up(), turns[4], DONE, tools=[tool])
    message = await agent.reply(UserMsg("user", "go"))
    assert tool.runs == [f"{kind}{n}" for n in range(5) for kind in "ab"]
    assert message is agent.state.context[-1]
    assert message.get_text_content("") == "Round 3.Round 4.All done."
    for seen in model_of(agent).seen:
        called = {b.id for m in seen for b in m.content if isinstance(b, ToolCallBlock)}
        ended = {b.id for m in seen for b in m.content if isinstance(b, ToolResultBlock)}
        assert called == ended
        format_messages(seen)


async def test_what_waits_is_never_removed() -> None:
    """Asking and submitted calls stay, with all of their round, and are answered afterwards."""
    tool, turns = working(2, 100)
    tools = [tool, Probe("Ask", "ask"), Probe("Ext", external=True)]
    waiting = [
        call_of("Work", '{"text": "c"}', "c"),
        call_of("Ask", call_id="q"),
        call_of("Ext", call_id="e"),
    ]
    agent = small_agent(*turns, waiting, tools=tools)
    await events_of(agent, "go")
    model_of(agent).turns = [summing_up()]
    before = [b.id for b in agent.state.context[-1].content[-5:]]
    await agent.compress_context(ContextConfig(trigger_ratio=0.02, reserve_ratio=0.01))
    assert [b.id for b in agent.state.context[-1].content] == before
    assert [call.state for call in calls_of(agent).values()] == [
        ToolCallState.FINISHED,
        ToolCallState.ASKING,
        ToolCallState.SUBMITTED,
    ]
    agent = reloaded(agent, tools, DONE)
    assert outline(await events_of(agent, answer(agent, "q"))) == [
        "TOOL_RESULT_START q",
        "TOOL_RESULT_END q success",
    ]


async def test_a_result_longer_than_the_model_can_read_is_cut_for_the_summary() -> None:
    """The request for the summary fits into the model whatever a tool returned."""
    tool, turns = working(1, 3_000)
    agent = small_agent(*turns, summing_up(), DONE, tools=[tool])
    agent.toolkit = Toolkit([tool], result_limit=None)
    message = await agent.reply(UserMsg("user", "go"))
    assert message.get_text_content() == "All done."
    model = model_of(agent)
    assert await model.count_tokens(model.seen[1]) < 1_000


async def test_compressing_may_be_asked_for_at_any_time() -> None:
    """Between replies it is done at once, whatever the length; with what the caller wishes."""
    agent = small_agent(summing_up(), size=10_000)
    await agent.observe(talk(400))
    await agent.compress_context(
        ContextConfig(reserve_ratio=0.05, compression_prompt="Sum up."),
        HintBlock(hint="Mind the names."),
    )
    asked = model_of(agent).seen[0][-1]
    assert asked.get_text_content("|") == "Sum up.|Mind the names."
    assert [m.id for m in agent.state.context] == ["m3"]


async def test_sage_t_23_a_tool_may_ask_for_it_in_the_middle_of_a_reply() -> None:
    """It is done before the model is called the next time, never under its hands."""

    async def work(text: str) -> Any:
        await agent.compress_context(ContextConfig(trigger_ratio=0.02, reserve_ratio=0.01))
        assert agent.state.summary == ""
        yield chunk_of("will do")

    agent = small_agent([call_of()], summing_up(), DONE, tools=[Probe(work=work)])
    await agent.observe(talk(10))
    await agent.reply(UserMsg("user", "go"))
    assert "Count the words." in str(agent.state.summary)
    assert agent.state.context[-1].get_text_content() == "All done."


async def test_nothing_is_summed_up_where_all_is_within_the_reserve() -> None:
    """The model is not called."""
    agent = small_agent()
    await agent.observe(talk(5))
    await agent.compress_context()
    assert model_of(agent).seen == []


async def test_a_summary_in_mere_text_counts_too() -> None:
    """Where the model does not call the tool, what it says is the summary."""
    agent = small_agent([TextBlock(text="We counted words.")], DONE)
    await agent.observe(talk(220))
    await events_of(agent, "go")
    assert "We counted words." in str(agent.state.summary)


@pytest.mark.parametrize("turn", [ModelError("down"), [], [TextBlock(text=" ")]])
async def test_without_a_summary_nothing_is_removed(turn: Turn) -> None:
    """Asked for, that is an error; in a reply it is logged, and the reply goes on as it is."""
    agent = small_agent(turn, DONE)
    await agent.observe(talk(220))
    with pytest.raises(ModelError):
        await agent.compress_context()
    assert len(agent.state.context) == 4
    model_of(agent).turns = [turn, DONE]
    assert (await agent.reply(UserMsg("user", "go"))).get_text_content() == "All done."
    assert len(agent.state.context) == 6


async def test_a_hook_surrounds_the_compression() -> None:
    """It may change what is kept, or do without."""
    seen: list[list[str]] = []

    async def adjust(agent: Any, inputs: dict[str, Any], go_on: Callable[..., Any]) -> None:
        seen.append(list(inputs))
        await go_on(context_config=ContextConfig(reserve_ratio=0.5))

    async def skip(agent: Any, inputs: dict[str, Any], go_on: Callable[..., Any]) -> None:
        return

    for hook, kept in ((adjust, ["m2", "m3"]), (skip, ["m0", "m1", "m2", "m3"])):
        agent = small_agent(
            *([summing_up()] if hook is adjust else []),
            DONE,
            middlewares=[Around(on_compress_context=hook)],
        )
        await agent.observe(talk(220))
        await events_of(agent, "go")
        assert [m.id for m in agent.state.context[:-2]] == kept
    assert seen == [["context_config", "instructions"]]


async def test_a_schema_and_a_template_of_ones_own() -> None:
    """The summary has the properties of the schema, and is told as the template says."""
    schema = {"type": "object", "properties": {"gist": {"type": "string"}}}
    turn = [call_of("write_summary", '{"gist": "words"}', "s")]
    agent = small_agent(turn, DONE, summary_schema=schema, summary_template="So far: {gist}.")
    await agent.observe(talk(220))
    await events_of(agent, "go")
    assert agent.state.summary == "So far: words."
    for config in (
        ContextConfig(summary_schema={"type": "array"}),
        ContextConfig(summary_template="{nope}"),
    ):
        model_of(agent).turns = [summing_up()]
        await agent.observe(talk(220))
        with pytest.raises(ConfigurationError, match="summary_"):
            await agent.compress_context(config)


@pytest.mark.parametrize(
    "numbers",
    [
        {"trigger_ratio": 0},
        {"trigger_ratio": 1.5},
        {"reserve_ratio": 0.8},
        {"tool_result_limit": 0},
        {"max_image_num": -1},
        {"triger_ratio": 0.5},
    ],
)
def test_a_setting_that_cannot_work_is_refused(numbers: dict[str, float]) -> None:
    """Numbers out of range, and names that there are not, are errors."""
    with pytest.raises(ValidationError):
        ContextConfig(**numbers)  # type: ignore[arg-type]


async def test_the_compressed_state_survives_a_restart() -> None:
    """The summary and what was kept are part of the state's JSON."""
    agent = small_agent(summing_up(), DONE)
    await agent.observe(talk(220))
    await events_of(agent, "go")
    state = AgentState.model_validate_json(agent.state.model_dump_json())
    assert state == agent.state
    later = small_agent(DONE)
    later.state = state
    await later.reply(UserMsg("user", "again"))
    assert "Count the words." in (model_of(later).seen[0][1].get_text_content() or "")
