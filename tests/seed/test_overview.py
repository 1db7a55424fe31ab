"""Seed 002, "Overview", "ToolBase Interface" and "Use Built-in Tools", row by row."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest
from jsonschema_rs import validator_for

from agentscope_like.event import RequireExternalExecutionEvent
from agentscope_like.exception import ConfigurationError
from agentscope_like.message import TextBlock, ToolResultState
from agentscope_like.permission import (
    PermissionContext,
    PermissionDecision,
    PermissionRule,
    RuleError,
)
from agentscope_like.state import AgentState
from agentscope_like.tool import (
    Bash,
    Edit,
    FunctionTool,
    Glob,
    Grep,
    Read,
    TaskCreate,
    TaskGet,
    TaskList,
    TaskUpdate,
    ToolBase,
    ToolChunk,
    ToolGroup,
    Toolkit,
    Write,
)
from tests.agent.kit import agent_of, events_of
from tests.seed.kit import (
    ALLOW,
    ASK,
    DEFAULT,
    DENY,
    DONE,
    EDITS,
    EXPLORE,
    PASSTHROUGH,
    Echo,
    Layer,
    call,
    call_of,
    client_of,
    decide,
    permitting,
    rule,
    run,
    said,
    shown,
    state_of,
)
from tests.seed.servers.office import OfficeAddress
from tests.skill.kit import write_skill

BUILT_IN: list[type[ToolBase]] = [
    Bash,
    Read,
    Write,
    Edit,
    Glob,
    Grep,
    TaskCreate,
    TaskGet,
    TaskList,
    TaskUpdate,
]
READ_ONLY = {Read, Glob, Grep, TaskGet, TaskList}


# Overview


async def test_002_overview_1_a_tool_is_told_as_a_json_schema() -> None:
    """Name, description and a schema that a validator takes, in the form that models read."""
    for schema in await Toolkit([one() for one in BUILT_IN]).get_tool_schemas():
        assert schema["type"] == "function"
        told = schema["function"]
        assert told.keys() == {"name", "description", "parameters"}
        assert told["description"]
        validator_for(told["parameters"])
        assert told["parameters"]["type"] == "object"


async def test_002_overview_2_every_tool_is_called_as_a_stream() -> None:
    """One chunk or many, a coroutine or a generator: the caller sees a stream."""

    class Counting(Echo):
        async def call(self, text: str) -> AsyncGenerator[ToolChunk, None]:  # type: ignore[override]
            for letter in text:
                yield ToolChunk(content=[TextBlock(text=letter)])

    for tool, count in ((Echo(), 1), (Counting(), 3), (FunctionTool(len, name="size"), 1)):
        given = {"obj": "abc"} if tool.name == "size" else {"text": "abc"}
        assert len([chunk async for chunk in tool(**given)]) == count


async def test_002_overview_3_built_in_wrapped_and_served_tools_are_tools(
    office: OfficeAddress,
) -> None:
    """The built-in ones, wrapped functions and tools of MCP servers have one interface."""
    client = client_of(office)
    tools = [*(one() for one in BUILT_IN), FunctionTool(len), *await client.list_tools()]
    assert len(tools) == 16
    assert all(isinstance(tool, ToolBase) for tool in tools)


async def test_002_overview_4_a_toolkit_holds_tools_clients_and_skills(
    office: OfficeAddress, tmp_path: Path
) -> None:
    """It tells of all of them, and a call reaches the tool of that name, which only one has."""
    write_skill(tmp_path / "skills" / "pdf", text="Use `forms.py`.")
    client = client_of(office)
    first, second = Echo("First"), Echo("Second")
    toolkit = Toolkit(
        tools=[first, second], mcps=[client], skills_or_loaders=[str(tmp_path / "skills")]
    )
    names = await shown(toolkit)
    assert {"First", "Second", "Skill", "mcp__office__web_search"} <= set(names)
    await said(toolkit, "Second", text="hello")
    assert (first.heard, second.heard) == ([], ["hello"])
    with pytest.raises(ConfigurationError, match="two tools named 'First'"):
        Toolkit([first, Echo("First")])


async def test_002_overview_5_a_group_is_switched_as_a_unit(
    office: OfficeAddress, tmp_path: Path
) -> None:
    """Its tools, clients and skills come and go together."""
    write_skill(tmp_path / "pdf")
    client = client_of(office)
    group = ToolGroup(
        "work", "For work.", tools=[Echo()], mcps=[client], skills_or_loaders=[str(tmp_path)]
    )
    toolkit = Toolkit(tool_groups=[group])
    assert await shown(toolkit) == ["reset_tools"]
    assert await toolkit.get_skill_instructions([]) is None
    assert {"Echo", "Skill", "mcp__office__web_search"} <= set(await shown(toolkit, "work"))
    assert "pdf" in (await toolkit.get_skill_instructions(["work"]) or "")


async def test_002_overview_6_the_agent_switches_groups_itself() -> None:
    """A call of the meta tool in one round shows the group's tools in the next."""
    toolkit = Toolkit([], tool_groups=[ToolGroup("work", "For work.", tools=[Echo()])])
    agent = agent_of([], [call_of("reset_tools", work=True)], DONE)
    agent.toolkit = toolkit
    await events_of(agent, "Work.")
    assert agent.model.shown_tools == [["reset_tools"], ["reset_tools", "Echo"]]  # type: ignore[attr-defined]


async def test_002_overview_7_plain_tools_are_always_active() -> None:
    """Whatever groups are active, what was given as `tools` is shown and can be called."""
    toolkit = Toolkit([Echo()], tool_groups=[ToolGroup("other", "Something else.")])
    for groups in ([], ["other"]):
        assert "Echo" in await shown(toolkit, *groups)
        state = AgentState()
        state.tool_context.activated_groups = groups
        assert await said(toolkit, "Echo", state, text="here") == "here"


async def test_002_overview_8_each_further_argument_extends_what_is_there(
    office: OfficeAddress, tmp_path: Path
) -> None:
    """Clients, skills and groups each add their tools to the plain ones."""
    write_skill(tmp_path / "pdf")
    client = client_of(office)
    added: list[tuple[dict[str, Any], str]] = [
        ({"mcps": [client]}, "mcp__office__web_search"),
        ({"skills_or_loaders": [str(tmp_path)]}, "Skill"),
        ({"tool_groups": [ToolGroup("g", "A group.")]}, "reset_tools"),
    ]
    for arguments, name in added:
        assert {"Echo", name} <= set(await shown(Toolkit([Echo()], **arguments)))
    assert await shown(Toolkit([Echo()])) == ["Echo"]


# ToolBase Interface


async def test_002_base_1_the_name_is_what_the_agent_sees() -> None:
    """It is told under its name, and called by it."""
    toolkit = Toolkit([Echo("Parrot")])
    assert await shown(toolkit) == ["Parrot"]
    assert await said(toolkit, "Parrot", text="hello") == "hello"


async def test_002_base_2_the_description_is_told() -> None:
    """As it stands."""
    ((schema),) = await Toolkit([Echo(description="Repeats you.")]).get_tool_schemas()
    assert schema["function"]["description"] == "Repeats you."


async def test_002_base_3_the_schema_defines_the_parameters() -> None:
    """Arguments that do not fit it never reach the tool; those that fit do."""
    echo = Echo()
    toolkit = Toolkit([echo])
    wrong: list[dict[str, Any]] = [{}, {"text": 1}]
    for arguments in wrong:
        response = await call(toolkit, "Echo", **arguments)
        assert response is not None
        assert response.state is ToolResultState.ERROR
    await said(toolkit, "Echo", text="right")
    assert echo.heard == ["right"]


async def test_002_base_4_only_safe_tools_run_side_by_side() -> None:
    """Two calls of a safe tool meet; two of another run one after the other."""
    for safe in (True, False):
        running, most = 0, 0

        class Meeting(Echo):
            async def call(self, text: str) -> ToolChunk:
                nonlocal running, most
                running += 1
                most = max(most, running)
                await asyncio.sleep(0.01)
                running -= 1
                return ToolChunk(content=[TextBlock(text=text)])

        calls = [call_of("Echo", text=str(i)) for i in range(2)]
        calls[1].id = "c2"
        await events_of(agent_of([Meeting(is_concurrency_safe=safe)], calls, DONE), "Both.")
        assert most == (2 if safe else 1)


async def test_002_base_5_what_only_reads_is_known_to() -> None:
    """In the mode where only reads run, a read-only tool runs and another is denied."""
    for reads, expected in ((True, ALLOW), (False, DENY)):
        tool = Echo(opinion=PASSTHROUGH, is_read_only=reads)
        assert (await decide(tool, mode=EXPLORE, text="x")).behavior is expected


async def test_002_base_6_an_external_tool_is_not_run_here() -> None:
    """The call is handed over by an event, and `call` stays untouched."""
    tool = Echo(is_external_tool=True)
    events = await events_of(agent_of([tool], [call_of("Echo", text="x")]), "Go.")
    assert isinstance(events[-1], RequireExternalExecutionEvent)
    assert tool.heard == []


async def test_002_base_7_the_state_is_injected_where_it_is_wanted() -> None:
    """As `_agent_state`, which the model is not told of and cannot give."""
    seen: list[Any] = []

    class Stateful(Echo):
        is_state_injected = True

        async def call(self, text: str, _agent_state: AgentState) -> ToolChunk:  # type: ignore[override]
            seen.append(_agent_state)
            return await super().call(text)

    state = AgentState()
    await said(Toolkit([Stateful()]), "Echo", state, text="x")
    await said(Toolkit([Echo()]), "Echo", state, text="x")  # it would not take one
    assert seen == [state]


async def test_002_base_8_tools_of_servers_are_marked(office: OfficeAddress) -> None:
    """`is_mcp` is True of them, and of no other."""
    client = client_of(office)
    assert all(tool.is_mcp for tool in await client.list_tools())
    assert not any(one().is_mcp for one in BUILT_IN)


async def test_002_base_9_the_server_of_a_tool_is_named(office: OfficeAddress) -> None:
    """`mcp_name` is the client's name; None of every other tool."""
    client = client_of(office)
    assert {tool.mcp_name for tool in await client.list_tools()} == {"office"}
    assert {one().mcp_name for one in BUILT_IN} == {None}


def test_002_base_10_a_tool_needs_a_permission_check() -> None:
    """A class without one cannot be instantiated; with one it can."""

    class Careless(ToolBase):
        name = "Careless"

    with pytest.raises(TypeError, match="check_permissions"):
        Careless()  # type: ignore[abstract]
    assert Echo().name == "Echo"


async def test_002_base_11_the_check_is_heard_before_the_run() -> None:
    """Its decision denies, asks or allows; only what is allowed runs.

    Deny and ask rules, and the mode, may be stricter than it, not milder than its DENY.
    """
    for opinion, waits, heard in ((ALLOW, False, ["x"]), (ASK, True, []), (DENY, False, [])):
        tool = Echo(opinion=opinion)
        response = await call(Toolkit([tool]), "Echo", text="x")
        assert (response is None) is waits
        assert tool.heard == heard
    for behavior in (DENY, ASK):
        assert (await decide(Echo(), rule("Echo", None, behavior), text="x")).behavior is behavior
    assert (await decide(Echo(), mode=EXPLORE, text="x")).behavior is DENY
    assert (await decide(Echo(opinion=DENY), rule("Echo"), text="x")).behavior is DENY


async def test_002_base_12_read_only_defaults_to_the_attribute() -> None:
    """Without an override, `check_read_only` says what `is_read_only` says."""
    assert await Echo(is_read_only=True).check_read_only({}) is True
    assert await Echo(is_read_only=False).check_read_only({}) is False


async def test_002_base_13_read_only_may_depend_on_the_arguments() -> None:
    """The engine goes by the override where it decides what runs unasked.

    A DENY or a safety question of the tool's own is heard first: it may be about reading.
    """

    class Query(Echo):
        async def check_read_only(self, tool_input: dict[str, Any]) -> bool:
            return str(tool_input["text"]).startswith("select")

    class Secret(Query):
        async def check_permissions(
            self, tool_input: dict[str, Any], context: PermissionContext
        ) -> PermissionDecision:
            return PermissionDecision(ASK, "It is secret.", bypass_immune=True)

    for mode, otherwise in ((EXPLORE, DENY), (EDITS, ASK)):
        tool = Query(opinion=PASSTHROUGH)
        assert (await decide(tool, mode=mode, text="select 1")).behavior is ALLOW
        assert (await decide(tool, mode=mode, text="drop it")).behavior is otherwise
        assert (await decide(Query(opinion=DENY), mode=mode, text="select 1")).behavior is DENY
        assert (await decide(Secret(), mode=mode, text="select 1")).behavior is ASK


async def test_002_base_14_a_tool_may_match_rules_itself() -> None:
    """The content of a rule means what the tool's `match_rule` says it means.

    Content for a tool that reads none is an error: a deny rule of it would do nothing.
    """

    class Prefixed(Echo):
        async def match_rule(self, rule_content: str | None, tool_input: dict[str, Any]) -> bool:
            return rule_content is None or str(tool_input["text"]).startswith(rule_content)

    tool = Prefixed(opinion=PASSTHROUGH)
    assert (await decide(tool, rule("Echo", "ab"), text="abc")).behavior is ALLOW
    assert (await decide(tool, rule("Echo", "ab"), text="b")).behavior is ASK
    with pytest.raises(RuleError, match="cannot read the rule content 'ab'"):
        await call(Toolkit([Echo()]), "Echo", state_of(permitting(rule("Echo", "ab", DENY))))


async def test_002_base_15_a_tool_may_suggest_rules() -> None:
    """A question offers what the tool suggests, as rules, where these spare the question."""

    class Suggesting(Echo):
        async def generate_suggestions(self, tool_input: dict[str, Any]) -> list[PermissionRule]:
            return [rule("Other"), rule("Echo", "y"), rule("Echo")]

        async def match_rule(self, rule_content: str | None, tool_input: dict[str, Any]) -> bool:
            return rule_content in (None, tool_input["text"])

    decision = await decide(Suggesting(opinion=PASSTHROUGH), text="x")
    assert decision.suggested_rules == [rule("Echo")]


async def test_002_base_16_call_may_return_a_chunk() -> None:
    """The chunk is the result."""
    assert await said(Toolkit([Echo()]), "Echo", text="whole") == "whole"


async def test_002_base_17_call_may_yield_chunks() -> None:
    """The chunks are streamed, and together they are the result."""

    class Streaming(Echo):
        async def call(self, text: str) -> AsyncGenerator[ToolChunk, None]:  # type: ignore[override]
            for word in text.split():
                yield ToolChunk(content=[TextBlock(text=word)])

    toolkit = Toolkit([Streaming()])
    stream = toolkit.call_tool(call_of("Echo", text="a b"), AgentState())
    items = [item async for item in stream]
    assert [type(item).__name__ for item in items] == ["ToolChunk", "ToolChunk", "ToolResponse"]
    assert await said(toolkit, "Echo", text="a b") == "ab"


def test_002_base_18_an_external_tool_needs_no_call() -> None:
    """A class without `call` is a tool where it is external."""

    class Outside(ToolBase):
        name = "Outside"
        description = "Done elsewhere."
        input_schema = {"type": "object", "properties": {}}  # noqa: RUF012
        is_concurrency_safe = True
        is_read_only = False
        is_external_tool = True

        async def check_permissions(
            self, tool_input: dict[str, Any], context: PermissionContext
        ) -> PermissionDecision:
            return PermissionDecision(ALLOW, "Fine.")

    assert Toolkit([Outside()]).is_concurrency_safe("Outside")


async def test_002_base_19_calling_a_tool_runs_its_layers_then_call() -> None:
    """`tool(...)` goes through the middlewares; `tool.call(...)` does not."""
    notes: list[str] = []
    tool = Echo(middlewares=[Layer("layer", notes)])
    await tool.call(text="x")
    assert notes == []
    assert await run(tool, text="x") == "x"
    assert notes == ["layer before", "layer after"]


# Use Built-in Tools


@pytest.mark.parametrize("has_ripgrep", [True, False])
async def test_002_builtin_1_the_ten_tools_are_ready_to_use(
    work: Path, monkeypatch: pytest.MonkeyPatch, *, has_ripgrep: bool
) -> None:
    """Each is made without arguments, and does what it is there for; Grep without ripgrep too."""
    if not has_ripgrep:
        monkeypatch.setattr(
            "agentscope_like.tool.builtin.content_search.find_ripgrep", lambda *avoid: None
        )
    (work / "a.txt").write_text("one\n")
    toolkit = Toolkit([one() for one in BUILT_IN])
    assert await shown(toolkit) == [one.__name__ for one in BUILT_IN]
    allowed = permitting(*(rule(one.__name__) for one in BUILT_IN), mode=DEFAULT)
    state = state_of(allowed)

    async def do(name: str, **arguments: Any) -> str:
        return await said(toolkit, name, state, **arguments)

    assert await do("Bash", command="echo hi") == "hi\n"
    assert "one" in await do("Read", file_path="a.txt")
    await do("Edit", file_path="a.txt", old_string="one", new_string="two")
    await do("Write", file_path="b.txt", content="two\n")
    assert [(work / name).read_text() for name in ("a.txt", "b.txt")] == ["two\n", "two\n"]
    assert set((await do("Glob", pattern="*.txt")).split()) == {"a.txt", "b.txt"}
    assert set((await do("Grep", pattern="tw.")).split()) == {"a.txt", "b.txt"}
    await do("TaskCreate", subject="plan", description="")
    await do("TaskUpdate", task_id="1", status="completed")
    assert "completed" in await do("TaskGet", task_id="1")
    assert "plan" in await do("TaskList")


@pytest.mark.parametrize("kind", BUILT_IN)
def test_002_builtin_2_which_of_them_only_read(kind: type[ToolBase]) -> None:
    """Read, Glob, Grep, TaskGet and TaskList do; the others do not."""
    assert kind().is_read_only is (kind in READ_ONLY)


async def test_002_builtin_3_meta_tool_and_viewer_register_themselves(tmp_path: Path) -> None:
    """With groups comes `reset_tools`, with skills `Skill`, and without them neither."""
    write_skill(tmp_path / "pdf")
    assert await shown(Toolkit()) == []
    assert await shown(Toolkit(tool_groups=[ToolGroup("g", "A group.")])) == ["reset_tools"]
    assert await shown(Toolkit(skills_or_loaders=[str(tmp_path)])) == ["Skill"]
