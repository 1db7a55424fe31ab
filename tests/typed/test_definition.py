"""Both ways to define a typed tool, and its way through a toolkit."""

from __future__ import annotations

import asyncio
import json

import pytest

from agentscope_like.exception import ConfigurationError, GrantError
from agentscope_like.message import TextBlock, ToolCallBlock, ToolResultState, UserMsg
from agentscope_like.tool import DeclaredResources, Toolkit
from agentscope_like.typed import (
    Action,
    Observation,
    ToolAnnotations,
    ToolConversation,
    ToolDefinition,
    ToolExecutor,
)
from tests.agent.kit import agent_of, results_of
from tests.typed.kit import Touch, Touched, TouchExecutor, TouchTool, run, state_in, touch_tool


class Say(Action):
    """What to say."""

    text: str


class SayExecutor(ToolExecutor[Say, Observation]):
    """Says it."""

    def __call__(self, action: Say, conversation: ToolConversation | None = None) -> Observation:
        return Observation.from_text(action.text)


async def test_a_tool_is_defined_by_an_instance() -> None:
    """The direct way: an executor, given to the constructor, runs through the toolkit."""
    tool = ToolDefinition(
        name="say",
        description="Says a text.",
        action_type=Say,
        observation_type=Observation,
        executor=SayExecutor(),
        annotations=ToolAnnotations(title="Say it", readOnlyHint=True),
    )
    _, response = await run(Toolkit([tool]), "say", '{"text": "hi"}', state_in("bypass"))
    assert response is not None
    assert response.state is ToolResultState.SUCCESS
    assert response.content[0].text == "hi"  # type: ignore[union-attr]
    assert tool.title == "Say it"


async def test_a_tool_is_defined_by_a_subclass() -> None:
    """The other way: `create` makes the executor; name and types come of the class."""
    tool, executor = touch_tool()
    assert (tool.name, tool.action_type, tool.observation_type) == ("touch", Touch, Touched)
    _, response = await run(Toolkit([tool]), "touch", "{}", state_in("bypass"))
    assert response is not None
    assert response.metadata["observation"]["runs"] == 1
    assert response.metadata["observation"]["kind"] == "tests.typed.kit:Touched"
    assert len(executor.actions) == 1
    assert executor.conversations[0] is not None


async def test_without_trust_a_call_asks() -> None:
    """A tool that nobody trusts waits for a person, and its executor does not run."""
    tool, executor = touch_tool()
    call, response = await run(Toolkit([tool]), "touch", "{}", state_in())
    assert (response, call.state) == (None, "asking")
    assert executor.actions == []


async def test_nothing_runs_an_executor_without_a_decision() -> None:
    """Calling the tool itself is refused, and the executor does not run."""
    tool, executor = touch_tool(trust=True)
    with pytest.raises(GrantError, match="without a decision"):
        await tool()
    assert executor.actions == []


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"description": "x", "action_type": Say}, "needs a name"),
        ({"name": "say", "action_type": Say}, "needs a `description`"),
        ({"name": "say", "description": "x"}, "action_type"),
        ({"name": "say", "description": "x", "action_type": Say, "executor": print}, "executor"),
    ],
)
def test_a_missing_declaration_is_an_error(given: dict[str, object], told: str) -> None:
    """A tool that could not work is refused where it is made."""
    with pytest.raises(ConfigurationError, match=told):
        ToolDefinition(**given)  # type: ignore[arg-type]


def test_a_class_does_not_decide_about_its_own_calls() -> None:
    """A subclass that overrides the decision is refused where it is defined."""
    with pytest.raises(ConfigurationError, match="check_permissions"):

        class SlyTool(TouchTool):
            check_permissions = TouchTool.check_read_only  # type: ignore[assignment]


def test_the_name_comes_of_the_class() -> None:
    """`FileEditorTool` is `file_editor`, and a declared name stays."""

    class FileEditorTool(TouchTool):
        pass

    class Other(TouchTool):
        name = "execute_bash"

    assert (FileEditorTool.name, Other.name) == ("file_editor", "execute_bash")
    assert FileEditorTool(executor=TouchExecutor()).name == "file_editor"


class SlowTool(ToolDefinition[Say, Observation]):
    """Needs what its text names for itself."""

    description = "Says it slowly."

    def declared_resources(self, action: Say) -> DeclaredResources:
        return DeclaredResources(keys=(action.text,))


class SlowExecutor(ToolExecutor[Say, Observation]):
    """Counts how many run at the same time."""

    def __init__(self) -> None:
        self.running = self.most = 0

    async def __call__(  # type: ignore[override]
        self, action: Say, conversation: ToolConversation | None = None
    ) -> Observation:
        self.running += 1
        self.most = max(self.most, self.running)
        await asyncio.sleep(0.02)
        self.running -= 1
        return Observation.from_text(action.text)


@pytest.mark.parametrize(("texts", "most"), [("ab", 2), ("aa", 1)])
async def test_actions_run_together_unless_their_resources_conflict(texts: str, most: int) -> None:
    """What an action declares is held while it runs; the model's label is no part of it."""
    executor = SlowExecutor()
    tool = SlowTool(executor=executor, asks_for_risk=True)
    calls = [
        ToolCallBlock(
            id=f"c{n}", name="slow", input=json.dumps({"security_risk": "LOW", "text": text})
        )
        for n, text in enumerate(texts)
    ]
    agent = agent_of([tool], calls, [TextBlock(text="done")], state=state_in("bypass"))
    await agent.reply(UserMsg("user", "go"))
    assert [result.state for result in results_of(agent).values()] == [ToolResultState.SUCCESS] * 2
    assert executor.most == most
