"""The agent's list of tasks."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentscope_like.message import TextBlock, ToolCallBlock, ToolResponse, ToolResultState
from agentscope_like.permission import (
    PermissionBehavior,
    PermissionContext,
    PermissionMode,
    PermissionRule,
)
from agentscope_like.state import AgentState, Task, TaskContext
from agentscope_like.tool import (
    TaskCreate,
    TaskGet,
    TaskList,
    TaskUpdate,
    ToolBase,
    Toolkit,
)

NULLABLE_TEXT = {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None}
NULLABLE_TEXTS = {
    "anyOf": [{"items": {"type": "string"}, "type": "array"}, {"type": "null"}],
    "default": None,
}
NULLABLE_OBJECT = {
    "anyOf": [{"additionalProperties": True, "type": "object"}, {"type": "null"}],
    "default": None,
}


async def run(tool: ToolBase, state: AgentState, **kwargs: Any) -> ToolResponse:
    response = ToolResponse()
    async for chunk in tool(_agent_state=state, **kwargs):
        response.append_chunk(chunk)
    return response


async def text(tool: ToolBase, state: AgentState, **kwargs: Any) -> str:
    (block,) = (await run(tool, state, **kwargs)).content
    assert isinstance(block, TextBlock)
    return block.text


async def listed(*subjects: str) -> AgentState:
    """Return a state with these tasks, #1 and so on."""
    state = AgentState()
    for subject in subjects:
        await run(TaskCreate(), state, subject=subject, description=f"Do {subject}.")
    return state


def task(state: AgentState, task_id: str) -> Task:
    found = state.tasks_context.find(task_id)
    assert found is not None
    return found


# What the model is told


@pytest.mark.parametrize(
    ("tool", "schema"),
    [
        (
            TaskCreate,
            {
                "properties": {
                    "subject": {"type": "string"},
                    "description": {"type": "string"},
                    "metadata": NULLABLE_OBJECT,
                },
                "required": ["subject", "description"],
                "type": "object",
            },
        ),
        (
            TaskGet,
            {
                "properties": {"task_id": {"type": "string"}},
                "required": ["task_id"],
                "type": "object",
            },
        ),
        (TaskList, {"properties": {}, "type": "object"}),
        (
            TaskUpdate,
            {
                "properties": {
                    "task_id": {"type": "string"},
                    "subject": NULLABLE_TEXT,
                    "description": NULLABLE_TEXT,
                    "add_blocks": NULLABLE_TEXTS,
                    "status": {
                        "anyOf": [
                            {
                                "enum": ["pending", "in_progress", "completed", "deleted"],
                                "type": "string",
                            },
                            {"type": "null"},
                        ],
                        "default": None,
                    },
                    "add_blocked_by": NULLABLE_TEXTS,
                    "owner": NULLABLE_TEXT,
                    "metadata": NULLABLE_OBJECT,
                },
                "required": ["task_id"],
                "type": "object",
            },
        ),
    ],
)
def test_the_schemas_are_the_contract_s(tool: type[ToolBase], schema: dict[str, Any]) -> None:
    """Names, types and defaults; every parameter is explained in the description."""
    made = tool()
    assert made.name == tool.__name__
    assert made.input_schema == schema
    assert [name for name in schema["properties"] if name not in made.description] == []


@pytest.mark.parametrize("mode", list(PermissionMode))
@pytest.mark.parametrize("tool", [TaskCreate, TaskGet, TaskList, TaskUpdate])
async def test_only_a_deny_rule_stops_them(tool: type[ToolBase], mode: PermissionMode) -> None:
    """They pass in every mode, EXPLORE and DONT_ASK included; a deny rule still denies."""
    kit = Toolkit([tool()])
    arguments = {"subject": "a", "description": "b"} if tool is TaskCreate else {}
    arguments |= {"task_id": "1"} if tool in (TaskGet, TaskUpdate) else {}
    state = await listed("one")
    state.permission_context.mode = mode

    async def outcome() -> ToolResultState:
        call = ToolCallBlock(id="c", name=tool.__name__, input=json.dumps(arguments))
        *_, response = [item async for item in kit.call_tool(call, state)]
        return response.state

    assert await outcome() is ToolResultState.SUCCESS
    deny = PermissionRule(tool_name=tool.__name__, behavior=PermissionBehavior.DENY)
    state.permission_context = PermissionContext(mode=mode, deny_rules={tool.__name__: [deny]})
    assert await outcome() is ToolResultState.DENIED


# Creating and showing


async def test_tasks_are_numbered_and_numbers_are_never_used_again() -> None:
    """Deleting the last task does not free its number."""
    state = await listed("one", "two")
    await run(TaskUpdate(), state, task_id="2", status="deleted")
    created = await text(TaskCreate(), state, subject="three", description="", metadata={"a": 1})
    assert created == "Created task #3: three"
    assert [(one.id, one.metadata) for one in state.tasks_context.tasks] == [
        ("1", {}),
        ("3", {"a": 1}),
    ]


async def test_tasks_that_a_program_put_there_keep_their_numbers() -> None:
    """A seeded task's id is skipped."""
    seeded = [Task(id=str(i), subject="s", description="", metadata={}) for i in (1, 2, 7)]
    state = AgentState(tasks_context=TaskContext(tasks=seeded))
    await run(TaskCreate(), state, subject="new", description="")
    assert state.tasks_context.tasks[-1].id == "3"


async def test_the_list_shows_what_to_do_next() -> None:
    """One line for each task: id, status, subject, owner and what it waits for."""
    state = await listed("plan", "build", "test")
    await run(TaskUpdate(), state, task_id="1", status="in_progress", owner="ann")
    await run(TaskUpdate(), state, task_id="3", add_blocked_by=["1", "2"])
    assert (await text(TaskList(), state)).splitlines() == [
        "#1 [in_progress] plan (owner: ann)",
        "#2 [pending] build",
        "#3 [pending] test, waits for #1, #2",
    ]
    assert await text(TaskList(), AgentState()) == "There are no tasks."


async def test_a_task_is_shown_in_full() -> None:
    """Everything that is known of it; the id may be written as the list writes it."""
    state = await listed("plan", "build")
    await run(TaskUpdate(), state, task_id="1", add_blocks=["2"], metadata={"k": "é"})
    shown = await text(TaskGet(), state, task_id="#1")
    assert shown.splitlines() == [
        "#1 [pending] plan",
        "Description: Do plan.",
        "Blocks: #2",
        'Metadata: {"k": "é"}',
    ]


# Updating


async def test_what_is_given_is_changed_and_the_rest_stays() -> None:
    """Subject, description and owner are replaced; metadata is merged, null deletes a key."""
    state = await listed("plan")
    await run(TaskUpdate(), state, task_id="1", metadata={"a": 1, "b": 2}, owner="ann")
    said = await text(
        TaskUpdate(), state, task_id="1", subject="new", metadata={"a": None, "c": {"d": None}}
    )
    assert said == "Updated #1 [pending] new (owner: ann)."
    changed = task(state, "1")
    assert (changed.subject, changed.description) == ("new", "Do plan.")
    assert changed.metadata == {"b": 2, "c": {"d": None}}
    assert await text(TaskUpdate(), state, task_id="1") == (
        "Nothing to change was given for task #1."
    )


async def test_links_are_kept_on_both_sides() -> None:
    """`add_blocks` and `add_blocked_by` say the same thing from two ends, once."""
    state = await listed("one", "two", "three")
    await run(TaskUpdate(), state, task_id="2", add_blocks=["3", "#3"], add_blocked_by=["1"])
    await run(TaskUpdate(), state, task_id="1", add_blocks=["2"])
    assert task(state, "1").blocks == ["2"]
    assert (task(state, "2").blocked_by, task(state, "2").blocks) == (["1"], ["3"])
    assert task(state, "3").blocked_by == ["2"]


async def test_completing_a_task_frees_those_that_waited() -> None:
    """What still waits for another is not called free."""
    state = await listed("one", "two", "three", "four")
    await run(TaskUpdate(), state, task_id="1", add_blocks=["3", "4"])
    await run(TaskUpdate(), state, task_id="2", add_blocks=["4"])
    said = await text(TaskUpdate(), state, task_id="1", status="completed")
    assert said == "Updated #1 [completed] one. Waiting for nothing now: #3."
    assert (task(state, "3").blocked_by, task(state, "4").blocked_by) == ([], ["2"])
    assert task(state, "1").blocks == []


async def test_nothing_waits_for_what_is_done() -> None:
    """A link to a completed task is not made, and that is said; a reopened one blocks again."""
    state = await listed("one", "two")
    await run(TaskUpdate(), state, task_id="1", status="completed")
    said = await text(TaskUpdate(), state, task_id="2", add_blocked_by=["1"])
    assert said.endswith("#2 need not wait for #1, which is completed.")
    assert task(state, "2").blocked_by == []
    await run(TaskUpdate(), state, task_id="1", status="pending", add_blocks=["2"])
    assert task(state, "2").blocked_by == ["1"]


async def test_deleting_a_task_unlinks_it() -> None:
    """Neither those before it nor those behind it remember it."""
    state = await listed("one", "two", "three")
    await run(TaskUpdate(), state, task_id="2", add_blocks=["3"], add_blocked_by=["1"])
    said = await text(TaskUpdate(), state, task_id="2", status="deleted")
    assert said == "Deleted task #2. Waiting for nothing now: #3."
    assert [one.id for one in state.tasks_context.tasks] == ["1", "3"]
    assert (task(state, "1").blocks, task(state, "3").blocked_by) == ([], [])


# Refusals


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"task_id": "9"}, "There is no task '9'. Tasks: #1, #2, #3."),
        ({"task_id": "1", "add_blocks": ["9"]}, "There is no task '9'"),
        ({"task_id": "1", "add_blocked_by": ["2", "x"]}, "There is no task 'x'"),
        ({"task_id": "1", "add_blocks": ["1"]}, "#1 cannot wait for itself"),
        ({"task_id": "1", "add_blocked_by": ["2"]}, "#1 cannot wait for #2: #2 waits for #1."),
        (
            {"task_id": "3", "add_blocks": ["1"]},
            "#1 cannot wait for #3: #3 waits for #2, which waits for #1.",
        ),
        (
            {"task_id": "3", "add_blocks": ["1"], "status": "in_progress", "subject": "new"},
            "Nothing was changed",
        ),
        ({"task_id": "1", "subject": " "}, "needs a subject"),
    ],
)
async def test_what_cannot_be_is_refused_as_a_whole(change: dict[str, Any], told: str) -> None:
    """Unknown ids, circles and empty subjects: an error that says why, and no change at all."""
    state = await listed("one", "two", "three")
    await run(TaskUpdate(), state, task_id="2", add_blocks=["3"], add_blocked_by=["1"])
    before = state.model_dump()
    response = await run(TaskUpdate(), state, **change)
    (block,) = response.content
    assert isinstance(block, TextBlock)
    assert told in block.text
    assert response.state is ToolResultState.ERROR
    assert state.model_dump() == before


async def test_a_circle_within_one_call_is_refused() -> None:
    """The links of one call are checked together."""
    state = await listed("one", "two")
    response = await run(TaskUpdate(), state, task_id="1", add_blocks=["2"], add_blocked_by=["2"])
    assert response.state is ToolResultState.ERROR


async def test_the_other_tools_refuse_as_well() -> None:
    """An unknown id to show, an empty subject to create."""
    state = AgentState()
    assert (await run(TaskGet(), state, task_id="1")).state is ToolResultState.ERROR
    created = await run(TaskCreate(), state, subject="  ", description="x")
    assert created.state is ToolResultState.ERROR
    assert state.tasks_context.tasks == []


# Whatever happens

IDS = st.sampled_from(["1", "2", "3", "4", "5", "#2", "9"])
UPDATE = st.fixed_dictionaries(
    {"task_id": IDS},
    optional={
        "status": st.sampled_from(["pending", "in_progress", "completed", "deleted"]),
        "add_blocks": st.lists(IDS, max_size=3),
        "add_blocked_by": st.lists(IDS, max_size=3),
        "metadata": st.dictionaries(st.sampled_from("ab"), st.none() | st.integers(), max_size=2),
    },
)


@given(st.lists(UPDATE | st.none(), max_size=25))
def test_any_sequence_of_calls_keeps_the_list_sound(
    changes: list[dict[str, Any] | None],
) -> None:
    """Links are symmetric, name tasks that exist, form no circle; the state survives JSON."""

    async def play() -> AgentState:
        state = await listed("one", "two", "three", "four")
        for change in changes:
            if change is None:
                await run(TaskCreate(), state, subject="more", description="")
            else:
                await run(TaskUpdate(), state, **change)
        return state

    state = asyncio.run(play())
    tasks = {one.id: one for one in state.tasks_context.tasks}
    assert len(tasks) == len(state.tasks_context.tasks)
    for one in tasks.values():
        assert len(set(one.blocks)) == len(one.blocks)
        assert all(one.id in tasks[other].blocked_by for other in one.blocks)
        assert all(one.id in tasks[other].blocks for other in one.blocked_by)
        assert one.state != "completed" or one.blocks == []
    waiting = {one.id: set(one.blocked_by) for one in tasks.values()}
    while free := {task_id for task_id, others in waiting.items() if not others & waiting.keys()}:
        for task_id in free:
            del waiting[task_id]
    assert waiting == {}
    assert AgentState.model_validate_json(state.model_dump_json()) == state
