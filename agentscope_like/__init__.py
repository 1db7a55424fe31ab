"""A permission-first toolkit for coding agents: every tool call decided, explained and guarded.

What a first program needs can be imported from here; the packages have the rest. Each name is
imported on its first use.
"""

from typing import TYPE_CHECKING

from agentscope_like.lazy import on_first_use
from agentscope_like.version import __version__

if TYPE_CHECKING:
    from agentscope_like.agent import Agent
    from agentscope_like.event import (
        ConfirmResult,
        RequireUserConfirmEvent,
        UserConfirmResultEvent,
    )
    from agentscope_like.message import (
        AssistantMsg,
        Msg,
        SystemMsg,
        TextBlock,
        ToolCallBlock,
        UserMsg,
    )
    from agentscope_like.model import OpenAIChatModel, ScriptedModel
    from agentscope_like.permission import (
        PermissionBehavior,
        PermissionContext,
        PermissionDecision,
        PermissionEngine,
        PermissionMode,
        PermissionRule,
    )
    from agentscope_like.state import AgentState
    from agentscope_like.tool import (
        AskUser,
        Bash,
        Edit,
        FunctionTool,
        Glob,
        Grep,
        HumanApproval,
        Read,
        ToolBase,
        Toolkit,
        Write,
    )
    from agentscope_like.typed import Tool

__all__ = [
    "Agent",
    "AgentState",
    "AskUser",
    "AssistantMsg",
    "Bash",
    "ConfirmResult",
    "Edit",
    "FunctionTool",
    "Glob",
    "Grep",
    "HumanApproval",
    "Msg",
    "OpenAIChatModel",
    "PermissionBehavior",
    "PermissionContext",
    "PermissionDecision",
    "PermissionEngine",
    "PermissionMode",
    "PermissionRule",
    "Read",
    "RequireUserConfirmEvent",
    "ScriptedModel",
    "SystemMsg",
    "TextBlock",
    "Tool",
    "ToolBase",
    "ToolCallBlock",
    "Toolkit",
    "UserConfirmResultEvent",
    "UserMsg",
    "Write",
    "__version__",
]

__getattr__ = on_first_use(
    __name__,
    {
        "Agent": "agent",
        "AgentState": "state",
        "AskUser": "tool",
        "AssistantMsg": "message",
        "Bash": "tool",
        "ConfirmResult": "event",
        "Edit": "tool",
        "FunctionTool": "tool",
        "Glob": "tool",
        "Grep": "tool",
        "HumanApproval": "tool",
        "Msg": "message",
        "OpenAIChatModel": "model",
        "PermissionBehavior": "permission",
        "PermissionContext": "permission",
        "PermissionDecision": "permission",
        "PermissionEngine": "permission",
        "PermissionMode": "permission",
        "PermissionRule": "permission",
        "Read": "tool",
        "RequireUserConfirmEvent": "event",
        "ScriptedModel": "model",
        "SystemMsg": "message",
        "TextBlock": "message",
        "Tool": "typed",
        "ToolBase": "tool",
        "ToolCallBlock": "message",
        "Toolkit": "tool",
        "UserConfirmResultEvent": "event",
        "UserMsg": "message",
        "Write": "tool",
    },
)
