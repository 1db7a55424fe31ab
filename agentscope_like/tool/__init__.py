"""Tools, and the kit that guards their calls."""

from agentscope_like.message.chunk import ToolChunk, ToolResponse
from agentscope_like.middleware.base import ToolMiddlewareBase
from agentscope_like.tool.base import ParamsBase, ToolBase

__all__ = ["ParamsBase", "ToolBase", "ToolChunk", "ToolMiddlewareBase", "ToolResponse"]
