"""Arguments of very many values are refused early, in words that the model can act on."""

from __future__ import annotations

import json
import tracemalloc

import pytest

from agentscope_like.exception import ToolJSONDecodeError
from agentscope_like.message import ToolResultState
from agentscope_like.state import AgentState
from agentscope_like.tool import Toolkit
from agentscope_like.tool.arguments import MAX_VALUES, parse_arguments
from tests.tool.kit import Probe, call_of, outcome, text_of


@pytest.mark.parametrize("text", ["KEYS", '{"text":KEYS}', '{"text":[NUMBERS]}'])
async def test_very_many_values_are_a_recoverable_error(text: str) -> None:
    """The message says how many there may be; nothing is validated, and memory stays bounded."""
    keys = "{" + ",".join(f'"key{number}":1' for number in range(600_000)) + "}"
    text = text.replace("KEYS", keys).replace("NUMBERS", "1," * 1_000_000 + "1")
    tracemalloc.start()
    try:
        response = await outcome(Toolkit([Probe()]), call_of(arguments=text), AgentState())
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert response is not None
    assert response.state is ToolResultState.ERROR
    assert f"more than {MAX_VALUES:,} values" in text_of(response)
    assert peak < 200_000_000


def test_many_values_are_read() -> None:
    """The neighbour: as many as are allowed, and any number of commas in a text."""
    numbers = list(range(MAX_VALUES - 1))
    assert parse_arguments("Probe", json.dumps({"text": numbers})) == {"text": numbers}
    text = "," * 1_000_000
    assert parse_arguments("Probe", json.dumps({"text": text})) == {"text": text}
    with pytest.raises(ToolJSONDecodeError, match="more than"):
        parse_arguments("Probe", json.dumps({"text": [*numbers, 1, 2]}))


async def test_very_many_misfits_are_counted_up_to_a_limit() -> None:
    """Each of them is a message of its own, so they are not all made."""
    probe = Probe()
    probe.input_schema = {
        "type": "object",
        "properties": {"text": {"type": "array", "items": {"type": "string"}}},
    }
    text = json.dumps({"text": list(range(90_000))})
    response = await outcome(Toolkit([probe]), call_of(arguments=text), AgentState())
    assert "(and 997 more)" in text_of(response)
