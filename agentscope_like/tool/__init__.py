"""Tools, and the kit that guards their calls."""

from agentscope_like.message.chunk import ToolChunk, ToolResponse
from agentscope_like.middleware.base import ToolMiddlewareBase
from agentscope_like.tool.base import ParamsBase, ToolBase
from agentscope_like.tool.choice import ToolChoice
from agentscope_like.tool.decided import CallRequest, DecidedCall, DecisionLayer
from agentscope_like.tool.function import FunctionTool
from agentscope_like.tool.grant import Grant
from agentscope_like.tool.toolkit import Toolkit

__all__ = [
    "CallRequest",
    "DecidedCall",
    "DecisionLayer",
    "FunctionTool",
    "Grant",
    "ParamsBase",
    "ToolBase",
    "ToolChoice",
    "ToolChunk",
    "ToolMiddlewareBase",
    "ToolResponse",
    "Toolkit",
]
