"""Tools, and the kit that guards their calls."""

from agentscope_like.message.chunk import ToolChunk, ToolResponse
from agentscope_like.middleware.base import ToolMiddlewareBase
from agentscope_like.tool.base import ParamsBase, ToolBase
from agentscope_like.tool.builtin.bash import Bash
from agentscope_like.tool.builtin.edit import Edit
from agentscope_like.tool.builtin.glob import Glob
from agentscope_like.tool.builtin.grep import Grep
from agentscope_like.tool.builtin.read import Read
from agentscope_like.tool.builtin.write import Write
from agentscope_like.tool.choice import ToolChoice
from agentscope_like.tool.decided import CallRequest, DecidedCall, DecisionLayer
from agentscope_like.tool.function import FunctionTool
from agentscope_like.tool.grant import Grant
from agentscope_like.tool.toolkit import Toolkit

__all__ = [
    "Bash",
    "CallRequest",
    "DecidedCall",
    "DecisionLayer",
    "Edit",
    "FunctionTool",
    "Glob",
    "Grant",
    "Grep",
    "ParamsBase",
    "Read",
    "ToolBase",
    "ToolChoice",
    "ToolChunk",
    "ToolMiddlewareBase",
    "ToolResponse",
    "Toolkit",
    "Write",
]
