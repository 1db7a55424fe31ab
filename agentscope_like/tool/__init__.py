"""Defines tools, and the toolkit that decides and runs their calls.

Modules that a tool declaration does not need are imported on first use: a program that only decides
calls, such as `agentscope-like check`, starts in half the time.
"""

from typing import TYPE_CHECKING

from agentscope_like.lazy import on_first_use
from agentscope_like.message import ToolChunk, ToolResponse
from agentscope_like.middleware import ToolMiddlewareBase
from agentscope_like.tool.base import ParamsBase, ToolBase
from agentscope_like.tool.choice import ToolChoice
from agentscope_like.tool.resources import DeclaredResources

if TYPE_CHECKING:
    from agentscope_like.manager import ToolManager
    from agentscope_like.mcp import SseServerParameters, StreamableHttpServerParameters
    from agentscope_like.progress import emit_tool_progress
    from agentscope_like.tool.builtin.background import (
        BackgroundCommands,
        CommandOutput,
        CommandStop,
        CommandWait,
    )
    from agentscope_like.tool.builtin.bash import Bash
    from agentscope_like.tool.builtin.chance import DiceRoll
    from agentscope_like.tool.builtin.files import Edit, Read, Write
    from agentscope_like.tool.builtin.memory import (
        Memory,
        MemoryDelete,
        MemorySave,
        MemorySearch,
        MemoryStore,
    )
    from agentscope_like.tool.builtin.people import (
        AskUser,
        HumanApproval,
        PersonTool,
        UserAnswer,
        UserQuestion,
    )
    from agentscope_like.tool.builtin.planning import (
        ResetTools,
        TaskCreate,
        TaskGet,
        TaskList,
        TaskUpdate,
        ToolExpandTools,
    )
    from agentscope_like.tool.builtin.search import Glob, Grep
    from agentscope_like.tool.builtin.skills import (
        LoadSkill,
        SkillLibrary,
        SkillList,
        SkillRead,
        SkillSearch,
    )
    from agentscope_like.tool.builtin.undo import Checkpoints, Restore
    from agentscope_like.tool.builtin.web import WebFetch
    from agentscope_like.tool.call import CallRequest, DecidedCall, DecisionLayer, Grant, RunLayer
    from agentscope_like.tool.group import ToolGroup, ToolSource
    from agentscope_like.tool.held_call import DroppedChanges, HeldCall, HoldingTool, KeptFiles
    from agentscope_like.tool.make import FunctionTool, tool
    from agentscope_like.tool.mcp import MCPTool
    from agentscope_like.tool.proxy import ToolProxy
    from agentscope_like.tool.spec import ToolSpec
    from agentscope_like.tool.tool_names import ToolNames, model_name, shown_name
    from agentscope_like.tool.tool_stream import ToolStream
    from agentscope_like.tool.toolkit import Toolkit
    from agentscope_like.tool.workplace import Workplace

__all__ = [
    "AskUser",
    "BackgroundCommands",
    "Bash",
    "CallRequest",
    "Checkpoints",
    "CommandOutput",
    "CommandStop",
    "CommandWait",
    "DecidedCall",
    "DecisionLayer",
    "DeclaredResources",
    "DiceRoll",
    "DroppedChanges",
    "Edit",
    "FunctionTool",
    "Glob",
    "Grant",
    "Grep",
    "HeldCall",
    "HoldingTool",
    "HumanApproval",
    "KeptFiles",
    "LoadSkill",
    "MCPTool",
    "Memory",
    "MemoryDelete",
    "MemorySave",
    "MemorySearch",
    "MemoryStore",
    "ParamsBase",
    "PersonTool",
    "Read",
    "ResetTools",
    "Restore",
    "RunLayer",
    "SkillLibrary",
    "SkillList",
    "SkillRead",
    "SkillSearch",
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
    "ToolNames",
    "ToolProxy",
    "ToolResponse",
    "ToolSource",
    "ToolSpec",
    "ToolStream",
    "Toolkit",
    "UserAnswer",
    "UserQuestion",
    "WebFetch",
    "Workplace",
    "Write",
    "emit_tool_progress",
    "model_name",
    "shown_name",
    "tool",
]

__getattr__ = on_first_use(
    __name__,
    {
        "HeldCall": "held_call",
        "DroppedChanges": "held_call",
        "HoldingTool": "held_call",
        "KeptFiles": "held_call",
        "AskUser": "builtin.people",
        "BackgroundCommands": "builtin.background",
        "Bash": "builtin.bash",
        "CallRequest": "call",
        "Checkpoints": "builtin.undo",
        "CommandOutput": "builtin.background",
        "CommandStop": "builtin.background",
        "CommandWait": "builtin.background",
        "DecidedCall": "call",
        "DecisionLayer": "call",
        "DiceRoll": "builtin.chance",
        "Edit": "builtin.files",
        "FunctionTool": "make",
        "Glob": "builtin.search",
        "Grant": "call",
        "Grep": "builtin.search",
        "HumanApproval": "builtin.people",
        "LoadSkill": "builtin.skills",
        "MCPTool": "mcp",
        "Memory": "builtin.memory",
        "MemoryDelete": "builtin.memory",
        "MemorySave": "builtin.memory",
        "MemorySearch": "builtin.memory",
        "MemoryStore": "builtin.memory",
        "PersonTool": "builtin.people",
        "Read": "builtin.files",
        "ResetTools": "builtin.planning",
        "Restore": "builtin.undo",
        "RunLayer": "call",
        "SkillLibrary": "builtin.skills",
        "SkillList": "builtin.skills",
        "SkillRead": "builtin.skills",
        "SkillSearch": "builtin.skills",
        "SseServerParameters": ".mcp.parameters",
        "StreamableHttpServerParameters": ".mcp.parameters",
        "TaskCreate": "builtin.planning",
        "TaskGet": "builtin.planning",
        "TaskList": "builtin.planning",
        "TaskUpdate": "builtin.planning",
        "ToolExpandTools": "builtin.planning",
        "ToolGroup": "group",
        "ToolNames": "tool_names",
        "ToolManager": ".manager",
        "ToolProxy": "proxy",
        "ToolSource": "group",
        "ToolSpec": "spec",
        "ToolStream": "tool_stream",
        "Workplace": "workplace",
        "Toolkit": "toolkit",
        "UserAnswer": "builtin.people",
        "UserQuestion": "builtin.people",
        "WebFetch": "builtin.web",
        "Write": "builtin.files",
        "emit_tool_progress": ".progress.call",
        "model_name": "tool_names",
        "shown_name": "tool_names",
        "tool": "make",
    },
)
