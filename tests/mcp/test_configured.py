"""MCP servers in the form that clients share."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agentscope_like.exception import ConfigurationError
from agentscope_like.mcp import (
    HttpMCPConfig,
    MCPConnectionError,
    MCPServers,
    SseServerParameters,
    StdioMCPConfig,
    StreamableHttpServerParameters,
    read_servers,
)
from tests.mcp.kit import Rogue, Web, descendants, tool

MakeRogue = Callable[..., Rogue]

SEED = {
    "mcpServers": {
        "fetch": {"command": "uvx", "args": ["mcp-server-fetch"]},
        "filesystem": {
            "command": "npx",
            "args": ["-y", "@modelcontextprotocol/server-filesystem", "/path"],
        },
    }
}
"""The configuration that seed 004 shows."""


def of(**server: Any) -> dict[str, Any]:
    """Return a configuration of one server."""
    return {"mcpServers": {"one": server}}


def test_the_seed_s_configuration_is_read() -> None:
    """Its two servers are programs, with the arguments that it gives them; none is started."""
    fetch, filesystem = read_servers(SEED)
    assert fetch.config == StdioMCPConfig(command="uvx", args=["mcp-server-fetch"])
    assert isinstance(filesystem.config, StdioMCPConfig)
    assert filesystem.name == "filesystem"
    assert filesystem.config.args == ["-y", "@modelcontextprotocol/server-filesystem", "/path"]
    assert [client.name for client in MCPServers(SEED)] == ["fetch", "filesystem"]


def test_everything_that_a_server_may_have_is_read() -> None:
    """A program has a directory and variables, an address has headers; both have a time limit."""
    config = {
        "mcpServers": {
            "program": {
                "type": "stdio",
                "command": "serve",
                "args": ["--root", "${ROOT}/x", "$${ROOT}", "$ROOT"],
                "env": {"KEY": "${KEY}"},
                "cwd": "${ROOT}",
                "timeout": 20,
            },
            "address": {
                "url": "https://example.org/${KEY}/mcp",
                "headers": {"Authorization": "Bearer ${KEY}"},
                "timeout": 0.5,
                "disabled": False,
            },
        }
    }
    program, address = read_servers(config, ["ROOT", "KEY"], {"ROOT": "/srv", "KEY": "k1"})
    assert (program.timeout, address.timeout) == (20, 0.5)
    assert isinstance(program.config, StdioMCPConfig)
    assert program.config.args == ["--root", "/srv/x", "${ROOT}", "$ROOT"]
    assert (program.config.env, program.config.cwd) == ({"KEY": "k1"}, "/srv")
    assert isinstance(address.config, HttpMCPConfig)
    assert address.config.url == "https://example.org/k1/mcp"
    assert address.config.headers == {"Authorization": "Bearer k1"}


@pytest.mark.parametrize(
    ("given", "kind", "transport"),
    [
        ({"url": "http://h/mcp"}, HttpMCPConfig, "streamable_http"),
        ({"url": "http://h/sse"}, HttpMCPConfig, "sse"),
        ({"url": "http://h/sse", "type": "http"}, StreamableHttpServerParameters, None),
        ({"url": "http://h/x", "transport": "sse"}, SseServerParameters, "sse"),
        ({"url": "http://h/x", "type": "streamable-http"}, StreamableHttpServerParameters, None),
        ({"command": "x", "transport": "stdio"}, StdioMCPConfig, "stdio"),
    ],
)
def test_the_type_says_how_a_server_is_reached(
    given: dict[str, Any], kind: type, transport: str | None
) -> None:
    """`type` and `transport` mean the same; without one, the address says it."""
    (server,) = read_servers(of(**given))
    assert type(server.config) is kind
    assert isinstance(server.config, StdioMCPConfig | HttpMCPConfig)
    assert server.config.transport.value == (transport or "streamable_http")


@pytest.mark.parametrize(
    ("config", "told"),
    [
        ([], "is list: give"),
        ({}, "'mcpServers' of a configuration of MCP servers is NoneType"),
        ({"mcpServer": {}}, r"unknown key 'mcpServer' .*did you mean 'mcpServers'\?"),
        ({"fetch": {"command": "uvx"}}, "the servers are below 'mcpServers'"),
        ({"mcpServers": {"one": "uvx"}}, "'one' is str: give an object"),
        (of(comand="x"), r"unknown key 'comand' of the MCP server 'one'; did you mean 'command'"),
        (of(), "needs a `command` or a `url`, one of the two"),
        (of(command="x", url="http://h"), "one of the two"),
        (of(command="x", headers={}), "has a `command`, with which `headers` means nothing"),
        (of(url="http://h", env={}), "has a `url`, with which `env` means nothing"),
        (of(command="x", type="http"), "has the type 'http'; .*it may be stdio"),
        (of(url="http://h", type="stremable-http"), "did you mean 'streamable-http'"),
        (of(url="http://h", type="http", transport="sse"), "are one: give one text"),
        (of(command="x", type=3), "are one: give one text"),
        (of(command="x", timeout=0), "`timeout` of the MCP server 'one' is 0: give seconds"),
        (of(command="x", timeout=30000), "at most 3600"),
        (of(command="x", timeout=True), "give seconds"),
        (of(command="x", disabled="no"), "`disabled` .* is 'no': give true or false"),
        (of(command="x", disabled=True, argz=[]), "unknown key 'argz'"),
        (of(command="x", alwaysAllow=["fetch"]), "approves no calls. Give allow rules"),
        (of(command=""), "is not valid: `command`"),
        (of(command="x", args="-y"), "is not valid: `args`"),
        (of(command="x", env={"N": 3}), "is not valid: `env.N`"),
        (of(command="x", args=["${}"]), "`args.0` of the MCP server 'one' has a `\\${`"),
        (of(url="ftp://h"), "`url` is no address of a server"),
    ],
)
def test_what_is_not_understood_is_refused(config: Any, told: str) -> None:
    """The message names the server and the key, and the nearest known one."""
    with pytest.raises(ConfigurationError, match=told):
        read_servers(config)


def test_a_variable_is_used_only_if_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """The environment is no part of a configuration, but for what a person names."""
    monkeypatch.setenv("PAGE_TOKEN", "t0p")
    config = of(command="x", env={"TOKEN": "${PAGE_TOKEN}"})
    (server,) = read_servers(config, ["PAGE_TOKEN"])
    assert isinstance(server.config, StdioMCPConfig)
    assert server.config.env == {"TOKEN": "t0p"}
    with pytest.raises(ConfigurationError, match="uses the environment variable PAGE_TOKEN, which"):
        read_servers(config)
    with pytest.raises(ConfigurationError, match="did you mean 'PAGE_TOKENS'"):
        read_servers(config, ["PAGE_TOKENS"])
    with pytest.raises(ConfigurationError, match=r"give \['PAGE_TOKEN'\]"):
        read_servers(config, "PAGE_TOKEN")


def test_a_variable_that_is_not_set_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is not taken for an empty one; a server that is disabled needs none."""
    monkeypatch.delenv("PAGE_TOKEN", raising=False)
    config = of(command="x", env={"TOKEN": "${PAGE_TOKEN}"})
    with pytest.raises(
        ConfigurationError, match=r"`env\.TOKEN` of the MCP server 'one' .* not set"
    ):
        read_servers(config, ["PAGE_TOKEN"])
    config["mcpServers"]["one"]["disabled"] = True
    servers = MCPServers(config, variables=["PAGE_TOKEN"])
    assert (len(servers), servers.disabled) == (0, ("one",))


@pytest.mark.parametrize("key", ["url", "command"])
def test_no_message_shows_the_value_of_a_variable(key: str) -> None:
    """A value that makes a configuration invalid is named by its place alone."""
    given: dict[str, Any] = {"url": "s3cret${KEY}"}
    if key == "command":
        given = {"command": "x", "args": [{"deep": "${KEY}"}]}
    with pytest.raises(ConfigurationError) as no:
        read_servers(of(**given), ["KEY"], {"KEY": "s3cret"})
    assert "s3cret" not in str(no.value)
    assert no.value.__cause__ is None
    assert no.value.__suppress_context__ or no.value.__context__ is None


def test_a_name_that_no_tool_can_have_is_refused() -> None:
    """The name of a server is a part of its tools' names."""
    with pytest.raises(ConfigurationError, match=r"'my server' is not valid.*letters, digits"):
        MCPServers({"mcpServers": {"my server": {"command": "x"}}})


def test_servers_are_read_from_a_file(tmp_path: Path) -> None:
    """A file of a project is read if it is JSON, and no key is given twice."""
    file = tmp_path / ".mcp.json"
    file.write_text(json.dumps(SEED))
    assert [client.name for client in MCPServers.from_file(file)] == ["fetch", "filesystem"]
    file.write_text('{"mcpServers": {}, "mcpServers": {"a": {"command": "x"}}}')
    with pytest.raises(ConfigurationError, match=r"\.mcp\.json .*'mcpServers' is given twice"):
        MCPServers.from_file(file)
    with pytest.raises(ConfigurationError, match="cannot be read"):
        MCPServers.from_file(tmp_path / "none.json")


async def test_programs_and_addresses_are_connected_to(
    rogue: MakeRogue, web: Web, tmp_path: Path
) -> None:
    """Real servers of both kinds are reached, and nothing of them is left afterwards."""
    program = rogue(tool("echo")).config
    config = {
        "mcpServers": {
            "program": {"command": program.command, "args": program.args, "timeout": 5},
            "address": {"url": web.url("/mcp"), "type": "http"},
            "off": {"command": "no-such-program", "disabled": True},
        }
    }
    async with MCPServers(config) as servers:
        offered = [made.name for client in servers for made in await client.list_tools()]
        assert {"mcp__program__echo", "mcp__address__add"} <= set(offered)
        assert len(descendants(str(tmp_path / "settings.json"))) == 1
        hints = [await client.get_tool("add") for client in servers if client.name == "address"]
        assert [hint.is_read_only for hint in hints] == [False]
    assert descendants(str(tmp_path / "settings.json")) == []


async def test_if_one_server_cannot_be_reached_none_is_left(
    rogue: MakeRogue, tmp_path: Path
) -> None:
    """`connect` names it, and ends those that were reached; `connect_available` keeps them."""
    program = rogue(tool("echo")).config
    config = {
        "mcpServers": {
            "good": {"command": program.command, "args": program.args},
            "bad": {"command": sys.executable, "args": ["-c", "raise SystemExit(3)"]},
        }
    }
    servers = MCPServers(config)
    with pytest.raises(MCPConnectionError, match="'bad' cannot be reached"):
        await servers.connect()
    assert not any(client.is_connected for client in servers)
    assert descendants(str(tmp_path / "settings.json")) == []
    failed = await servers.connect_available()
    assert [(name, type(error)) for name, error in failed.items()] == [("bad", MCPConnectionError)]
    assert [client.name for client in servers if client.is_connected] == ["good"]
    await servers.close()
    assert descendants(str(tmp_path / "settings.json")) == []
