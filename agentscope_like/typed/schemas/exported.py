"""Writes the schemas of typed tools for models and servers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agentscope_like.tool import ToolSpec
from agentscope_like.tool.arguments import copied

if TYPE_CHECKING:
    from agentscope_like.typed.definition import ToolDefinition

__all__ = ["mcp_tool", "openai_tool"]


def openai_tool(tool: ToolDefinition[Any, Any], *, with_risk: bool) -> dict[str, Any]:
    """Return the tool in the chat-completions form."""
    told: dict[str, Any] = copied(ToolSpec.of(tool).to_openai())
    del with_risk
    return told


def mcp_tool(tool: ToolDefinition[Any, Any]) -> dict[str, Any]:
    """Return the tool in the form of MCP."""
    told: dict[str, Any] = {
        "name": tool.name,
        "description": tool.description,
        "inputSchema": copied(tool.input_schema),
    }
    if tool.observation_type is not None:
        told["outputSchema"] = tool.observation_type.to_mcp_schema()
    if tool.annotations is not None:
        told["annotations"] = tool.annotations.model_dump(exclude_none=True)
    if tool.meta is not None:
        told["_meta"] = copied(dict(tool.meta))
    return told
