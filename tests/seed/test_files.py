"""Seed 002, "File Tools" and "Plan Tools", row by row."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agentscope_like.message import ToolResponse, ToolResultState
from agentscope_like.permission import PermissionMode
from agentscope_like.state import AgentState, Task, TaskContext
from agentscope_like.tool import (
    Edit,
    Read,
    TaskCreate,
    TaskGet,
    TaskList,
    TaskUpdate,
    ToolBase,
    Toolkit,
    Write,
)
from agentscope_like.tool.builtin.file_system.path_tool import PathTool
from tests.agent.kit import agent_of, events_of
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
    PASSTHROUGH,
    call,
    call_of,
    decide,
    permitting,
    rule,
    said,
    state_of,
)

SENSITIVE = [".bashrc", ".env", ".ssh/config"]


class Desk:
    """The file tools with leave to do anything, and the state of one agent."""

    def __init__(self) -> None:
        self.toolkit = Toolkit([Read(), Write(), Edit()])
        rules = [rule(name) for name in ("Read", "Write", "Edit")]
        self.state = state_of(permitting(*rules))

    async def do(self, name: str, **arguments: Any) -> ToolResponse:
        """Call a tool that runs."""
        response = await call(self.toolkit, name, self.state, **arguments)
        assert response is not None
        return response

    async def works(self, name: str, **arguments: Any) -> bool:
        """Return whether a call succeeds."""
        return (await self.do(name, **arguments)).state is ToolResultState.SUCCESS


@pytest.fixture
def desk(work: Path) -> Desk:
    """Give file tools in a directory with two files."""
    (work / "a.txt").write_text("one\ntwo\ntwo\n")
    (work / "b.txt").write_text("".join(f"line {n}\n" for n in range(1, 101)))
    return Desk()


# File Tools


async def test_002_file_1_what_exists_is_read_before_it_is_changed(desk: Desk, work: Path) -> None:
    """Write and Edit refuse a file that was not read, or that has changed since."""
    write: dict[str, Any] = {"file_path": "a.txt", "content": "new\n"}
    edit: dict[str, Any] = {"file_path": "b.txt", "old_string": "line 7\n", "new_string": "x\n"}
    for name, arguments in (("Write", write), ("Edit", edit)):
        path = work / str(arguments["file_path"])
        before = path.read_text()
        assert not await desk.works(name, **arguments)
        await desk.do("Read", file_path=arguments["file_path"])
        path.write_text(f"{before}changed meanwhile\n")
        assert not await desk.works(name, **arguments)
        assert path.read_text() == f"{before}changed meanwhile\n"
        await desk.do("Read", file_path=arguments["file_path"])
        assert await desk.works(name, **arguments)


async def test_002_file_2_lines_are_numbered(desk: Desk) -> None:
    """Each line that Read shows has its number before it."""
    shown = await said(desk.toolkit, "Read", desk.state, file_path="a.txt")
    assert [line.split() for line in shown.splitlines()] == [
        ["1", "one"],
        ["2", "two"],
        ["3", "two"],
    ]


async def test_002_file_3_a_part_of_a_large_file_can_be_read(desk: Desk) -> None:
    """`offset` is the first line, `limit` how many."""
    shown = await said(desk.toolkit, "Read", desk.state, file_path="b.txt", offset=50, limit=2)
    assert [line.split() for line in shown.splitlines()[:2]] == [
        ["50", "line", "50"],
        ["51", "line", "51"],
    ]
    assert "line 52" not in shown


async def test_002_file_4_what_was_read_is_in_the_agent_s_state(desk: Desk) -> None:
    """It survives a JSON round trip, counts for Edit then, holds no content, and is bounded."""
    await desk.do("Read", file_path="a.txt")
    saved = desk.state.tool_context.model_dump_json()
    assert "two" not in saved
    assert "a.txt" in saved
    desk.state = AgentState.model_validate_json(desk.state.model_dump_json())
    assert await desk.works("Edit", file_path="a.txt", old_string="one", new_string="1")
    desk.state.tool_context.max_cache_files = 1
    await desk.do("Read", file_path="b.txt")
    (known,) = desk.state.tool_context.read_file_cache
    assert known.file_path.endswith("b.txt")


async def test_002_file_5_write_makes_files_and_replaces_those_that_were_read(
    desk: Desk, work: Path
) -> None:
    """A new file needs no reading, and may be written again; an old one fails first."""
    assert await desk.works("Write", file_path="deep/new.txt", content="1\n")
    assert await desk.works("Write", file_path="deep/new.txt", content="2\n")
    assert (work / "deep" / "new.txt").read_text() == "2\n"
    assert not await desk.works("Write", file_path="a.txt", content="3\n")


async def test_002_file_6_edit_needs_text_that_is_there_once(desk: Desk, work: Path) -> None:
    """It fails where the text is missing, or there several times without `replace_all`."""
    await desk.do("Read", file_path="a.txt")
    for old in ("three", "two"):
        assert not await desk.works("Edit", file_path="a.txt", old_string=old, new_string="x")
    assert await desk.works("Edit", file_path="a.txt", old_string="one", new_string="1")
    assert await desk.works(
        "Edit", file_path="a.txt", old_string="two", new_string="2", replace_all=True
    )
    assert (work / "a.txt").read_text() == "1\n2\n2\n"


def changing(kind: type[PathTool], path: str) -> dict[str, Any]:
    """Return arguments of a call that changes the path."""
    if kind is Write:
        return {"file_path": path, "content": ""}
    return {"file_path": path, "old_string": "a", "new_string": "b"}


@pytest.mark.parametrize("kind", [Write, Edit])
@pytest.mark.parametrize("path", SENSITIVE)
async def test_002_file_7_no_allow_rule_silences_a_sensitive_path(
    kind: type[PathTool], path: str, work: Path
) -> None:
    """Neither a rule for the tool nor one for the path; a neighbour is silenced."""
    rules = (rule(kind.__name__), rule(kind.__name__, path))
    tool = kind()
    opinion = await tool.check_permissions(changing(kind, path), permitting(work=work))
    assert (opinion.behavior, opinion.bypass_immune) == (ASK, True)
    decision = await decide(tool, *rules, work=work, **changing(kind, path))
    assert (decision.behavior, decision.bypass_immune) == (ASK, True)
    plain = await decide(tool, *rules, work=work, **changing(kind, "notes.txt"))
    assert plain.behavior is ALLOW


@pytest.mark.parametrize("kind", [Write, Edit])
@pytest.mark.parametrize("path", SENSITIVE)
async def test_002_file_8_bypass_does_not_ask(kind: type[PathTool], path: str) -> None:
    """The mode opts out of safety questions; a deny rule still denies."""
    assert (await decide(kind(), mode=BYPASS, **changing(kind, path))).behavior is ALLOW
    denied = rule(kind.__name__, path, DENY)
    assert (await decide(kind(), denied, mode=BYPASS, **changing(kind, path))).behavior is DENY


@pytest.mark.parametrize("kind", [Write, Edit])
@pytest.mark.parametrize("path", SENSITIVE)
async def test_002_file_9_dont_ask_denies(kind: type[PathTool], path: str) -> None:
    """Where nobody can be asked, a sensitive path is denied, rule or not."""
    allowed = rule(kind.__name__)
    assert (await decide(kind(), allowed, mode=DONT_ASK, **changing(kind, path))).behavior is DENY
    plain = await decide(kind(), allowed, mode=DONT_ASK, **changing(kind, "/opt/notes.txt"))
    assert plain.behavior is ALLOW


@pytest.mark.parametrize("kind", [Write, Edit])
async def test_002_file_10_edits_inside_are_allowed_in_accept_edits(
    kind: type[PathTool], work: Path
) -> None:
    """Inside a working directory, also by a path that is not plain; not outside of it."""
    for path, behavior in (
        ("notes.txt", ALLOW),
        (f"{work}/src/../notes.txt", ALLOW),
        ("../notes.txt", ASK),
        ("/etc/hosts", ASK),
    ):
        decision = await decide(kind(), mode=EDITS, work=work, **changing(kind, path))
        assert decision.behavior is behavior, path
    assert (
        await decide(kind(), mode=DEFAULT, work=work, **changing(kind, "notes.txt"))
    ).behavior is ASK


@pytest.mark.parametrize("kind", [Write, Edit])
async def test_002_file_11_the_rest_is_left_to_the_rules(kind: type[PathTool], work: Path) -> None:
    """No opinion of the tool's own; a rule that matches decides."""
    given = changing(kind, "notes.txt")
    opinion = await kind().check_permissions(given, permitting(work=work))
    assert opinion.behavior is PASSTHROUGH
    for behavior in (ALLOW, DENY, ASK):
        decision = await decide(kind(), rule(kind.__name__, "*.txt", behavior), work=work, **given)
        assert decision.behavior is behavior


async def test_002_file_12_read_has_no_opinion_of_plain_files(work: Path) -> None:
    """It passes through, and the modes where reads run allow it.

    Secrets are asked about, and what is no path is denied.
    """
    read = Read()
    assert read.is_read_only
    opinion = await read.check_permissions({"file_path": "a.txt"}, permitting())
    assert opinion.behavior is PASSTHROUGH
    for mode, behavior in ((EXPLORE, ALLOW), (EDITS, ALLOW), (DEFAULT, ASK)):
        assert (await decide(read, mode=mode, file_path="a.txt")).behavior is behavior
    secret = await decide(read, rule("Read"), mode=EXPLORE, file_path=".ssh/id_rsa")
    assert (secret.behavior, secret.bypass_immune) == (ASK, True)
    unusable = await decide(read, rule("Read"), mode=BYPASS, file_path="a\0.txt")
    assert unusable.behavior is DENY


@pytest.mark.parametrize("kind", [Read, Write, Edit])
@pytest.mark.parametrize(
    ("pattern", "path", "matches"),
    [
        ("src/**", "src/a.py", True),
        ("src/**", "src/deep/er/a.txt", True),
        ("src/**", "tests/a.py", False),
        ("src/**/*.py", "src/a.py", True),
        ("src/**/*.py", "src/deep/a.py", True),
        ("src/**/*.py", "src/a.txt", False),
        ("config.json", "config.json", True),
        ("config.json", "sub/config.json", False),
        ("src/**", "src/../secret.txt", False),
        ("src/*", "src/a.py", True),
        ("src/*", "src/deep/a.py", False),
    ],
)
async def test_002_file_13_rules_are_globs(
    kind: type[PathTool], pattern: str, path: str, work: Path, *, matches: bool
) -> None:
    """Relative to each working directory, whether the path is written in full or not."""
    other = work.parent / "other"
    other.mkdir()
    for directory in (work, other):
        given: dict[str, Any] = {"file_path": f"{directory}/{path}"}
        context_rules = (rule(kind.__name__, pattern),)
        tool = kind(cwd=directory)
        assert await tool.match_rule(pattern, {"file_path": path}) is matches
        decision = await decide(tool, *context_rules, work=directory, **given)
        assert (decision.behavior is ALLOW) is matches
    elsewhere = await decide(
        kind(), rule(kind.__name__, pattern), work=work, file_path=f"/opt/{path}"
    )
    assert elsewhere.behavior is ASK


@pytest.mark.parametrize("kind", [Read, Write, Edit])
async def test_002_file_14_the_directory_is_suggested(kind: type[PathTool]) -> None:
    """`src/**` for `/project/src/main.py`; a file right in the project is suggested alone."""
    tool, work = kind(cwd="/project"), Path("/project")
    for path, pattern in (("/project/src/main.py", "src/**"), ("/project/main.py", "main.py")):
        given = {"file_path": path}
        (suggested,) = await tool.generate_suggestions(given)
        assert (suggested.tool_name, suggested.rule_content) == (kind.__name__, pattern)
        assert (await decide(tool, suggested, work=work, file_path=path)).behavior is ALLOW


# Plan Tools

TASK_TOOLS: dict[type[ToolBase], dict[str, Any]] = {
    TaskCreate: {"subject": "plan", "description": "Think."},
    TaskGet: {"task_id": "1"},
    TaskList: {},
    TaskUpdate: {"task_id": "1", "status": "in_progress"},
}


async def test_002_plan_1_tasks_are_added_shown_and_changed_by_calls() -> None:
    """A model keeps its list through nothing but tool calls."""
    toolkit, state = Toolkit([one() for one in TASK_TOOLS]), AgentState()
    for subject in ("plan", "build"):
        await said(toolkit, "TaskCreate", state, subject=subject, description=f"Do {subject}.")
    await said(toolkit, "TaskUpdate", state, task_id="2", add_blocked_by=["1"])
    await said(toolkit, "TaskUpdate", state, task_id="1", status="in_progress")
    assert "Do build." in await said(toolkit, "TaskGet", state, task_id="2")
    listed = (await said(toolkit, "TaskList", state)).splitlines()
    assert listed == ["#1 [in_progress] plan", "#2 [pending] build, waits for #1"]


async def test_002_plan_2_they_share_the_store_in_the_agent_s_state() -> None:
    """What one tool writes, the others read, and the agent's program as well."""
    create = [call_of("TaskCreate", subject="plan", description="Think.")]
    listing = [call_of("TaskList")]
    listing[0].id = "c2"
    agent = agent_of([TaskCreate(), TaskList()], create, listing, DONE)
    await events_of(agent, "Plan.")
    assert [task.subject for task in agent.state.tasks_context.tasks] == ["plan"]
    *_, last = agent.state.context[-1].get_content_blocks("tool_result")
    assert "plan" in str(last)


@pytest.mark.parametrize("kind", list(TASK_TOOLS))
def test_002_plan_3_the_state_is_injected(kind: type[ToolBase]) -> None:
    """Each is given the agent's state, which its schema does not show."""
    tool = kind()
    assert tool.is_state_injected
    assert "_agent_state" not in json.dumps(tool.input_schema)


@pytest.mark.parametrize("mode", list(PermissionMode))
@pytest.mark.parametrize("kind", list(TASK_TOOLS))
async def test_002_plan_4_they_always_pass(kind: type[ToolBase], mode: PermissionMode) -> None:
    """In every mode, also past a rule that wants to be asked; a deny rule alone stops them."""
    given, name = TASK_TOOLS[kind], kind.__name__
    assert (await decide(kind(), mode=mode, **given)).behavior is ALLOW
    assert (await decide(kind(), rule(name, None, ASK), mode=mode, **given)).behavior is ALLOW
    assert (await decide(kind(), rule(name, None, DENY), mode=mode, **given)).behavior is DENY


async def test_002_plan_5_a_program_can_seed_tasks() -> None:
    """Tasks that were put into the state are shown, changed and freed like any other."""
    first = Task(id="1", subject="plan", description="", metadata={}, blocks=["2"])
    second = Task(id="2", subject="build", description="", metadata={}, blocked_by=["1"])
    state = AgentState(tasks_context=TaskContext(tasks=[first, second]))
    toolkit = Toolkit([one() for one in TASK_TOOLS])
    answer = await said(toolkit, "TaskUpdate", state, task_id="1", status="completed")
    assert answer.endswith("Waiting for nothing now: #2.")
    await said(toolkit, "TaskCreate", state, subject="test", description="")
    assert [task.id for task in state.tasks_context.tasks] == ["1", "2", "3"]


async def test_002_plan_6_the_list_stays_sound() -> None:
    """Who waits for whom is known to both; circles are refused; what is done frees others."""
    toolkit, state = Toolkit([one() for one in TASK_TOOLS]), AgentState()
    for subject in ("plan", "build"):
        await said(toolkit, "TaskCreate", state, subject=subject, description="")
    plan, build = state.tasks_context.tasks
    await said(toolkit, "TaskUpdate", state, task_id="1", add_blocks=["2"])
    assert (plan.blocks, build.blocked_by) == (["2"], ["1"])
    refused = await call(toolkit, "TaskUpdate", state, task_id="2", add_blocks=["1"])
    assert refused is not None
    assert refused.state is ToolResultState.ERROR
    assert plan.blocked_by == []
    await said(toolkit, "TaskUpdate", state, task_id="1", status="completed")
    assert build.blocked_by == []
