"""The document "Tool System" (seed 004): actions, observations, executors and both patterns."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

import pytest
from pydantic import BaseModel, ValidationError
from rich.text import Text

from agentscope_like.agent import Agent
from agentscope_like.event import EventType
from agentscope_like.exception import ConfigurationError, ToolArgumentError
from agentscope_like.message import Msg, TextBlock, ToolResultState, UserMsg
from agentscope_like.permission import PermissionContext
from agentscope_like.state import AgentState
from agentscope_like.tool import Bash, ToolBase, Toolkit
from agentscope_like.typed import (
    Action,
    Observation,
    ToolAnnotations,
    ToolConversation,
    ToolDefinition,
    ToolExecutor,
)
from tests.agent.kit import DictatedModel
from tests.seed.kit import BYPASS, EDITS, call, call_of, decide, permitting, shown, state_of


class CountAction(Action):
    """What to count."""

    word: str
    text: str


class CountObservation(Observation):
    """How often it is there."""

    number: int


class CountExecutor(ToolExecutor[CountAction, CountObservation]):
    """Counts without any state."""

    def __call__(
        self, action: CountAction, conversation: ToolConversation | None = None
    ) -> CountObservation:
        number = action.text.count(action.word)
        return CountObservation.from_text(f"{action.word}: {number}", number=number)


COUNT = ToolDefinition(
    name="count",
    description="Counts a word.",
    action_type=CountAction,
    observation_type=CountObservation,
    executor=CountExecutor(),
    annotations=ToolAnnotations(readOnlyHint=True, idempotentHint=True),
)
GIVEN = {"word": "a", "text": "banana"}


class NoteAction(Action):
    """A line to write down."""

    line: str


class NoteExecutor(ToolExecutor[NoteAction, Observation]):
    """Keeps lines; that is its state."""

    def __init__(self, first: str, state: AgentState | None) -> None:
        self.lines = [first]
        self.state = state
        self.is_closed = False

    def __call__(self, action: NoteAction) -> Observation:  # type: ignore[override]
        self.lines.append(action.line)
        return Observation.from_text("\n".join(self.lines))

    def close(self) -> None:
        self.is_closed = True


class NoteTool(ToolDefinition[NoteAction, Observation]):
    """Writes lines down."""

    description = "Writes a line down."

    @classmethod
    def create(
        cls, conv_state: AgentState | None = None, first: str = "notes", **params: Any
    ) -> Sequence[Self]:
        return [cls(executor=NoteExecutor(first, conv_state), **params)]


def test_004_1_actions_and_observations_are_validated() -> None:
    """What does not fit the model is refused; what fits is frozen."""
    with pytest.raises(ValidationError):
        CountAction(word="a", text=1)  # type: ignore[arg-type]
    with pytest.raises(ValidationError):
        CountAction.from_json({"word": "a", "text": "b", "more": 1})
    action = CountAction(**GIVEN)
    with pytest.raises(ValidationError):
        action.word = "b"  # type: ignore[misc]
    assert isinstance(action, BaseModel)


async def test_004_2_schemas_are_made_of_the_models() -> None:
    """The model is told of the fields of the action."""
    toolkit = Toolkit([COUNT])
    (told,) = await toolkit.get_tool_schemas()
    assert told["function"]["name"] == "count"
    assert list(told["function"]["parameters"]["properties"]) == ["word", "text"]
    assert told["function"]["parameters"]["required"] == ["word", "text"]


async def test_004_3_a_call_is_validated_run_and_wrapped() -> None:
    """Invalid arguments never reach the executor; valid ones come back as an observation."""
    toolkit, state = Toolkit([COUNT]), state_of(permitting(mode=BYPASS))
    bad = await call(toolkit, "count", state, word="a")
    assert bad is not None
    assert bad.state is ToolResultState.ERROR
    good = await call(toolkit, "count", state, **GIVEN)
    assert good is not None
    assert good.metadata["observation"]["number"] == 3


def test_004_4_a_definition_is_a_tool_and_generic_over_its_types() -> None:
    """`ToolDefinition[NoteAction, Observation]` names both; `create` makes the tools."""
    (note,) = NoteTool.create()
    assert isinstance(note, ToolBase)
    assert (note.action_type, note.observation_type) == (NoteAction, Observation)


def test_004_5_a_definition_is_made_directly_or_extended() -> None:
    """Both are definitions, and run nothing by themselves."""
    assert type(COUNT) is ToolDefinition
    assert issubclass(NoteTool, ToolDefinition)
    with pytest.raises(ConfigurationError):
        ToolDefinition(name="count", description="Counts.")


def test_004_6_an_action_is_shown_as_rich_text() -> None:
    """`visualize` names the fields."""
    text = CountAction(**GIVEN).visualize
    assert isinstance(text, Text)
    assert "banana" in text.plain


def test_004_7_an_observation_has_content_for_the_model() -> None:
    """`to_llm_content` is a list of blocks; an error says that it is one."""
    assert [b.type for b in CountObservation.from_text("3", number=3).to_llm_content] == ["text"]
    failed = Observation.from_text("no", is_error=True).to_llm_content
    assert "error" in "".join(block.text for block in failed if isinstance(block, TextBlock))


async def test_004_8_an_executor_is_called_and_closed() -> None:
    """`__call__` does the work; `close`, where there is one, is called with the toolkit."""
    (note,) = NoteTool.create()
    executor = note.executor
    assert isinstance(executor, NoteExecutor)
    async with Toolkit([note]):
        assert not executor.is_closed
    assert executor.is_closed
    CountExecutor().close()
    with pytest.raises(TypeError):
        ToolExecutor()


def test_004_9_annotations_are_the_hints_of_mcp() -> None:
    """Their names and defaults; a server lists them with the tool."""
    assert ToolAnnotations().model_dump() == {
        "title": None,
        "readOnlyHint": False,
        "destructiveHint": True,
        "idempotentHint": False,
        "openWorldHint": True,
    }
    assert COUNT.to_mcp_tool()["annotations"]["readOnlyHint"] is True


def test_004_10_arguments_become_an_action() -> None:
    """A dictionary in, a validated action out."""
    action = COUNT.action_from_arguments(GIVEN)
    assert isinstance(action, CountAction)
    with pytest.raises(ToolArgumentError):
        COUNT.action_from_arguments({"word": "a"})


async def test_004_11_the_result_is_a_structured_observation() -> None:
    """It comes back from the response's facts as what it was."""
    state = state_of(permitting(mode=BYPASS))
    response = await call(Toolkit([COUNT]), "count", state, **GIVEN)
    assert response is not None
    seen = Observation.from_json(response.metadata["observation"])
    assert isinstance(seen, CountObservation)
    assert (seen.text, seen.number) == ("a: 3", 3)


async def test_004_12_an_executor_needs_to_know_nothing_of_the_session() -> None:
    """One that takes the action alone runs in a toolkit, and without one."""
    (note,) = NoteTool.create()
    assert note.executor is not None
    assert note.executor(NoteAction(line="alone")).text == "notes\nalone"
    response = await call(Toolkit([note]), "note", state_of(permitting(mode=BYPASS)), line="here")
    assert response is not None
    assert response.content[0].text == "notes\nalone\nhere"  # type: ignore[union-attr]


async def test_004_13_the_agent_wraps_them_in_events() -> None:
    """A call and its result are events of the reply; the tool made none."""
    model = DictatedModel([call_of("count", **GIVEN)], [TextBlock(text="3")])
    agent = Agent("ada", "", model, Toolkit([COUNT]), state=state_of(permitting(mode=BYPASS)))
    events = [one async for one in agent.reply_stream(UserMsg("user", "Count."))]
    kinds = [event.type for event in events if not isinstance(event, Msg)]
    assert kinds.count(EventType.TOOL_RESULT_END) == 1


async def test_004_14_a_stateless_tool_is_instantiated() -> None:
    """Action, observation, executor and definition are all that it takes."""
    response = await call(Toolkit([COUNT]), "count", state_of(permitting(mode=BYPASS)), **GIVEN)
    assert response is not None
    assert response.state is ToolResultState.SUCCESS


async def test_004_15_a_stateful_tool_is_a_subclass_with_a_factory() -> None:
    """`create` configures the executor, which keeps its state from call to call."""
    (note,) = NoteTool.create(first="list:")
    toolkit, state = Toolkit([note]), state_of(permitting(mode=BYPASS))
    await call(toolkit, "note", state, line="one")
    response = await call(toolkit, "note", state, line="two")
    assert response is not None
    assert response.content[0].text == "list:\none\ntwo"  # type: ignore[union-attr]


def test_004_16_the_factory_returns_a_sequence_for_a_session() -> None:
    """Two sessions have tools of their own, which know their session's state."""
    first, second = AgentState(), AgentState()
    made = [NoteTool.create(conv_state=state) for state in (first, second)]
    assert [len(tools) for tools in made] == [1, 1]
    executors = [tools[0].executor for tools in made]
    assert executors[0] is not executors[1]
    assert [one.state for one in executors if isinstance(one, NoteExecutor)] == [first, second]


async def test_004_17_hints_inform_the_risk_and_lower_nothing_unasked(tmp_path: Path) -> None:
    """A tool that claims to read only runs unasked if who adds it trusts it; else it asks."""
    claimed = ToolAnnotations(readOnlyHint=True)
    made = [
        ToolDefinition(
            name="peek",
            description="Peeks.",
            action_type=NoteAction,
            executor=NoteExecutor("", None),
            annotations=claimed,
            trust=trust,
        )
        for trust in (False, True)
    ]
    said = [await decide(tool, mode=EDITS, work=tmp_path, line="x") for tool in made]
    assert [one.behavior for one in said] == ["ask", "allow"]


async def test_004_18_every_tool_is_told_to_the_model() -> None:
    """Typed tools and others stand side by side in one toolkit."""
    assert await shown(Toolkit([COUNT, *NoteTool.create(), Bash()])) == ["count", "note", "Bash"]


async def test_004_19_an_executor_can_read_the_session_s_state() -> None:
    """The second parameter brings it: what is permitted, and the list of tasks."""

    class Where(ToolExecutor[NoteAction, Observation]):
        def __call__(
            self, action: NoteAction, conversation: ToolConversation | None = None
        ) -> Observation:
            assert conversation is not None
            context: PermissionContext = conversation.state.permission_context
            return Observation.from_text(context.mode.value)

    tool = ToolDefinition(
        name="where", description="Says.", action_type=NoteAction, executor=Where()
    )
    response = await call(Toolkit([tool]), "where", state_of(permitting(mode=BYPASS)), line="")
    assert response is not None
    assert response.content[0].text == "bypass"  # type: ignore[union-attr]


def test_004_20_a_tool_s_work_is_imported_when_it_is_created() -> None:
    """Importing a ready-made tool's package imports no `impl`."""
    program = (
        "import sys, json\n"
        "from agentscope_like.typed.tools import *\n"
        "print(json.dumps([m for m in sys.modules if m.endswith('.impl')]))\n"
        "GlobTool.create()\n"
        "print(json.dumps([m for m in sys.modules if m.endswith('.impl')]))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    before, after = map(json.loads, done.stdout.splitlines())
    assert (before, after) == ([], ["agentscope_like.typed.tools.glob.impl"])
