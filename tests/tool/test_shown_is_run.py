"""What is shown is what runs: a yes holds for the arguments that the person saw."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from agentscope_like.event import ConfirmResult
from agentscope_like.message import ToolCallBlock, ToolCallState
from agentscope_like.permission import PermissionDecision
from agentscope_like.state import AgentState
from agentscope_like.tool import Toolkit
from agentscope_like.tool.call import as_decided
from tests.tool.kit import Probe, call_of


def rewriting(text: str) -> Any:
    """Return a layer that puts this in front of the text."""

    async def layer(request: Any, go_on: Any) -> PermissionDecision:
        said = request.arguments["text"]
        changed = request.with_arguments({"text": text + said})
        decision: PermissionDecision = await go_on(changed)
        return decision

    return layer


async def asked(*layers: Any) -> ToolCallBlock:
    """Return a call that asks, as it is stored."""
    call = call_of()
    await Toolkit([Probe(opinion="ask")], decision_layers=layers).decide(call, AgentState())
    assert call.state is ToolCallState.ASKING
    return ToolCallBlock.model_validate_json(call.model_dump_json())


async def answered(
    call: ToolCallBlock, *layers: Any, text: str | None = None, times: int = 1
) -> list[str]:
    """Return what ran after a yes, said `times` times in a new process."""
    probe, state = Probe(opinion="ask"), AgentState()
    toolkit = Toolkit([probe], decision_layers=layers)
    for number in range(times):
        changed = {} if text is None or number else {"input": text}
        answer = ConfirmResult(confirmed=True, tool_call=call.model_copy(update=changed))
        decided = await toolkit.confirm(call, answer, state)
        if decided.grant is None:
            assert call.state is ToolCallState.ASKING
            assert decided.decision is not None
            assert "were not shown before" in (decided.decision.decision_reason or "")
            continue
        async for _ in toolkit.run(decided.grant, state):
            pass
    return probe.runs


@pytest.mark.parametrize("layers", [(), (rewriting("worse "),)])
async def test_a_yes_to_what_a_layer_made_is_none_to_anything_else(layers: Any) -> None:
    """Without that layer, or with another one, the call asks again and shows what would run."""
    call = await asked(rewriting("nice "))
    assert await answered(call, *layers) == []
    shown = json.loads(as_decided(call).input)
    assert await answered(call, *layers) == [shown["text"]]


async def test_a_yes_to_what_a_layer_made_holds_with_that_layer() -> None:
    """The neighbour: the same layer makes the same of it, and that runs."""
    call = await asked(rewriting("nice "))
    assert await answered(call, rewriting("nice ")) == ["nice hi"]


async def test_an_answer_that_repeats_what_was_shown_is_no_edit() -> None:
    """A program may send back what it showed; the layer does not change it twice."""
    call = await asked(rewriting("nice "))
    text = as_decided(call).input
    assert await answered(call, rewriting("nice "), text=text) == ["nice hi"]


async def test_an_edit_that_a_layer_changes_is_shown_before_it_runs() -> None:
    """The person saw what they typed, and not what the layer makes of it."""
    call = await asked(rewriting("nice "))
    edit = '{"text": "bye"}'
    assert await answered(call, rewriting("nice "), text=edit) == []
    assert as_decided(call).input == '{"text": "nice bye"}'
    assert await answered(call, rewriting("nice ")) == ["nice bye"]
    assert await answered(await asked(), text=edit) == ["bye"]


@pytest.mark.parametrize("field", ["updated_input", "input"])
async def test_a_stored_question_that_shows_something_else_is_asked_again(field: str) -> None:
    """A state in which the shown arguments are not the digested ones approves nothing."""
    call = await asked()
    assert call.decision is not None
    if field == "input":
        call.input = '{"text": "worse"}'
    else:
        call.decision = replace(call.decision, updated_input={"text": "harmless"})
    assert await answered(call) == []


@pytest.mark.parametrize("value", [1, 1.0])
async def test_arguments_that_python_takes_for_equal_are_not_the_same(value: float) -> None:
    """`true`, 1 and 1.0 are three arguments: a yes to one is none to another."""

    def setting(flag: Any) -> Any:
        async def layer(request: Any, go_on: Any) -> PermissionDecision:
            changed = request.with_arguments({**request.arguments, "flag": flag})
            decision: PermissionDecision = await go_on(changed)
            return decision

        return layer

    probe, call, state = Probe(opinion="ask"), call_of(), AgentState()
    probe.input_schema = {"type": "object", "properties": {"text": {}, "flag": {}}}
    await Toolkit([probe], decision_layers=[setting(True)]).decide(call, state)
    toolkit = Toolkit([probe], decision_layers=[setting(value)])
    decided = await toolkit.confirm(call, ConfirmResult(confirmed=True, tool_call=call), state)
    assert decided.grant is None
