"""A state round-trips through JSON, whatever it holds."""

from __future__ import annotations

from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

from agentscope_like.message import (
    AssistantMsg,
    Base64Source,
    DataBlock,
    HintBlock,
    Msg,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
    ToolCallState,
    ToolResultBlock,
    ToolResultState,
    URLSource,
)
from agentscope_like.permission import (
    AdditionalWorkingDirectory,
    DecisionRow,
    PermissionBehavior,
    PermissionContext,
    PermissionDecision,
    PermissionMode,
    PermissionRule,
)
from agentscope_like.state import (
    AgentState,
    ReadCacheEntry,
    ReadState,
    ReplyContext,
    Task,
    TaskContext,
    ToolContext,
)
from agentscope_like.types import ErrorInfo, ReplyFinishedReason

# Halves of surrogate pairs are among the characters.
texts = st.text(st.characters(), max_size=8)
names = st.sampled_from(["Bash", "Read", "mcp__a__b"])
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=4,
)
facts = st.dictionaries(st.text(max_size=4), json_values, max_size=2)


def rules_of(behavior: PermissionBehavior) -> st.SearchStrategy[PermissionRule]:
    """Return rules that say this."""
    return st.builds(
        PermissionRule,
        tool_name=names,
        rule_content=st.none() | texts,
        behavior=st.just(behavior),
        source=texts,
    )


def tables(behavior: PermissionBehavior) -> st.SearchStrategy[dict[str, list[PermissionRule]]]:
    """Return tables of such rules, each under its tool."""

    def filed(rules: list[PermissionRule]) -> dict[str, list[PermissionRule]]:
        return {
            rule.tool_name: [r for r in rules if r.tool_name == rule.tool_name] for rule in rules
        }

    return st.lists(rules_of(behavior), max_size=3).map(filed)


def approved_where_needed(call: ToolCallBlock) -> ToolCallBlock:
    """Return the call with the yes on record that its state needs."""
    may_run = call.state in (ToolCallState.ALLOWED, ToolCallState.SUBMITTED)
    return call.model_copy(update={"approved": may_run})


decisions = st.builds(
    PermissionDecision,
    behavior=st.sampled_from(PermissionBehavior),
    message=texts,
    decision_reason=st.none() | texts,
    suggested_rules=st.none() | st.lists(rules_of(PermissionBehavior.ALLOW), max_size=2),
    bypass_immune=st.booleans(),
    row=st.none() | st.sampled_from(DecisionRow),
    rule=st.none() | rules_of(PermissionBehavior.ASK),
)
inline = st.builds(Base64Source, data=st.just("AAAA"), media_type=st.just("image/png"))
links = st.just(
    URLSource.model_validate({"url": "https://example.org/a?b=ü", "media_type": "image/png"})
)
said = st.builds(TextBlock, text=texts)
data = st.builds(DataBlock, source=inline | links, name=st.none() | texts)
calls = st.builds(
    ToolCallBlock,
    id=texts,
    name=names,
    input=texts,
    state=st.sampled_from(ToolCallState),
    suggested_rules=st.lists(rules_of(PermissionBehavior.ALLOW), max_size=2),
    decision=st.none() | decisions,
    digest=st.none() | st.just("a-b"),
).map(approved_where_needed)
results = st.builds(
    ToolResultBlock,
    id=texts,
    name=names,
    output=texts | st.lists(said | data, max_size=2),
    state=st.sampled_from(ToolResultState),
    metadata=facts,
)
thoughts = st.builds(ThinkingBlock, thinking=texts)
hints = st.builds(
    HintBlock, hint=texts | st.lists(said | data, max_size=2), source=st.none() | texts
)
replies = st.builds(
    AssistantMsg,
    name=st.just("robot"),
    content=st.lists(said | data | calls | results | thoughts | hints, max_size=4),
)
requests = st.builds(
    Msg, name=texts, role=st.just("user"), content=st.lists(said | data, max_size=2)
)
policies = st.builds(
    PermissionContext,
    mode=st.sampled_from(PermissionMode),
    working_directories=st.dictionaries(
        st.text(max_size=3),
        st.builds(AdditionalWorkingDirectory, path=st.text(max_size=3), source=st.text(max_size=3)),
        max_size=2,
    ),
    allow_rules=tables(PermissionBehavior.ALLOW),
    deny_rules=tables(PermissionBehavior.DENY),
    ask_rules=tables(PermissionBehavior.ASK),
)
seen_files = st.builds(
    ReadCacheEntry,
    file_path=st.text(max_size=4),
    digest=st.just("d"),
    bytes=st.integers(0, 9),
    updated_at=st.floats(0, 2e9),
    seen=st.lists(st.tuples(st.integers(1, 9), st.integers(1, 9)), max_size=2).map(tuple),
)
files = st.builds(
    ReadState,
    entries=st.lists(seen_files, max_size=2).map(lambda es: {e.file_path: e for e in es}),
)
tasks = st.builds(Task, subject=texts, description=texts, metadata=facts, owner=st.none() | texts)
states = st.builds(
    AgentState,
    summary=texts | st.lists(said | data, max_size=2),
    context=st.lists(requests | replies, max_size=3),
    reply_context=st.builds(
        ReplyContext,
        cur_iter=st.integers(0, 9),
        structured_schema=st.none() | facts,
        structured_output=st.none() | facts,
    ),
    permission_context=policies,
    tool_context=st.builds(ToolContext, read_state=files, activated_groups=st.lists(names)),
    tasks_context=st.builds(TaskContext, tasks=st.lists(tasks, max_size=2)),
    middle_context=facts,
)


@settings(
    max_examples=150,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(states)
def test_a_state_comes_back_from_json_as_it_was(state: AgentState) -> None:
    """Asking and submitted calls with their decisions, rules of all kinds and odd text included."""
    again = AgentState.model_validate_json(state.model_dump_json())
    assert again == state
    assert again.model_dump_json() == state.model_dump_json()
    waiting = [call.id for call in state.get_awaiting_tool_calls("robot")]
    assert [call.id for call in again.get_awaiting_tool_calls("robot")] == waiting
    for behavior in (PermissionBehavior.ALLOW, PermissionBehavior.DENY, PermissionBehavior.ASK):
        assert again.permission_context.table(behavior).behavior is behavior


def test_facts_that_were_changed_in_place_are_written_with_halves_of_pairs_escaped() -> None:
    """A tool may put a file name that is no UTF-8 into any facts, at any depth and moment."""
    result = ToolResultBlock(id="1", name="Bash", output="", state=ToolResultState.SUCCESS)
    message = AssistantMsg(name="robot", content=[result])
    task = Task(subject="", description="", metadata={})
    state = AgentState(
        context=[message],
        reply_context=ReplyContext(structured_schema={"title": "\udcff"}),
        tasks_context=TaskContext(tasks=[task]),
    )
    for facts in (message.metadata, result.metadata, task.metadata, state.middle_context):
        facts["a\udcff"] = [{"b": "ü\udcff"}, 1]
    again = AgentState.model_validate_json(state.model_dump_json())
    escaped = {"a\\udcff": [{"b": "ü\\udcff"}, 1]}
    assert again.context[0].metadata == again.tasks_context.tasks[0].metadata == escaped
    assert again.middle_context == escaped
    assert again.reply_context.structured_schema == {"title": "\\udcff"}


class Answer(BaseModel):
    """What a final answer must look like."""

    value: int


def test_a_schema_that_is_a_class_is_stored_as_its_schema() -> None:
    """A model class has no JSON; its schema has."""
    state = AgentState(reply_context=ReplyContext(structured_schema=Answer))
    again = AgentState.model_validate_json(state.model_dump_json())
    assert again.reply_context.structured_schema == Answer.model_json_schema()


def a_call(call_id: str, state: str) -> ToolCallBlock:
    """Return a call in this state."""
    return ToolCallBlock(id=call_id, name="Bash", input="{}", state=ToolCallState(state))


def a_result(call_id: str, state: str) -> ToolResultBlock:
    """Return a result in this state."""
    return ToolResultBlock(id=call_id, name="Bash", output="", state=ToolResultState(state))


def test_which_calls_wait_and_which_are_unfinished() -> None:
    """Waiting are those that ask or are done outside; unfinished, all without a final result."""
    state = AgentState()
    blocks: list[Any] = [
        a_call("pending", "pending"),
        a_call("asking", "asking"),
        a_call("submitted", "submitted"),
        a_result("submitted", "running"),
        a_call("running", "allowed"),
        a_result("running", "running"),
        a_call("done", "finished"),
        a_result("done", "success"),
        a_call("refused, but not told so", "finished"),
    ]
    state.append_context("robot", blocks[:4])
    state.append_context("robot", blocks[4:])
    assert len(state.context) == 1
    assert [c.id for c in state.get_awaiting_tool_calls("robot")] == ["asking", "submitted"]
    assert [c.id for c in state.get_unfinished_tool_calls("robot")] == [
        "pending",
        "asking",
        "submitted",
        "running",
        "refused, but not told so",
    ]
    assert not state.has_awaiting_tool_calls("somebody else")
    state.reply_context = ReplyContext()
    assert not state.has_awaiting_tool_calls("robot"), "a new reply waits for nothing yet"


def test_a_reply_belongs_to_its_agent_and_its_id() -> None:
    """Messages of others, of earlier replies and of the user are not the reply under way."""
    state = AgentState()
    assert state.reply_message("robot") is None
    state.append_context("robot", [TextBlock(text="mine")])
    mine = state.reply_message("robot")
    state.context.append(AssistantMsg("other", "theirs", id=state.reply_id))
    assert state.reply_message("robot") is mine
    assert mine is not None
    mine.finished_reason = ReplyFinishedReason.ERROR
    mine.error = ErrorInfo(message="down")
    assert AgentState.model_validate_json(state.model_dump_json()) == state
    state.context.append(AssistantMsg("robot", "later"))
    assert state.reply_message("robot") is None


def test_a_state_is_taken_by_one_reply_at_a_time() -> None:
    """Who has the turn is neither stored nor copied."""
    state = AgentState()
    assert state.take_turn()
    assert not state.take_turn()
    assert AgentState.model_validate_json(state.model_dump_json()).take_turn()
    state.end_turn()
    assert state.take_turn()
