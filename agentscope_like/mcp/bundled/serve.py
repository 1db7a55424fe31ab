"""Runs a bundled MCP server over its standard streams: `serve SERVER [MODULE]`."""

from __future__ import annotations

import functools
import importlib
import inspect
import sys
from collections.abc import Callable
from typing import Any

from agentscope_like.mcp.bundled.registry import SHIPPED, bundled_servers

__all__ = ["serve"]

_USAGE = "usage: python -m agentscope_like.mcp.bundled.serve SERVER [MODULE]"
_MOST_ARGUMENTS = 2


def serve(name: str, module: str | None = None) -> None:
    """Run the server until its client has gone.

    Args:
        name: The server's name.
        module: The module that declares its tools; None for a server that comes along.

    Raises:
        SystemExit: No such server comes along, or the module declares no tools for it.
    """
    module = module or SHIPPED.get(name)
    if module is None:
        sys.exit(f"no MCP server {name!r} comes along; known: {', '.join(SHIPPED)}. {_USAGE}")
    from mcp.server.mcpserver import MCPServer
    from mcp_types import ToolAnnotations

    importlib.import_module(module)
    tools = bundled_servers().get(name)
    if not tools:
        sys.exit(f"{module} declares no tools for the MCP server {name!r}: see `mcp_tool`")
    server: MCPServer[None] = MCPServer(name, log_level="ERROR")
    for tool in tools.values():
        hints = ToolAnnotations(read_only_hint=True) if tool.read_only else None
        server.add_tool(_telling(tool.function), name=tool.name, annotations=hints)
    server.run("stdio")


def _telling(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function with a `ValueError` told to the client; other errors stay here."""
    from mcp.server.mcpserver.exceptions import ToolError

    if inspect.iscoroutinefunction(function):

        @functools.wraps(function)
        async def awaited(*args: Any, **kwargs: Any) -> Any:
            try:
                return await function(*args, **kwargs)
            except ValueError as error:
                raise ToolError(str(error)) from error

        return awaited

    @functools.wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except ValueError as error:
            raise ToolError(str(error)) from error

    return called


if __name__ == "__main__":
    if not 1 <= len(sys.argv[1:]) <= _MOST_ARGUMENTS:
        sys.exit(_USAGE)
    serve(*sys.argv[1:])
