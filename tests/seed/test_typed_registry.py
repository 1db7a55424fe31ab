"""The document "Tool System" (seed 004): the registry."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Self

import pytest

from agentscope_like.exception import ConfigurationError
from agentscope_like.message import ToolResultState
from agentscope_like.state import AgentState
from agentscope_like.tool import Toolkit
from agentscope_like.typed import (
    Action,
    Observation,
    Tool,
    ToolConversation,
    ToolDefinition,
    ToolExecutor,
    ToolRegistry,
    find_tools,
    list_registered_tools,
    register_tool,
    resolve_tool,
    unregister_tool,
)
from tests.seed.kit import BYPASS, call, permitting, state_of


class SayAction(Action):
    """What to say."""

    text: str


class SayExecutor(ToolExecutor[SayAction, Observation]):
    """Says it after its greeting."""

    def __init__(self, greeting: str = "hello", state: AgentState | None = None) -> None:
        self.greeting = greeting
        self.state = state

    def __call__(
        self, action: SayAction, conversation: ToolConversation | None = None
    ) -> Observation:
        return Observation.from_text(f"{self.greeting} {action.text}")


class SayTool(ToolDefinition[SayAction, Observation]):
    """Says a text."""

    description = "Says a text."

    @classmethod
    def create(
        cls, conv_state: AgentState | None = None, greeting: str = "hello", **params: Any
    ) -> Sequence[Self]:
        return [cls(executor=SayExecutor(greeting, conv_state), **params)]


@pytest.fixture
def say() -> Iterator[str]:
    """Register the class in the process for the time of a test."""
    register_tool("seed_say", SayTool)
    yield "seed_say"
    unregister_tool("seed_say")


def test_004_29_tools_are_found_by_name_or_pattern(say: str) -> None:
    """What is registered is listed, and becomes specifications."""
    assert say in list_registered_tools()
    assert find_tools("seed_*") == [Tool(name=say)]
    assert list_registered_tools("other_*") == []


def test_004_30_a_specification_has_a_name_and_parameters() -> None:
    """It can be written down as JSON, and read again."""
    spec = Tool(name="say", params={"greeting": "hi"})
    assert Tool.model_validate_json(spec.model_dump_json()) == spec
    assert Tool(name="say").params == {}


def test_004_31_specifications_become_definitions(say: str) -> None:
    """Each as its registration says."""
    (tool,) = resolve_tool(Tool(name=say), AgentState())
    assert isinstance(tool, SayTool)


async def test_004_32_a_specification_becomes_a_tool_that_an_agent_uses(say: str) -> None:
    """From the name over the factory to the executor, with parameters and the session's state."""
    state = state_of(permitting(mode=BYPASS))
    tools = resolve_tool(Tool(name=say, params={"greeting": "hi"}), state)
    response = await call(Toolkit(tools), "say", state, text="Ada")
    assert response is not None
    assert response.state is ToolResultState.SUCCESS
    assert response.content[0].text == "hi Ada"  # type: ignore[union-attr]


def test_004_33_an_instance_takes_no_parameters() -> None:
    """It is returned as it is; parameters for it are an error."""
    registry, (tool,) = ToolRegistry(), SayTool.create()
    registry.register("say", tool)
    assert registry.resolve(Tool(name="say")) == [tool]
    with pytest.raises(ConfigurationError):
        registry.resolve(Tool(name="say", params={"greeting": "hi"}))


def test_004_34_a_class_is_asked_to_create() -> None:
    """With the parameters and the state of the session."""
    registry, state = ToolRegistry(), AgentState()
    registry.register("say", SayTool)
    (tool,) = registry.resolve(Tool(name="say", params={"greeting": "hi"}), state)
    assert isinstance(tool, SayTool)
    assert isinstance(tool.executor, SayExecutor)
    assert (tool.executor.greeting, tool.executor.state) == ("hi", state)


def test_004_35_a_function_is_called() -> None:
    """With the parameters and the state of the session."""
    registry, state = ToolRegistry(), AgentState()

    def make(greeting: str, conv_state: AgentState) -> SayTool:
        return SayTool(executor=SayExecutor(greeting, conv_state))

    registry.register("say", make)
    (tool,) = registry.resolve(Tool(name="say", params={"greeting": "hi"}), state)
    assert isinstance(tool, SayTool)
    assert isinstance(tool.executor, SayExecutor)
    assert (tool.executor.greeting, tool.executor.state) == ("hi", state)
