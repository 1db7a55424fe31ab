"""Sources of tools: they come and go, fail and hang, and the rest works on."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from typing import Any

import pytest

from agentscope_like.exception import ConfigurationError, DeveloperOrientedException
from agentscope_like.message import ToolResultState
from agentscope_like.permission import (
    PermissionBehavior,
    PermissionContext,
    PermissionRule,
    RuleError,
)
from agentscope_like.state import AgentState
from agentscope_like.tool import ToolBase, ToolGroup, Toolkit, ToolSource
from agentscope_like.tool.group import attempt
from tests.tool.kit import Probe, call_of, outcome, text_of


class Server:
    """A source whose tools the test sets, and which it breaks."""

    def __init__(self, name: str = "files", tools: Sequence[str] = ("read",)) -> None:
        self.name = name
        self.version = 1
        self.tools: list[Any] = [self.tool(one) for one in tools]
        self.next: list[Any] | None = None
        self.broken: BaseException | None = None
        self.listed = 0
        self.refreshed = 0

    def tool(self, name: str, opinion: str = "allow") -> ToolBase:
        return Probe(f"mcp__{self.name}__{name}", opinion)

    def offer(self, *tools: Any) -> None:
        """Have other tools, and say so."""
        self.tools = list(tools)
        self.version += 1

    async def list_tools(self) -> list[ToolBase]:
        self.listed += 1
        if self.broken is not None:
            raise self.broken
        return self.tools

    async def refresh(self) -> None:
        self.refreshed += 1
        if self.broken is not None:
            raise self.broken
        if self.next is not None:
            self.offer(*self.next)
            self.next = None


async def shown(kit: Toolkit, *groups: str) -> list[str]:
    """Return the names of the tools that a model is told of."""
    return [schema["function"]["name"] for schema in await kit.get_tool_schemas(groups)]


def denying(name: str, content: str | None = None) -> AgentState:
    """Return a state with a rule that denies."""
    deny = PermissionRule(tool_name=name, rule_content=content, behavior=PermissionBehavior.DENY)
    return AgentState(permission_context=PermissionContext(deny_rules={name: [deny]}))


def test_the_server_of_these_tests_is_a_source() -> None:
    """What is tested is what the protocol asks for."""
    source: ToolSource = Server()
    assert isinstance(source, ToolSource)


async def test_the_tools_of_a_source_are_there() -> None:
    """They are shown behind the toolkit's own of the group, and their calls are decided and run."""
    server = Server(tools=["read", "write"])
    kit = Toolkit([Probe()], mcps=[server])
    assert server.listed == 0
    assert await shown(kit) == ["Probe", "mcp__files__read", "mcp__files__write"]
    assert await kit.get_tool("mcp__files__read") is server.tools[0]
    response = await outcome(kit, call_of("mcp__files__read"), AgentState())
    assert text_of(response) == "mcp__files__read:hi"


async def test_a_source_is_asked_once() -> None:
    """Schemas, decisions and runs ask nobody as long as the version stays the same."""
    server = Server()
    kit = Toolkit(mcps=[server])
    for _ in range(5):
        await shown(kit)
        await outcome(kit, call_of("mcp__files__read"), AgentState())
        await kit.check_tool_available("mcp__files__read", [])
    assert (server.listed, server.refreshed) == (1, 0)


async def test_a_changed_source_is_asked_again() -> None:
    """Whatever comes next sees the new tools, be it the schemas or a decision."""
    server = Server()
    kit = Toolkit(mcps=[server])
    assert await shown(kit) == ["mcp__files__read"]
    server.offer(server.tool("move"))
    assert await shown(kit) == ["mcp__files__move"]
    server.offer(server.tool("copy"))
    assert await outcome(kit, call_of("mcp__files__copy"), AgentState()) is not None
    gone = await outcome(kit, call_of("mcp__files__move"), AgentState())
    assert text_of(gone).startswith("There is no tool named 'mcp__files__move'")


async def test_the_first_call_may_come_before_the_first_listing() -> None:
    """A call of a session that is taken up again finds its tool, and runs alone until then."""
    server = Server()
    kit = Toolkit(mcps=[server])
    assert not kit.is_concurrency_safe("mcp__files__read")
    assert kit.is_concurrency_safe("mcp__other__read")
    response = await outcome(kit, call_of("mcp__files__read"), AgentState())
    assert text_of(response) == "mcp__files__read:hi"
    assert kit.is_concurrency_safe("mcp__files__read")


async def test_refresh_asks_every_source() -> None:
    """Once for each; only those that have changed are listed again."""
    one, two = Server("one"), Server("two")
    kit = Toolkit(mcps=[one], tool_groups=[ToolGroup("group", "G.", mcps=[two])])
    assert await shown(kit, "group") == ["reset_tools", "mcp__one__read", "mcp__two__read"]
    two.next = [two.tool("write")]
    await kit.refresh()
    assert (one.refreshed, two.refreshed, one.listed, two.listed) == (1, 1, 1, 2)
    assert await shown(kit, "group") == ["reset_tools", "mcp__one__read", "mcp__two__write"]


async def test_the_same_tools_again_change_nothing() -> None:
    """A new version with the very same tools does not void a grant that was just given."""
    server = Server()
    kit, state = Toolkit(mcps=[server]), AgentState()
    decided = await kit.decide(call_of("mcp__files__read"), state)
    server.version += 1
    await kit.refresh()
    assert decided.grant is not None
    items = [item async for item in kit.run(decided.grant, state)]
    assert items


async def test_a_tool_that_was_replaced_is_decided_again() -> None:
    """A grant for a tool does not run another one of the same name."""
    from agentscope_like.exception import GrantError

    server = Server()
    kit, state = Toolkit(mcps=[server]), AgentState()
    decided = await kit.decide(call_of("mcp__files__read"), state)
    other = server.tool("read")
    server.offer(other)
    await kit.refresh()
    assert decided.grant is not None
    with pytest.raises(GrantError, match="removed or replaced"):
        _ = [item async for item in kit.run(decided.grant, state)]
    assert isinstance(other, Probe)
    assert other.runs == []


async def test_the_tools_of_a_source_belong_to_its_group() -> None:
    """They are hidden, and cannot be called, while it is not active."""
    kit = Toolkit(tool_groups=[ToolGroup("group", "G.", mcps=[Server()])])
    assert await shown(kit) == ["reset_tools"]
    response = await outcome(kit, call_of("mcp__files__read"), AgentState())
    assert "in the tool group 'group', which is not active" in text_of(response)


# Failure

BROKEN = [
    RuntimeError("connection lost"),
    DeveloperOrientedException("connect it first"),
    TimeoutError("no answer"),
    asyncio.CancelledError(),
    ExceptionGroup("several", [OSError("gone")]),
]


@pytest.mark.parametrize("error", BROKEN, ids=lambda error: type(error).__name__)
async def test_a_source_that_fails_leaves_the_rest_working(
    error: BaseException, caplog: pytest.LogCaptureFixture
) -> None:
    """It has no tools meanwhile, which is logged once and told; after a refresh it is back."""
    bad, good = Server("bad"), Server("good")
    bad.broken = error
    kit = Toolkit([Probe()], mcps=[bad, good])
    assert await shown(kit) == ["Probe", "mcp__good__read"]
    assert await shown(kit) == ["Probe", "mcp__good__read"]
    assert bad.listed == 1
    assert [r.levelno for r in caplog.records] == [logging.WARNING]
    assert "The tool source 'bad' is left out for now" in caplog.records[0].getMessage()
    response = await outcome(kit, call_of("mcp__bad__read"), AgentState())
    assert response is not None
    assert response.state is ToolResultState.ERROR
    assert "The server 'bad' offers no tools for now; it may be unavailable." in text_of(response)
    other = await outcome(kit, call_of("mcp__good__write"), AgentState())
    assert "may be unavailable" not in text_of(other)
    bad.broken = None
    await kit.refresh()
    assert await shown(kit) == ["Probe", "mcp__bad__read", "mcp__good__read"]


async def test_a_source_that_dies_loses_its_tools() -> None:
    """They are not kept from better days, and are there again when it is."""
    server = Server()
    kit = Toolkit(mcps=[server])
    assert await shown(kit) == ["mcp__files__read"]
    server.broken, server.version = OSError("gone"), 2
    assert await shown(kit) == []
    await kit.refresh()
    assert await shown(kit) == []
    server.broken, server.version = None, 3
    assert await shown(kit) == ["mcp__files__read"]


async def test_a_source_whose_version_cannot_be_read() -> None:
    """It is asked once; the others are not touched by it."""

    class Odd(Server):
        @property
        def version(self) -> int:
            if self.listed:
                raise OSError("gone")
            return 1

        @version.setter
        def version(self, _: int) -> None: ...

    odd = Odd("odd")
    kit = Toolkit(mcps=[odd, Server("good")])
    for _ in range(3):
        assert "mcp__good__read" in await shown(kit)
    assert odd.listed == 2


async def test_a_source_that_hangs_does_not_hold_up_the_rest(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """After the longest time that one may take it is left out."""
    monkeypatch.setattr(attempt, "PATIENCE", 0.05)

    class Hanging(Server):
        async def list_tools(self) -> list[ToolBase]:
            await asyncio.Event().wait()
            return []

    kit = Toolkit(mcps=[Hanging("slow"), Server("good")])
    assert await shown(kit) == ["mcp__good__read"]


async def test_a_cancelled_refresh_is_cancelled() -> None:
    """The caller's own cancellation is passed on, not taken for a source's failure."""

    class Hanging(Server):
        async def refresh(self) -> None:
            await asyncio.Event().wait()

    task = asyncio.create_task(Toolkit(mcps=[Hanging()]).refresh())
    await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_what_is_no_tool_is_left_out(caplog: pytest.LogCaptureFixture) -> None:
    """Each tool that no model could call is logged once; the source's others are there."""
    server = Server()
    nameless = Probe("two words")
    server.offer(server.tool("read"), nameless, print)
    kit = Toolkit(mcps=[server])
    assert await shown(kit) == ["mcp__files__read"]
    server.version += 1
    assert await shown(kit) == ["mcp__files__read"]
    assert len(caplog.records) == 2
    assert all("of the source 'files' is left out" in r.getMessage() for r in caplog.records)


# Names


async def test_no_source_takes_the_place_of_another_tool(caplog: pytest.LogCaptureFixture) -> None:
    """A name stays with who has it: the toolkit's own tool, or else the first source's."""
    own = Probe("mcp__one__own")
    one, two = Server("one"), Server("two")
    shared = Probe("shared")
    one.tools = [Probe("mcp__one__own"), shared]
    two.tools = [Probe("shared"), Probe("Probe")]
    kit = Toolkit([Probe(), own], mcps=[one, two])
    for _ in range(2):
        assert await shown(kit) == ["Probe", "mcp__one__own", "shared"]
    assert await kit.get_tool("mcp__one__own") is own
    assert await kit.get_tool("shared") is shared
    hidden = [record.getMessage() for record in caplog.records]
    assert [m.split(" is hidden")[0] for m in hidden] == [
        "The tool 'mcp__one__own' of the source 'one'",
        "The tool 'Probe' of the source 'two'",
        "The tool 'shared' of the source 'two'",
    ]
    one.offer()
    assert await kit.get_tool("shared") is two.tools[0]


async def test_a_tool_that_is_added_takes_its_name_back() -> None:
    """A developer's tool hides a source's of the same name, also when it comes later."""
    server = Server()
    kit = Toolkit(mcps=[server])
    await shown(kit)
    own = Probe("mcp__files__read")
    await kit.add_tool(own)
    assert await kit.get_tool("mcp__files__read") is own
    await kit.remove_tool("mcp__files__read")
    assert await kit.get_tool("mcp__files__read") is server.tools[0]
    with pytest.raises(ConfigurationError, match="'mcp__files__read' was not added here"):
        await kit.remove_tool("mcp__files__read")


@pytest.mark.parametrize("names", [("a", "a"), ("a", "a__b"), ("a__b", "a")])
def test_sources_whose_tools_could_have_one_name(names: tuple[str, str]) -> None:
    """A rule for a tool of one could be a rule for a tool of the other."""
    first, second = map(Server, names)
    with pytest.raises(ConfigurationError, match="cannot be told apart"):
        Toolkit(mcps=[first], tool_groups=[ToolGroup("g", "G.", mcps=[second])])
    Toolkit(mcps=[Server("a"), Server("ab"), Server("a_b")])


@pytest.mark.parametrize("mcps", ["server", [Probe()], Server()])
def test_what_is_no_list_of_sources(mcps: Any) -> None:
    """One source, or something else, is not taken for a list of sources."""
    with pytest.raises(ConfigurationError, match="`mcps`"):
        Toolkit(mcps=mcps)


async def test_clear_forgets_the_sources() -> None:
    """They are asked no more."""
    server = Server()
    kit = Toolkit(mcps=[server])
    await shown(kit)
    kit.clear()
    server.offer(server.tool("late"))
    await kit.refresh()
    assert await shown(kit) == []
    assert (server.listed, server.refreshed) == (1, 0)


# Rules


async def test_rules_for_tools_that_are_not_listed_yet() -> None:
    """They are taken, and hold as soon as the tool is there, and when it comes back."""
    server = Server()
    kit, state = Toolkit(mcps=[server]), denying("mcp__files__move")
    kit.check_rules(state)
    assert await outcome(kit, call_of("mcp__files__read"), state) is not None
    move = server.tool("move")
    for tools in ([move], [], [move]):
        server.offer(*tools)
        response = await outcome(kit, call_of("mcp__files__move"), state)
        assert response is not None
        assert response.state is (ToolResultState.DENIED if tools else ToolResultState.ERROR)
    assert isinstance(move, Probe)
    assert move.runs == []


@pytest.mark.parametrize("name", ["mcp__other__move", "mcp__files", "mcp__file__move", "Bash"])
def test_rules_for_what_no_source_could_have(name: str) -> None:
    """A rule that could never do anything is an error, here as elsewhere."""
    with pytest.raises(RuleError, match="not a tool of this toolkit"):
        Toolkit(mcps=[Server()]).check_rules(denying(name))


async def test_the_content_of_a_rule_is_checked_when_its_tool_is_there() -> None:
    """A content that the tool cannot read is an error then, and nothing runs."""

    class Plain(Probe):
        match_rule = ToolBase.match_rule

    server = Server()
    tool = Plain("mcp__files__read")
    server.tools = [tool]
    kit, state = Toolkit(mcps=[server]), denying("mcp__files__read", "x")
    kit.check_rules(state)
    with pytest.raises(RuleError, match="cannot read the rule content"):
        await outcome(kit, call_of("mcp__files__read"), state)
    assert tool.runs == []
