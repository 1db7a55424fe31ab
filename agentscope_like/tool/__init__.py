"""Tools, and the kit that guards their calls.

What is not needed to declare a tool is imported on first use: who only decides about calls, as
`agentscope-like check` does, starts in half the time.
"""

from typing import TYPE_CHECKING

from agentscope_like.lazy import on_first_use
from agentscope_like.message.chunk import ToolChunk, ToolResponse
from agentscope_like.middleware.base import ToolMiddlewareBase
from agentscope_like.tool.base import ParamsBase, ToolBase
from agentscope_like.tool.choice import ToolChoice

if TYPE_CHECKING:
    from agentscope_like.manager import ToolManager
    from agentscope_like.mcp.parameters import SseServerParameters, StreamableHttpServerParameters
    from agentscope_like.tool.builtin.ask_user import AskUser
    from agentscope_like.tool.builtin.bash import Bash
    from agentscope_like.tool.builtin.edit import Edit
    from agentscope_like.tool.builtin.expand_tools import ToolExpandTools
    from agentscope_like.tool.builtin.glob import Glob
    from agentscope_like.tool.builtin.grep import Grep
    from agentscope_like.tool.builtin.human_approval import HumanApproval
    from agentscope_like.tool.builtin.load_skill import LoadSkill
    from agentscope_like.tool.builtin.person import PersonTool
    from agentscope_like.tool.builtin.questions import UserAnswer, UserQuestion
    from agentscope_like.tool.builtin.read import Read
    from agentscope_like.tool.builtin.reset_tools import ResetTools
    from agentscope_like.tool.builtin.task import TaskCreate, TaskGet, TaskList, TaskUpdate
    from agentscope_like.tool.builtin.write import Write
    from agentscope_like.tool.decided import CallRequest, DecidedCall, DecisionLayer
    from agentscope_like.tool.discovery import tool
    from agentscope_like.tool.function import FunctionTool
    from agentscope_like.tool.grant import Grant
    from agentscope_like.tool.group import ToolGroup
    from agentscope_like.tool.mcp import MCPTool
    from agentscope_like.tool.proxy import ToolProxy
    from agentscope_like.tool.source import ToolSource
    from agentscope_like.tool.spec import ToolSpec
    from agentscope_like.tool.toolkit import Toolkit

__all__ = [
    "AskUser",
    "Bash",
    "CallRequest",
    "DecidedCall",
    "DecisionLayer",
    "Edit",
    "FunctionTool",
    "Glob",
    "Grant",
    "Grep",
    "HumanApproval",
    "LoadSkill",
    "MCPTool",
    "ParamsBase",
    "PersonTool",
    "Read",
    "ResetTools",
    "SseServerParameters",
    "StreamableHttpServerParameters",
    "TaskCreate",
    "TaskGet",
    "TaskList",
    "TaskUpdate",
    "ToolBase",
    "ToolChoice",
    "ToolChunk",
    "ToolExpandTools",
    "ToolGroup",
    "ToolManager",
    "ToolMiddlewareBase",
    "ToolProxy",
    "ToolResponse",
    "ToolSource",
    "ToolSpec",
    "Toolkit",
    "UserAnswer",
    "UserQuestion",
    "Write",
    "tool",
]

__getattr__ = on_first_use(
    __name__,
    {
        "AskUser": "builtin.ask_user",
        "Bash": "builtin.bash",
        "CallRequest": "decided",
        "DecidedCall": "decided",
        "DecisionLayer": "decided",
        "Edit": "builtin.edit",
        "FunctionTool": "function",
        "Glob": "builtin.glob",
        "Grant": "grant",
        "Grep": "builtin.grep",
        "HumanApproval": "builtin.human_approval",
        "LoadSkill": "builtin.load_skill",
        "MCPTool": "mcp",
        "PersonTool": "builtin.person",
        "Read": "builtin.read",
        "ResetTools": "builtin.reset_tools",
        "SseServerParameters": ".mcp.parameters",
        "StreamableHttpServerParameters": ".mcp.parameters",
        "TaskCreate": "builtin.task",
        "TaskGet": "builtin.task",
        "TaskList": "builtin.task",
        "TaskUpdate": "builtin.task",
        "ToolExpandTools": "builtin.expand_tools",
        "ToolGroup": "group",
        "ToolManager": ".manager",
        "ToolProxy": "proxy",
        "ToolSource": "source",
        "ToolSpec": "spec",
        "Toolkit": "toolkit",
        "UserAnswer": "builtin.questions",
        "UserQuestion": "builtin.questions",
        "Write": "builtin.write",
        "tool": "discovery",
    },
)
