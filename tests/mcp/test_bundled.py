"""Seed 000, 1.1 and 1.6: MCP servers that come along, and how their tools are declared."""

from __future__ import annotations

import asyncio
import importlib
import subprocess
import sys

import pytest

from agentscope_like.exception import ConfigurationError
from agentscope_like.mcp.bundled import bundled_server, bundled_servers, mcp_tool
from agentscope_like.message import ToolResultState
from agentscope_like.permission import PermissionBehavior, PermissionContext, PermissionMode
from agentscope_like.state import AgentState
from agentscope_like.tool import ToolManager
from tests.agent.kit import text_of
from tests.tool.kit import call_of

pytestmark = pytest.mark.slow

BELLS = "tests.mcp.servers.bells"


def state_in(mode: PermissionMode = PermissionMode.BYPASS) -> AgentState:
    """Return a state in a mode."""
    return AgentState(permission_context=PermissionContext(mode=mode))


def test_sage_t_02_a_decorator_registers_the_tools_of_a_server() -> None:
    """Importing the module is enough; the function stays what it is."""
    module = importlib.import_module(BELLS)
    tools = bundled_servers()["bells"]
    assert {name: tool.read_only for name, tool in tools.items()} == {"count": True, "ring": False}
    assert tools["ring"].function is module.ring_the_bell
    assert module.ring_the_bell(2) == "dong dong "
    importlib.reload(module)
    assert list(bundled_servers()["bells"]) == ["count", "ring"]


def test_two_tools_of_one_name_are_refused() -> None:
    """A second function does not take the place of the first in silence."""
    importlib.import_module(BELLS)

    def count() -> int:
        """Return another count."""
        return 4

    with pytest.raises(ConfigurationError, match="two tools 'count'"):
        mcp_tool("bells")(count)
    assert mcp_tool("other bells")(count) is count


async def test_sage_t_33_a_bundled_server_is_registered_as_any_other() -> None:
    """The shipped server and one of one's own start, list and run their tools."""
    async with ToolManager(modules=[]) as manager:
        manager.register_mcp_server("time", bundled_server("time"))
        manager.register_mcp_server("bells", bundled_server("bells", module=BELLS))
        names = [one["function"]["name"] for one in await manager.get_tool_schemas()]
        assert names == [
            "mcp__time__current_time",
            "mcp__time__convert_time",
            "mcp__time__time_between",
            "mcp__bells__count",
            "mcp__bells__ring",
        ]
        rung = await manager.run_tool("mcp__bells__ring", {"times": 2}, state_in())
        assert text_of(rung) == "dong dong "
        arguments = {"time": "2026-03-29T02:30", "to_timezone": "Asia/Tokyo"}
        told = await manager.run_tool("mcp__time__convert_time", arguments, state_in())
        assert text_of(told) == "2026-03-29T11:30:00+09:00 (Sunday)"
        arguments = {"start": "2026-03-29T01:00", "end": "2026-03-29T04:00"}
        arguments["timezone"] = "Europe/Berlin"
        told = await manager.run_tool("mcp__time__time_between", arguments, state_in())
        assert text_of(told) == "2:00:00 (7200 seconds)"


async def test_a_bundled_server_s_tools_are_decided_as_any_other_s() -> None:
    """They ask in the default mode, and a rule for the server denies them."""
    async with ToolManager(modules=[]) as manager:
        manager.register_mcp_server("bells", bundled_server("bells", module=BELLS))
        await manager.get_tool_schemas()
        ring = call_of("mcp__bells__ring", "{}")
        decided = await manager.decide(ring, state_in(PermissionMode.DEFAULT))
        assert decided.behavior is PermissionBehavior.ASK
        context = PermissionContext.from_rules(
            mode=PermissionMode.BYPASS, deny=["mcp__bells__ring"]
        )
        denied = await manager.decide(ring, AgentState(permission_context=context))
        assert denied.behavior is PermissionBehavior.DENY


@pytest.mark.parametrize(
    ("name", "arguments", "told"),
    [
        ("current_time", {"timezone": "Mars/Base"}, "there is no timezone 'Mars/Base'"),
        ("current_time", {"timezone": "../../etc/passwd"}, "there is no timezone"),
        ("convert_time", {"time": "soon", "to_timezone": "UTC"}, "'soon' is no time in ISO 8601"),
    ],
)
async def test_what_is_no_time_is_told(name: str, arguments: dict[str, str], told: str) -> None:
    """A mistake is a result that says what to write instead."""
    async with ToolManager(modules=[]) as manager:
        manager.register_mcp_server("time", bundled_server("time"))
        await manager.get_tool_schemas()
        result = await manager.run_tool(f"mcp__time__{name}", arguments, state_in())
    assert result.state is ToolResultState.ERROR
    assert told in text_of(result)


def test_a_server_that_nobody_declares_is_refused() -> None:
    """Neither by name nor by module does anything start that has no tools."""
    with pytest.raises(ConfigurationError, match="known: time"):
        bundled_server("tme")
    words = [sys.executable, "-m", "agentscope_like.mcp.bundled.serve", "bells", "json"]
    ended = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
    assert ended.returncode == 1
    assert "declares no tools" in ended.stderr


async def test_a_shipped_server_imports_nothing_of_the_directory_it_starts_in(
    tmp_path: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A module of the project under the name of one of the library's is not run."""
    path = str(tmp_path)
    await asyncio.to_thread(_write, f"{path}/zoneinfo.py", "raise SystemExit('taken')")
    monkeypatch.chdir(path)
    async with ToolManager(modules=[]) as manager:
        manager.register_mcp_server("time", bundled_server("time"))
        names = [one["function"]["name"] for one in await manager.get_tool_schemas()]
    assert len(names) == 3


def _write(path: str, text: str) -> None:
    with open(path, "w") as file:
        file.write(text)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["tmie"], "no MCP server 'tmie' comes along; known: time"),
        ([], "usage: python -m"),
        (["time", "agentscope_like.types"], "agentscope_like.types declares no tools"),
    ],
)
def test_a_server_that_cannot_be_run_says_why(arguments: list[str], told: str) -> None:
    """The program ends with a sentence about its arguments."""
    program = [sys.executable, "-m", "agentscope_like.mcp.bundled.serve", *arguments]
    done = subprocess.run(program, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1
    assert told in done.stderr
