"""Seed 002, "MCP", row by row, against a server over HTTP and one over standard input."""

from __future__ import annotations

import re
from contextlib import nullcontext
from pathlib import Path

import pytest
from mcp_types import ToolAnnotations
from pydantic import ValidationError

from agentscope_like.exception import ConfigurationError
from agentscope_like.mcp import MCPClient, MCPConnectionError, StdioMCPConfig
from agentscope_like.permission import PermissionBehavior, PermissionMode
from agentscope_like.tool import MCPTool, ToolBase, Toolkit
from agentscope_like.tool.mcp.tool_name import mcp_tool_name
from tests.seed.kit import (
    ALLOW,
    ASK,
    BYPASS,
    DEFAULT,
    DENY,
    EDITS,
    EXPLORE,
    Layer,
    client_of,
    decide,
    permitting,
    rule,
    run,
    said,
    shown,
    state_of,
)
from tests.seed.servers.office import TOOLS, OfficeAddress

NAMES = [f"mcp__office__{tool['name']}" for tool in TOOLS]


async def test_002_mcp_1_negotiation_discovery_and_results_need_no_code(
    office: OfficeAddress, work: Path
) -> None:
    """A client and a toolkit are enough to find a server's tools and to get text from one."""
    (work / "a.txt").write_text("hello")
    toolkit = Toolkit(mcps=[client_of(office)])
    assert await shown(toolkit) == NAMES
    read, *_ = await toolkit.get_tool_schemas()
    assert read["function"]["parameters"] == TOOLS[0]["inputSchema"]
    explore = state_of(permitting(mode=EXPLORE))
    assert await said(toolkit, NAMES[0], explore, path="a.txt") == "hello"
    assert "initialize" in office.office.methods


async def test_002_mcp_2_a_stateful_client_keeps_one_session(office: OfficeAddress) -> None:
    """From `connect` to `close`, over HTTP; calls in between share it."""
    client = client_of(office, is_stateful=True)
    await client.connect()
    assert client.is_connected
    begun = office.office.methods.count("initialize")
    search = await client.get_tool("web_search")
    for query in ("a", "b"):
        assert await run(search, query=query) == f"web_search: {query}"
    assert office.office.methods.count("initialize") == begun
    await client.close()
    assert not client.is_connected


@pytest.mark.usefixtures("programs")
async def test_002_mcp_3_a_program_is_a_stateful_server(work: Path) -> None:
    """Its tools run while it is connected."""
    config = StdioMCPConfig(command="mcp-server-filesystem", args=["--root", str(work)])
    client = MCPClient(name="files", is_stateful=True, mcp_config=config)
    async with client:
        await run(await client.get_tool("write_file"), path="made.txt")
    assert (work / "made.txt").exists()


async def test_002_mcp_4_a_stateless_client_has_no_life_of_its_own(office: OfficeAddress) -> None:
    """It needs no `connect`, and makes a session for each call."""
    client = client_of(office)
    search = await client.get_tool("web_search")
    begun = office.office.methods.count("initialize")
    for query in ("a", "b"):
        assert await run(search, query=query) == f"web_search: {query}"
    assert office.office.methods.count("initialize") == begun + 2
    assert not client.is_connected


def test_002_mcp_5_only_http_can_be_stateless() -> None:
    """A program that is to be stateless is refused."""
    config = StdioMCPConfig(command="true")
    with pytest.raises(ValidationError, match="is_stateful=True"):
        MCPClient(name="files", is_stateful=False, mcp_config=config)
    assert MCPClient(name="files", is_stateful=True, mcp_config=config).name == "files"


async def test_002_mcp_6_tools_carry_the_name_of_their_server(office: OfficeAddress) -> None:
    """`mcp__server__tool`, so that two servers may offer the same tool.

    Names that become alike where illegal characters are mapped stay apart.
    """
    toolkit = Toolkit(mcps=[client_of(office, "one"), client_of(office, "two")])
    names = await shown(toolkit)
    assert len(names) == len(set(names)) == 2 * len(TOOLS)
    assert {"mcp__one__web_search", "mcp__two__web_search"} <= set(names)
    mapped = {mcp_tool_name("one", name) for name in ("a b", "a.b", "axb")}
    assert len(mapped) == 3
    assert all(re.fullmatch(r"mcp__one__axb(_[0-9a-f]{16})?", name) for name in mapped)


@pytest.mark.parametrize(
    ("mode", "reading", "other"),
    [(EXPLORE, ALLOW, DENY), (EDITS, ALLOW, ASK), (DEFAULT, ASK, ASK)],
)
async def test_002_mcp_7_what_says_that_it_reads_is_believed(
    mode: PermissionMode,
    reading: PermissionBehavior,
    other: PermissionBehavior,
    office: OfficeAddress,
) -> None:
    """`readOnlyHint` lets a tool run where reads do; in DEFAULT it asks unless a rule allows it.

    Not where the server is not trusted, or says as well that the tool destroys.
    """
    client = client_of(office)
    search, order = await client.get_tool("web_search"), await client.get_tool("place_order")
    assert (await decide(search, mode=mode, query="x")).behavior is reading
    assert (await decide(order, mode=mode, item="x")).behavior is other
    assert (await decide(search, rule(search.name), mode=mode, query="x")).behavior is ALLOW
    doubted = await client_of(office, trust_annotations=False).get_tool("web_search")
    assert (await decide(doubted, mode=mode, query="x")).behavior is other
    claims = ToolAnnotations(read_only_hint=True, destructive_hint=True)
    definition = doubted.definition.model_copy(update={"annotations": claims})
    destructive = MCPTool("office", definition, client_gen=nullcontext)
    assert (await decide(destructive, mode=mode, query="x")).behavior is other


async def test_002_mcp_8_clients_are_given_to_the_toolkit(office: OfficeAddress) -> None:
    """Several at once; a stateful one is connected first, and has no tools until it is."""
    connected, forgotten = client_of(office, is_stateful=True), client_of(office, is_stateful=True)
    with pytest.raises(MCPConnectionError, match="connect"):
        await forgotten.list_tools()
    async with connected:
        toolkit = Toolkit(mcps=[connected, client_of(office, "search")])
        assert {NAMES[0], "mcp__search__web_search"} <= set(await shown(toolkit))


async def test_002_mcp_9_some_of_the_tools_can_be_chosen(office: OfficeAddress) -> None:
    """By naming those to offer or those to leave out; a name that is not there is an error."""
    enabled = client_of(office, enable_tools=["web_search"])
    assert await shown(Toolkit(mcps=[enabled])) == ["mcp__office__web_search"]
    disabled = client_of(office, disable_tools=["place_order"])
    assert await shown(Toolkit(mcps=[disabled])) == NAMES[:-1]
    with pytest.raises(ConfigurationError, match="web_serch"):
        await client_of(office, enable_tools=["web_serch"]).list_tools()


async def test_002_mcp_10_tools_can_be_used_without_a_toolkit(office: OfficeAddress) -> None:
    """`list_tools` gives tools like any other, which can be called and put into a toolkit."""
    tools = await client_of(office).list_tools()
    assert [tool.name for tool in tools] == NAMES
    assert all(isinstance(tool, MCPTool) and isinstance(tool, ToolBase) for tool in tools)
    notes: list[str] = []
    search = tools[NAMES.index("mcp__office__web_search")]
    search.middlewares = (Layer("layer", notes),)
    assert await run(search, query="x") == "web_search: x"
    assert notes == ["layer before", "layer after"]
    bypass = state_of(permitting(mode=BYPASS))
    assert await said(Toolkit([search]), search.name, bypass, query="x") == "web_search: x"
