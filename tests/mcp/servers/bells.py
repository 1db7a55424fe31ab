"""A bundled server of one's own: a module that declares its tools."""

from __future__ import annotations

from agentscope_like.mcp.bundled import mcp_tool


@mcp_tool("bells", read_only=True)
def count() -> int:
    """Return how many bells there are."""
    return 3


@mcp_tool("bells", name="ring")
def ring_the_bell(times: int = 1) -> str:
    """Ring the bell."""
    return "dong " * times
