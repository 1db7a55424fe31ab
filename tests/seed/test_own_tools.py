"""Seed 002, "Create Custom Tool", "Wrap Function as Tool" and "External Execution Tool"."""

from __future__ import annotations

from typing import Any

import pytest

from agentscope_like.event import (
    EventType,
    ExternalExecutionResultEvent,
    RequireExternalExecutionEvent,
)
from agentscope_like.exception import ConfigurationError
from agentscope_like.message import TextBlock, ToolResultBlock, ToolResultState
from agentscope_like.permission import (
    PermissionBehavior,
    PermissionContext,
    PermissionDecision,
    PermissionMode,
)
from agentscope_like.state import AgentState
from agentscope_like.tool import FunctionTool, ToolBase, ToolChunk, Toolkit
from tests.agent.kit import agent_of, events_of, outline
from tests.seed.kit import (
    ALLOW,
    ASK,
    BYPASS,
    DEFAULT,
    DENY,
    DONE,
    DONT_ASK,
    EDITS,
    EXPLORE,
    Echo,
    call,
    call_of,
    decide,
    permitting,
    rule,
    run,
    said,
    state_of,
)


class Deploy(ToolBase):
    """A custom tool: looking is reading, and production is a matter of safety."""

    name = "Deploy"
    description = "Deploy to a target, or look at it."
    input_schema = {  # noqa: RUF012
        "type": "object",
        "properties": {"target": {"type": "string"}, "look": {"type": "boolean"}},
        "required": ["target"],
    }
    is_concurrency_safe = False
    is_read_only = False

    async def check_permissions(
        self, tool_input: dict[str, Any], context: PermissionContext
    ) -> PermissionDecision:
        if tool_input["target"].startswith("prod-"):
            return PermissionDecision(PermissionBehavior.ASK, "Production.", bypass_immune=True)
        return PermissionDecision(PermissionBehavior.PASSTHROUGH, "Deploys.")

    async def check_read_only(self, tool_input: dict[str, Any]) -> bool:
        return tool_input.get("look") is True

    async def call(self, target: str, look: bool = False) -> ToolChunk:
        return ToolChunk(content=[TextBlock(text=f"{'seen' if look else 'deployed'} {target}")])


# Create Custom Tool


async def test_002_custom_1_a_subclass_with_schema_check_and_call_is_a_tool() -> None:
    """An agent is told of it, it is decided about, and it runs."""
    agent = agent_of([Deploy()], [call_of("Deploy", target="staging")], DONE)
    agent.state.permission_context = permitting(rule("Deploy"))
    await events_of(agent, "Deploy.")
    assert agent.model.shown_tools[0] == ["Deploy"]  # type: ignore[attr-defined]
    (result,) = agent.state.context[-1].get_content_blocks("tool_result")
    assert "deployed staging" in str(result)


async def test_002_custom_2_whether_it_reads_may_depend_on_the_arguments() -> None:
    """`check_read_only` is asked of each call, before the modes that run reads allow it."""
    for mode, otherwise in ((EXPLORE, DENY), (EDITS, ASK)):
        look = await decide(Deploy(), mode=mode, target="staging", look=True)
        assert look.behavior is ALLOW
        assert (await decide(Deploy(), mode=mode, target="staging")).behavior is otherwise


@pytest.mark.parametrize(
    ("mode", "expected"), [(DEFAULT, ASK), (EDITS, ASK), (BYPASS, ALLOW), (DONT_ASK, DENY)]
)
async def test_002_custom_3_a_safety_check_is_not_silenced_by_rules(
    mode: PermissionMode, expected: PermissionBehavior
) -> None:
    """`bypass_immune` outlives allow rules; each mode does with it what the contract says."""
    allowed = rule("Deploy")
    assert (await decide(Deploy(), allowed, mode=mode, target="prod-eu")).behavior is expected
    assert (await decide(Deploy(), allowed, mode=mode, target="staging")).behavior is ALLOW


# Wrap Function as Tool


def forecast(city: str, days: int = 1, *, metric: bool = True) -> str:
    """Forecast the weather.

    Args:
        city: Where.
        days: How many days ahead.
        metric: Whether in Celsius.
    """
    return f"{city} {days} {metric}"


def test_002_function_1_name_description_and_schema_come_from_the_function() -> None:
    """From its name, its docstring and its type hints."""
    tool = FunctionTool(forecast)
    assert (tool.name, tool.description) == ("forecast", "Forecast the weather.")
    properties = tool.input_schema["properties"]
    assert {name: one["type"] for name, one in properties.items()} == {
        "city": "string",
        "days": "integer",
        "metric": "boolean",
    }
    assert properties["days"]["description"] == "How many days ahead."
    assert properties["days"]["default"] == 1
    assert tool.input_schema["required"] == ["city"]


async def test_002_function_2_what_was_extracted_can_be_overridden() -> None:
    """Name and description as given."""
    tool = FunctionTool(forecast, name="Weather", description="Says the weather.")
    state = state_of(permitting(rule("Weather")))
    assert await said(Toolkit([tool]), "Weather", state, city="Rome") == "Rome 1 True"
    assert tool.description == "Says the weather."


def test_002_function_3_defaults_of_its_properties() -> None:
    """Safe in parallel, not read-only, no state; each can be set."""
    plain = FunctionTool(forecast)
    assert plain.is_concurrency_safe is True
    assert plain.is_read_only is False
    assert plain.is_state_injected is False
    other = FunctionTool(forecast, is_concurrency_safe=False, is_read_only=True)
    assert (other.is_concurrency_safe, other.is_read_only) == (False, True)


async def test_002_function_4_the_state_is_injected_where_asked_for() -> None:
    """As `_agent_state`, which is no parameter for the model."""

    def whoami(_agent_state: AgentState) -> str:
        return _agent_state.session_id

    tool = FunctionTool(whoami, is_state_injected=True, description="Say who you are.")
    assert tool.input_schema["properties"] == {}
    state = state_of(permitting(rule("whoami")))
    assert await said(Toolkit([tool]), "whoami", state) == state.session_id


async def test_002_function_5_each_call_asks_until_it_is_allowed() -> None:
    """A plain ASK, which an allow rule silences."""
    tool = FunctionTool(forecast)
    opinion = await tool.check_permissions({"city": "Rome"}, permitting())
    assert (opinion.behavior, opinion.bypass_immune) == (ASK, False)
    toolkit = Toolkit([tool])
    assert await call(toolkit, "forecast", city="Rome") is None
    assert await call(toolkit, "forecast", city="Rome") is None
    allowed = state_of(permitting(rule("forecast")))
    assert await said(toolkit, "forecast", allowed, city="Rome") == "Rome 1 True"


# Define External Execution Tool


async def test_002_external_1_the_agent_asks_for_the_execution_and_pauses() -> None:
    """The stream ends with the event, without an end of the reply."""
    agent = agent_of([Echo(is_external_tool=True)], [call_of("Echo", text="x")], DONE)
    events = await events_of(agent, "Go.")
    last = events[-1]
    assert isinstance(last, RequireExternalExecutionEvent)
    assert [one.name for one in last.tool_calls] == ["Echo"]
    assert EventType.REPLY_END not in {event.type for event in events}


async def test_002_external_2_it_goes_on_with_the_delivered_result() -> None:
    """The result event is the model's result; a result for another call is refused."""
    agent = agent_of(
        [Echo(is_external_tool=True)], [call_of("Echo", text="x")], [TextBlock(text="Good.")]
    )
    await events_of(agent, "Go.")
    result = ToolResultBlock(id="c1", name="Echo", output="by hand", state=ToolResultState.SUCCESS)

    def delivered(block: ToolResultBlock) -> ExternalExecutionResultEvent:
        return ExternalExecutionResultEvent(
            reply_id=agent.state.reply_id, execution_results=[block]
        )

    with pytest.raises(ValueError, match="other"):
        await events_of(agent, delivered(result.model_copy(update={"id": "other"})))
    assert outline(await events_of(agent, delivered(result))) == [
        "TOOL_RESULT_END c1 success",
        "REPLY_END completed",
    ]
    assert "by hand" in str(agent.model.seen[-1])  # type: ignore[attr-defined]


async def test_002_external_3_there_is_no_call_to_write() -> None:
    """Called directly, such a tool says that its work is done outside."""

    class Outside(Echo):
        is_external_tool = True
        call = ToolBase.call

    with pytest.raises(NotImplementedError, match="RequireExternalExecutionEvent"):
        await run(Outside(), text="x")
    with pytest.raises(ConfigurationError, match="outside"):
        type("Mixed", (Outside,), {"is_state_injected": True})
