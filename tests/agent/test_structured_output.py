"""Answers that have to fit a schema."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel, field_validator

from agentscope_like.agent import ReActConfig
from agentscope_like.event import AgentEvent, HintBlockEvent, ReplyEndEvent
from agentscope_like.exception import ConfigurationError
from agentscope_like.message import (
    Msg,
    TextBlock,
    ToolCallBlock,
    ToolCallState,
    ToolResultState,
    UserMsg,
)
from agentscope_like.permission import PermissionBehavior, PermissionMode, PermissionRule
from agentscope_like.state import AgentState
from agentscope_like.types import ReplyFinishedReason
from tests.agent.kit import (
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
from tests.tool.kit import Probe, call_of

GO = UserMsg("user", "go")
FINISH = "generate_structured_output"


class City(BaseModel):
    """A city; its name has to begin with a capital."""

    name: str
    people: int = 0

    @field_validator("name")
    @classmethod
    def capital(cls, value: str) -> str:
        """Refuse a name that does not begin with a capital."""
        if not value[:1].isupper():
            raise ValueError("it begins with a capital")
        return value


SCHEMA = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "people": {"type": "integer"}},
    "required": ["name"],
}


def finish(arguments: str, call_id: str = "f1") -> ToolCallBlock:
    """Return the call by which the model gives its answer."""
    return call_of(FINISH, arguments, call_id)


@pytest.mark.parametrize(
    ("schema", "output"),
    [(City, {"name": "Ulm", "people": 0}), (SCHEMA, {"name": "Ulm"})],
)
async def test_the_answer_is_data_that_fits_the_schema(schema: Any, output: dict[str, Any]) -> None:
    """The model's call of the finishing tool ends the reply, without another round."""
    agent = agent_of([Probe()], [call_of()], [finish('{"name": "Ulm"}')])
    message = await agent.reply(GO, structured_schema=schema)
    assert message.structured_output == output
    assert message.finished_reason is ReplyFinishedReason.COMPLETED
    assert agent.state.reply_context.structured_output == output
    assert model_of(agent).shown_tools == [["Probe", FINISH]] * 2
    assert model_of(agent).choices == [None, None]


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ('{"name": 3}', "name: "),
        ('{"nam": "Ulm"}', "did you mean 'name'"),
        ('{"name": "ulm"}', "begins with a capital"),
        ("{", "JSON"),
    ],
)
async def test_an_answer_that_does_not_fit_goes_back_to_the_model(wrong: str, told: str) -> None:
    """It is told what does not fit, and tries again."""
    agent = agent_of([], [finish(wrong)], [finish('{"name": "Ulm"}', "f2")])
    message = await agent.reply(GO, structured_schema=City)
    assert results_of(agent)["f1"].state is ToolResultState.ERROR
    assert told in text_of(results_of(agent)["f1"])
    assert message.structured_output == {"name": "Ulm", "people": 0}


def hints(events: list[AgentEvent]) -> int:
    """Return how often the model was urged."""
    return sum(isinstance(event, HintBlockEvent) for event in events)


async def test_an_answer_in_mere_text_is_not_enough() -> None:
    """The model is told to call the finishing tool, and must."""
    agent = agent_of([], [TextBlock(text="Ulm.")], [finish('{"name": "Ulm"}')])
    message = await agent.reply(GO, structured_schema=SCHEMA)
    assert message.structured_output == {"name": "Ulm"}
    choices = model_of(agent).choices
    assert [choice and choice.mode for choice in choices] == [None, FINISH]


@pytest.mark.parametrize("grace", [0, 2])
async def test_a_model_that_never_gives_it_fails_after_the_grace(grace: int) -> None:
    """The reply ends with an error that says so; the next message is answered."""
    turns = [[TextBlock(text=f"Ulm {n}.")] for n in range(grace + 2)]
    config = ReActConfig(structured_output_grace_iters=grace)
    agent = agent_of([], *turns, config=config)
    message = await agent.reply(GO, structured_schema=SCHEMA)
    assert message.finished_reason is ReplyFinishedReason.ERROR
    assert message.error is not None
    assert "no structured output" in message.error.message
    assert len(model_of(agent).turns) == 1
    assert (await agent.reply(GO)).finished_reason is ReplyFinishedReason.COMPLETED


async def test_beyond_the_rounds_there_is_grace_to_give_the_answer() -> None:
    """After `max_iters` rounds the model must answer, and has a few rounds to do so."""
    turns = [[call_of(call_id=f"c{n}")] for n in range(2)]
    config = ReActConfig(max_iters=2, structured_output_grace_iters=2)
    agent = agent_of([Probe()], *turns, [finish('{"name": "Ulm"}')], config=config)
    message = await agent.reply(GO, structured_schema=SCHEMA)
    assert message.structured_output == {"name": "Ulm"}
    stubborn = agent_of([Probe()], *turns, *[[call_of(call_id=f"d{n}")] for n in range(3)])
    stubborn.react_config = config
    lines = outline([e async for e in stubborn.reply_stream(GO, SCHEMA) if not isinstance(e, Msg)])
    assert lines[-2:] == ["EXCEED_MAX_ITERS", "REPLY_END exceed_max_iters"]
    assert stubborn.state.cur_iter == 4


async def test_the_output_is_told_by_the_last_event() -> None:
    """Whoever replays the events gets the message with its output."""
    agent = agent_of([], [finish('{"name": "Ulm"}')])
    events = [e async for e in agent.reply_stream(GO, SCHEMA) if not isinstance(e, Msg)]
    assert isinstance(events[-1], ReplyEndEvent)
    assert events[-1].structured_output == {"name": "Ulm"}
    built = Msg(name="robot", role="assistant", content=[], id=agent.state.reply_id)
    for event in events:
        built.append_event(event)
    assert built.structured_output == {"name": "Ulm"}
    assert hints(events) == 0


async def test_a_reply_that_waits_keeps_its_schema_over_restarts() -> None:
    """The answer of a person comes to another process; the schema is in the state."""
    calls = [call_of("Ask", call_id="c1"), finish('{"name": "Ulm"}')]
    tools = [Probe("Ask", "ask")]
    agent = agent_of(tools, calls)
    await agent.reply(GO, structured_schema=City)
    assert calls_of(agent)["f1"].state is ToolCallState.FINISHED
    agent = reloaded(agent, tools)
    assert await events_of(agent) != []
    agent = reloaded(agent, tools)
    message = await agent.reply(answer(agent, "c1"))
    assert message.structured_output == {"name": "Ulm", "people": 0}


async def test_a_class_given_anew_validates_what_the_stored_schema_cannot() -> None:
    """Stored as JSON a model class is its schema; its validators count where it is given again."""
    for given, expected in ((None, "ulm"), (City, "Ulm")):
        tools = [Probe("Ask", "ask")]
        agent = agent_of(tools, [call_of("Ask", call_id="c1")])
        await agent.reply(GO, structured_schema=City)
        turns = [[finish('{"name": "ulm"}')], [finish('{"name": "Ulm"}', "f2")]]
        agent = reloaded(agent, tools, *turns)
        message = await agent.reply(answer(agent, "c1"), structured_schema=given)
        assert message.structured_output is not None
        assert message.structured_output["name"] == expected


async def test_a_process_that_died_after_the_answer_ends_the_reply_without_asking_again() -> None:
    """The output is in the state as soon as the finishing tool has run."""
    agent = agent_of([], [finish('{"name": "Ulm"}')])
    stream = agent.reply_stream(GO, SCHEMA)
    async for event in stream:
        if not isinstance(event, Msg) and event.type == "TOOL_RESULT_END":
            break
    stored = agent.state.model_dump_json()
    await stream.aclose()
    later = agent_of([], state=AgentState.model_validate_json(stored))
    message = await later.reply()
    assert message.structured_output == {"name": "Ulm"}
    assert model_of(later).seen == []


async def test_the_next_reply_has_no_schema_unless_it_is_given_one() -> None:
    """The finishing tool is there for the reply that asked for it only."""
    agent = agent_of([], [finish('{"name": "Ulm"}')], [TextBlock(text="Hello.")])
    await agent.reply(GO, structured_schema=SCHEMA)
    message = await agent.reply(GO)
    assert message.structured_output is None
    assert model_of(agent).shown_tools == [[FINISH], []]


@pytest.mark.parametrize("mode", list(PermissionMode))
async def test_answering_needs_no_permission(mode: PermissionMode) -> None:
    """In every mode the answer is given, past a rule that asks; a deny rule alone keeps it back."""
    rule = PermissionRule(tool_name=FINISH, behavior=PermissionBehavior.ASK)
    agent = agent_of([], [finish('{"name": "Ulm"}')])
    agent.state.permission_context.mode = mode
    agent.state.permission_context.ask_rules[FINISH] = [rule]
    assert (await agent.reply(GO, structured_schema=SCHEMA)).structured_output is not None


async def test_a_deny_rule_keeps_even_the_answer_back() -> None:
    """Deny is final."""
    rule = PermissionRule(tool_name=FINISH, behavior=PermissionBehavior.DENY)
    config = ReActConfig(max_iters=1, structured_output_grace_iters=0)
    agent = agent_of([], [finish('{"name": "Ulm"}')], config=config)
    agent.state.permission_context.deny_rules[FINISH] = [rule]
    message = await agent.reply(GO, structured_schema=SCHEMA)
    assert message.structured_output is None
    assert results_of(agent)["f1"].state is ToolResultState.DENIED


@pytest.mark.parametrize("schema", [{"type": "string"}, {"type": "object"}, "City", int])
async def test_a_schema_that_is_not_one_of_an_object_is_refused(schema: Any) -> None:
    """The developer is told at once, and nothing was done."""
    agent = agent_of([])
    with pytest.raises(ConfigurationError, match="structured_schema"):
        await agent.reply(GO, structured_schema=schema)
    assert agent.state.context == []
