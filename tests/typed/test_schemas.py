"""The schemas of typed tools: for models, for servers, and from servers with nothing lost."""

from __future__ import annotations

import json
from typing import Any, Literal

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from jsonschema_rs import validator_for
from pydantic import Field

from agentscope_like.exception import ConfigurationError, ToolArgumentError
from agentscope_like.message import ToolResultState
from agentscope_like.tool import Toolkit, ToolSpec
from agentscope_like.typed import Action, Observation, ToolAnnotations, ToolDefinition
from tests.typed.kit import run, state_in, touch_tool


class Inner(Action):
    """A nested value."""

    size: int = Field(ge=1, le=5)


class Shape(Action):
    """Arguments of many types."""

    name: str = Field(description="Its name.", pattern="^[a-z]+$")
    colour: Literal["red", "blue"] = "red"
    inner: Inner | None = None
    tags: list[str] = Field(default_factory=list, max_length=3)


def shape_tool(**given: Any) -> ToolDefinition[Shape, Observation]:
    """Return a tool that takes a shape."""
    return ToolDefinition(name="shape", description="Takes a shape.", action_type=Shape, **given)


def test_a_model_is_told_all_of_the_schema() -> None:
    """Patterns, ranges, choices and nested values stand in the schema, and no `kind`."""
    told = shape_tool().to_openai_tool()
    assert told["type"] == "function"
    assert (told["function"]["name"], told["function"]["description"]) == (
        "shape",
        "Takes a shape.",
    )
    parameters = told["function"]["parameters"]
    assert list(parameters["properties"]) == ["name", "colour", "inner", "tags"]
    assert parameters["properties"]["name"]["pattern"] == "^[a-z]+$"
    assert parameters["properties"]["colour"]["enum"] == ["red", "blue"]
    assert parameters["$defs"]["Inner"]["properties"]["size"]["maximum"] == 5
    assert parameters["additionalProperties"] is False
    assert "kind" not in json.dumps(told)


def test_a_server_lists_a_tool() -> None:
    """The form of MCP has both schemas, the hints and the facts for programs."""
    hints = ToolAnnotations(title="Shape it", readOnlyHint=True)
    tool = shape_tool(annotations=hints, observation_type=Observation, meta={"a": 1})
    told = tool.to_mcp_tool()
    assert told["inputSchema"] == tool.input_schema
    assert "content" in told["outputSchema"]["properties"]
    assert told["annotations"]["title"] == "Shape it"
    assert told["annotations"]["readOnlyHint"] is True
    assert told["_meta"] == {"a": 1}


def test_schemas_are_built_once_and_nobody_changes_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """A caller that changes what it got changes nothing for the next one."""
    tool = shape_tool()
    first = tool.to_openai_tool()
    monkeypatch.setattr(ToolSpec, "to_openai", None)  # no longer needed
    first["function"]["parameters"]["properties"].clear()
    assert next(iter(tool.to_openai_tool()["function"]["parameters"]["properties"])) == "name"
    Shape.to_mcp_schema()["properties"].clear()
    assert Shape.to_mcp_schema()["properties"]


SCALARS = st.none() | st.booleans() | st.integers(-3, 3) | st.text("abx-_ ", max_size=3)
NAMES = st.sampled_from(
    ["a", "a-b", "a_b", "kind", "class", "json", "copy", "model_x", "_p", "1", "arguments", "é", ""]
)


def wider(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Return schemas that hold such schemas."""
    return st.one_of(
        st.builds(
            lambda items, n: {"type": "array", "items": items, "maxItems": n},
            inner,
            st.integers(0, 3),
        ),
        st.builds(lambda some: {"anyOf": some}, st.lists(inner, min_size=1, max_size=2)),
        st.builds(lambda one: {"oneOf": [one, {"const": "x"}]}, inner),
        st.builds(lambda one: {"not": one}, inner),
        objects(inner),
    )


def objects(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Return schemas of objects whose properties have such schemas."""

    def build(
        properties: dict[str, Any], required: list[str], extra: Any, definition: Any
    ) -> dict[str, Any]:
        schema: dict[str, Any] = {"type": "object", "properties": properties}
        if required:
            schema["required"] = required
        if extra is not None:
            schema["additionalProperties"] = extra
        if definition is not None:
            schema["$defs"] = {"it": definition}
        return schema

    return st.builds(
        build,
        st.dictionaries(NAMES, inner, max_size=4),
        st.lists(NAMES, max_size=2, unique=True),
        st.none() | st.booleans() | inner,
        st.none() | inner,
    )


LEAVES = st.one_of(
    st.just({}),
    st.booleans(),
    st.builds(lambda values: {"enum": values}, st.lists(SCALARS, min_size=1, max_size=3)),
    st.builds(lambda value: {"const": value}, SCALARS),
    st.builds(lambda low: {"type": "integer", "minimum": low}, st.integers(-2, 2)),
    st.builds(
        lambda size: {"type": "string", "maxLength": size, "default": "x"}, st.integers(0, 3)
    ),
    st.just({"type": "string", "pattern": "^a", "description": "begins with a"}),
    st.just({"type": ["string", "null"], "format": "date"}),
    st.just({"type": "boolean"}),
)
SCHEMAS = objects(st.recursive(LEAVES, wider, max_leaves=6))
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(NAMES, inner, max_size=2),
    max_leaves=4,
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@example({"type": "object", "properties": {"a-b": {}}}, [{"a_b": None}, {"a-b": 1, "a_b": 2}])
@given(SCHEMAS, st.lists(st.dictionaries(NAMES, VALUES, max_size=4), max_size=4))
def test_nothing_of_a_server_s_schema_is_lost(
    schema: dict[str, Any], values: list[dict[str, Any]]
) -> None:
    """The class gives the schema back as it was, and takes what it takes, unchanged."""
    action_type = Action.from_mcp_schema("thing", schema)
    assert json.dumps(action_type.to_mcp_schema()) == json.dumps(schema)
    tool: ToolDefinition[Any, Any] = ToolDefinition(
        name="thing", description="Does a thing.", action_type=action_type
    )
    assert json.dumps(tool.to_mcp_tool()["inputSchema"]) == json.dumps(schema)
    validator = validator_for(schema)
    for value in values:
        if validator.is_valid(value):
            action = tool.action_from_arguments(value)
            assert json.dumps(action.arguments, sort_keys=True) == json.dumps(value, sort_keys=True)
            assert Action.from_json(action.model_dump_json()) == action
        else:
            with pytest.raises(ToolArgumentError):
                tool.action_from_arguments(value)


async def test_a_server_s_schema_validates_a_call() -> None:
    """A call that the schema refuses does not run, in particular where models are too lax."""
    schema = {
        "type": "object",
        "properties": {
            "n": {"type": "integer", "maximum": 5},
            "mode": {"enum": ["a", "b"]},
            "deep": {"type": "object", "properties": {"x": {"const": 1}}, "required": ["x"]},
        },
        "additionalProperties": False,
    }
    tool: ToolDefinition[Any, Any] = ToolDefinition(
        name="thing",
        description="Does a thing.",
        action_type=Action.from_mcp_schema("thing", schema),
    )
    toolkit, state = Toolkit([tool]), state_in("bypass")
    for wrong in ({"n": 99}, {"n": "3"}, {"mode": "c"}, {"deep": {"x": 2}}, {"more": 1}):
        _call, response = await run(toolkit, "thing", json.dumps(wrong), state)
        assert response is not None
        assert response.state is ToolResultState.ERROR
        assert "do not fit" in response.content[0].text  # type: ignore[union-attr]
    assert tool.action_from_arguments({"n": 5, "deep": {"x": 1}}).n == 5


def test_a_schema_that_is_none_is_refused() -> None:
    """A schema that is not valid, or of no object, is refused where the class is made."""
    for schema in ({"type": "array"}, {"type": "object", "properties": {"a": {"type": "nope"}}}):
        with pytest.raises(ConfigurationError, match="thing"):
            Action.from_mcp_schema("thing", schema)


async def test_the_label_of_risk_is_told_first_and_avoids_the_tool_s_own_names() -> None:
    """The label is the first property, optional, and named as nothing in the schema is."""
    tool, _ = touch_tool(asks_for_risk=True)
    (told,) = [
        one["function"]["parameters"]
        for one in await Toolkit([tool]).get_tool_schemas()
        if one["function"]["name"] == "touch"
    ]
    assert next(iter(told["properties"])) == "security_risk"
    assert "security_risk" not in told.get("required", ())
    assert "security_risk" not in tool.input_schema["properties"]
    assert tool.to_openai_tool()["function"]["parameters"] == told

    class Risky(Action):
        security_risk: str

    own = ToolDefinition[Risky, Observation](
        name="risky", description="Takes a risk.", action_type=Risky
    )
    told = own.to_openai_tool(add_security_risk_prediction=True)["function"]["parameters"]
    assert list(told["properties"]) == ["security_risk_", "security_risk"]
    plain = own.to_openai_tool()["function"]["parameters"]
    assert list(plain["properties"]) == ["security_risk"]
