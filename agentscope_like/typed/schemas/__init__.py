"""Writes the schemas of typed tools for models and servers, and reads those of servers."""

from agentscope_like.typed.schemas.exported import mcp_tool, openai_tool
from agentscope_like.typed.schemas.server_schema import model_of_schema

__all__ = ["mcp_tool", "model_of_schema", "openai_tool"]
