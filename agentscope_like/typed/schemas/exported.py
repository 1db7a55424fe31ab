"""Writes the schemas of typed tools for models and servers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agentscope_like.tool import ToolSpec
from agentscope_like.tool.arguments import copied
from agentscope_like.tool.risk_label import with_label

if TYPE_CHECKING:
    from agentscope_like.typed.definition import ToolDefinition

__all__ = ["mcp_tool", "openai_tool"]


def openai_tool(tool: ToolDefinition[Any, Any], *, with_risk: bool) -> dict[str, Any]:
    """Return the tool in the chat-completions form."""
    schema = with_label(tool.input_schema) if with_risk else tool.input_schema
    return ToolSpec(tool.name, tool.description, schema).to_openai()


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
