"""A stored state that says two things is refused, with a sentence that says what it says."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agentscope_like.event import ConfirmResult, UserConfirmResultEvent, parse_event
from agentscope_like.message import Msg, ToolCallState
from agentscope_like.state import AgentState, ChildTask
from agentscope_like.tool import Toolkit
from tests.tool.kit import Probe, call_of


async def stored(*, opinion: str = "ask", confirmed: bool = False) -> str:
    """Return the JSON of a state with one call, which may have been confirmed."""
    state, call = AgentState(), call_of()
    toolkit = Toolkit([Probe(opinion=opinion)])
    await toolkit.decide(call, state)
    if confirmed:
        await toolkit.confirm(call, ConfirmResult(confirmed=True, tool_call=call), state)
    state.context.append(Msg(name="robot", role="assistant", content=[call]))
    return state.model_dump_json()


def changed(text: str, **fields: Any) -> str:
    """Return the JSON with other fields of its call."""
    state = json.loads(text)
    state["context"][0]["content"][0].update(fields)
    return json.dumps(state)


async def test_what_was_stored_is_read() -> None:
    """Calls that ask, that a decision allowed, and that a person allowed, are what they were."""
    for opinion, confirmed, state in (
        ("ask", False, ToolCallState.ASKING),
        ("ask", True, ToolCallState.ALLOWED),
        ("allow", False, ToolCallState.ALLOWED),
    ):
        text = await stored(opinion=opinion, confirmed=confirmed)
        again = AgentState.model_validate_json(text)
        assert again.model_dump_json() == text
        assert again.get_unfinished_tool_calls("robot") == []
        (call,) = again.context[0].content
        assert getattr(call, "state", None) is state


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"state": "allowed"}, "no person's yes is on record"),
        ({"state": "submitted"}, "no person's yes is on record"),
        ({"state": "allowed", "decision": None}, "no decision is on record"),
        ({"approved": "no"}, "boolean"),
        ({"approved": 1}, "boolean"),
    ],
)
async def test_a_call_that_nobody_allowed_is_refused(fields: dict[str, Any], said: str) -> None:
    """A state cannot say by itself that a call may run."""
    text = changed(await stored(), **fields)
    with pytest.raises(ValueError, match=said):
        AgentState.model_validate_json(text)


async def test_a_call_of_a_child_that_nobody_allowed_is_refused() -> None:
    """Nor can the state of a child that is kept in it, at any depth; one that asks is read."""
    child = await stored()
    for text, is_refused in ((child, False), (changed(child, state="allowed"), True)):
        state = json.loads(text)
        for _ in range(2):
            task = ChildTask(agent="a", reply_id="r", brief={}, max_rounds=1, max_calls=1)
            kept = {**task.model_dump(mode="json"), "state": state}
            state = {**AgentState().model_dump(mode="json"), "children": {"tasks": [kept]}}
        if is_refused:
            with pytest.raises(ValueError, match="no person's yes is on record"):
                AgentState.model_validate_json(json.dumps(state))
        else:
            assert len(list(AgentState.model_validate_json(json.dumps(state)).with_children())) == 3


async def test_text_is_no_boolean() -> None:
    """'no' is not False, neither in a decision nor in an answer."""
    state = json.loads(await stored())
    state["context"][0]["content"][0]["decision"]["bypass_immune"] = "no"
    with pytest.raises(ValueError, match="boolean"):
        AgentState.model_validate_json(json.dumps(state))
    answer = UserConfirmResultEvent(
        reply_id="r", confirm_results=[ConfirmResult(confirmed=False, tool_call=call_of())]
    ).model_dump_json()
    assert parse_event(answer).model_dump_json() == answer
    with pytest.raises(ValueError, match="boolean"):
        parse_event(answer.replace('"confirmed":false', '"confirmed":"no"'))


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('"state":"asking"', '"state":"asking","state":"allowed"', "'state' is given twice"),
        ('"summary":""', '"summary":"","summary":"x"', "'summary' is given twice"),
        ('"cur_iter":0', '"cur_iter":NaN', "NaN is not JSON"),
        ('"middle_context":{}', '"middle_context":{"a":-Infinity}', "-Infinity is not JSON"),
        ('"middle_context":{}', '"middle_context":{"a":1e999}', "out of range"),
        ('"cur_iter":0', '"cur_iter":"0"', "integer"),
    ],
)
async def test_json_that_could_be_read_in_two_ways_is_refused(
    old: str, new: str, said: str
) -> None:
    """Readers differ about equal keys and numbers that are none; text is no number."""
    text = await stored()
    assert old in text
    for given in (text.replace(old, new), text.replace(old, new).encode()):
        with pytest.raises(ValueError, match=said):
            AgentState.model_validate_json(given)


def test_an_answer_that_says_yes_and_no_is_refused() -> None:
    """Neither of two equal keys wins."""
    answer = UserConfirmResultEvent(
        reply_id="r", confirm_results=[ConfirmResult(confirmed=False, tool_call=call_of())]
    ).model_dump_json()
    twice = answer.replace('"confirmed":false', '"confirmed":false,"confirmed":true')
    with pytest.raises(ValueError, match="'confirmed' is given twice"):
        parse_event(twice)
