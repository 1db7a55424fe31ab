"""Servers that others publish, from the npm registry; where Node is, and the packages can be had.

They are installed once, into pytest's cache directory.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from agentscope_like.mcp import HttpMCPConfig, MCPClient, StdioMCPConfig
from agentscope_like.message import DataBlock, ToolResultState
from agentscope_like.permission import PermissionContext, PermissionMode
from agentscope_like.state import AgentState
from agentscope_like.tool import Toolkit
from tests.mcp.kit import free_port, said_in, wait_for
from tests.tool.kit import call_of, outcome, text_of

NODE, NPM = shutil.which("node"), shutil.which("npm")
EVERYTHING, FILES = "server-everything", "server-filesystem"

pytestmark = pytest.mark.skipif(NODE is None or NPM is None, reason="needs Node")


@pytest.fixture(scope="session")
def servers(pytestconfig: pytest.Config) -> dict[str, Path]:
    """Return the programs of the published servers."""
    if getattr(pytestconfig, "cache", None) is None:
        pytest.skip("needs pytest's cache")
    directory = pytestconfig.cache.mkdir("mcp-servers")
    programs = directory / "node_modules" / ".bin"
    found = {name: programs / f"mcp-{name}" for name in (EVERYTHING, FILES)}
    if not all(path.exists() for path in found.values()):
        packages = [f"@modelcontextprotocol/{name}" for name in found]
        command = [NPM or "npm", "install", "--no-audit", "--no-fund", "--prefix", str(directory)]
        try:
            subprocess.run([*command, *packages], check=True, timeout=50, capture_output=True)
        except (subprocess.SubprocessError, OSError) as error:
            pytest.skip(f"the packages cannot be had: {error}")
    return found


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Return a directory with a file."""
    (tmp_path / "note.txt").write_text("buy milk")
    return tmp_path.resolve()


async def test_the_filesystem_server(servers: dict[str, Path], root: Path) -> None:
    """Over stdio: its reads run unasked where reads do, its writes never."""
    config = StdioMCPConfig(command=str(servers[FILES]), args=[str(root)])
    async with MCPClient(name="files", is_stateful=True, mcp_config=config) as client:
        context = PermissionContext(mode=PermissionMode.EXPLORE)
        toolkit, state = Toolkit(mcps=[client]), AgentState(permission_context=context)
        schemas = {one["function"]["name"] for one in await toolkit.get_tool_schemas()}
        arguments = json.dumps({"path": str(root / "note.txt")})
        read = await outcome(toolkit, call_of("mcp__files__read_text_file", arguments), state)
        arguments = json.dumps({"path": str(root / "new.txt"), "content": "x"})
        write = await outcome(toolkit, call_of("mcp__files__write_file", arguments), state)
        outside = await (await client.get_tool("read_text_file")).call(path="/etc/hostname")
    assert {"mcp__files__read_text_file", "mcp__files__write_file"} <= schemas
    assert text_of(read) == "buy milk"
    assert write is not None
    assert write.state is ToolResultState.DENIED
    assert not (root / "new.txt").exists()
    assert outside.state is ToolResultState.ERROR


async def check_everything(client: MCPClient) -> None:
    """Check the tools of the server that has everything."""
    image = await (await client.get_tool("get-tiny-image")).call()
    assert any(isinstance(block, DataBlock) for block in image.content)
    echo = await (await client.get_tool("echo")).call(message="hi")
    assert said_in(echo) == "Echo: hi"
    total = await (await client.get_tool("get-sum")).call(a=2, b=3)
    assert "5" in said_in(total)
    weather = await (await client.get_tool("get-structured-content")).call(location="Chicago")
    assert json.loads(said_in(weather)).keys() >= {"temperature", "conditions"}
    links = await (await client.get_tool("get-resource-links")).call(count=2)
    assert said_in(links).count("[link to the resource") == 2


async def test_the_everything_server(servers: dict[str, Path]) -> None:
    """Over stdio, everything becomes blocks."""
    config = StdioMCPConfig(command=str(servers[EVERYTHING]), args=["stdio"])
    async with MCPClient(name="all", is_stateful=True, mcp_config=config) as client:
        await check_everything(client)


@pytest.fixture
def address(servers: dict[str, Path], request: pytest.FixtureRequest) -> Iterator[str]:
    """Serve everything over HTTP, of the kind that the parameter says."""
    port = free_port()
    process = subprocess.Popen(
        [servers[EVERYTHING], request.param],
        env={"PORT": str(port), "PATH": str(Path(NODE or "").parent)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        wait_for(port)
        path = "/sse" if request.param == "sse" else "/mcp"
        yield f"http://127.0.0.1:{port}{path}"
    finally:
        process.kill()
        process.wait()


@pytest.mark.parametrize("address", ["streamableHttp", "sse"], indirect=True)
async def test_the_everything_server_over_http(address: str) -> None:
    """Over streamable HTTP and over server-sent events, everything becomes blocks too."""
    config = HttpMCPConfig(url=address)
    async with MCPClient(name="all", is_stateful=True, mcp_config=config) as client:
        await check_everything(client)
