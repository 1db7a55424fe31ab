"""Declares the tools of bundled MCP servers, and says how each server is started."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, TypeVar

from msgspec import Struct

from agentscope_like.exception import ConfigurationError
from agentscope_like.mcp.config import StdioMCPConfig
from agentscope_like.nearest import nearest

__all__ = ["SHIPPED", "BundledTool", "bundled_server", "bundled_servers", "mcp_tool"]

FunctionT = TypeVar("FunctionT", bound=Callable[..., Any])

SHIPPED = MappingProxyType({"time": "agentscope_like.mcp.bundled.time_server"})
"""The servers that come along, and the modules that declare their tools."""

_PROGRAM = "agentscope_like.mcp.bundled.serve"


class BundledTool(Struct, frozen=True):
    """A function that is a tool of a bundled server.

    Attributes:
        function: The function; its docstring describes the tool.
        name: The tool's name.
        read_only: Whether it changes nothing.
    """

    function: Callable[..., Any]
    name: str
    read_only: bool


_declared: dict[str, dict[str, BundledTool]] = {}


def mcp_tool(
    server: str, *, name: str | None = None, read_only: bool = False
) -> Callable[[FunctionT], FunctionT]:
    """Declare a function a tool of a bundled server; it stays an ordinary function.

    A `ValueError` that it raises is told to the client, so that a model can mend its call.

    Args:
        server: The server's name.
        name: The tool's name; by default the function's.
        read_only: Whether it changes nothing. The server says so to its clients.

    Raises:
        ConfigurationError: The server has another tool of this name.
    """

    def declare(function: FunctionT) -> FunctionT:
        one = BundledTool(function, name or function.__name__, read_only)
        tools = _declared.setdefault(server, {})
        known = tools.get(one.name)
        if known is not None and _place(known.function) != _place(function):
            raise ConfigurationError(
                f"the bundled server {server!r} has two tools {one.name!r}: "
                f"{_place(known.function)} and {_place(function)}"
            )
        tools[one.name] = one
        return function

    return declare


def bundled_servers() -> Mapping[str, Mapping[str, BundledTool]]:
    """Return the tools that imported modules have declared, by server."""
    return MappingProxyType({name: MappingProxyType(tools) for name, tools in _declared.items()})


def bundled_server(name: str, *, module: str | None = None) -> StdioMCPConfig:
    """Return how a bundled server is started, to be registered as any other.

    It is a process of this Python, and what it may do is decided as for any server.

    Args:
        name: The server's name.
        module: The module that declares its tools, for a server of one's own.

    Raises:
        ConfigurationError: No such server comes along.
    """
    declares = module or SHIPPED.get(name)
    if declares is None:
        raise ConfigurationError(
            f"no MCP server {name!r} comes along{nearest(name, SHIPPED)}; known: "
            f"{', '.join(SHIPPED)}. For one of your own, name the `module` that declares its tools"
        )
    # isolated from the directory that it is started in, unless a module of one's own is there
    options = ["-P"] if module is None else []
    return StdioMCPConfig(command=sys.executable, args=[*options, "-m", _PROGRAM, name, declares])


def _place(function: Callable[..., Any]) -> str:
    return f"{function.__module__}.{function.__qualname__}"
