"""Typed tools: an action in, an observation out, decided and run as every tool is.

Modules are imported on first use.
"""

from typing import TYPE_CHECKING

from agentscope_like.lazy import on_first_use

if TYPE_CHECKING:
    from agentscope_like.typed.action import Action
    from agentscope_like.typed.annotations import ToolAnnotations
    from agentscope_like.typed.definition import ToolDefinition
    from agentscope_like.typed.effects import Effects
    from agentscope_like.typed.executor import ToolConversation, ToolExecutor
    from agentscope_like.typed.observation import (
        Content,
        ErrorObservation,
        Observation,
        observation_of,
    )
    from agentscope_like.typed.registry import (
        PackagedTool,
        Tool,
        ToolRegistry,
        default_registry,
        find_tools,
        list_packaged_tools,
        list_registered_tools,
        register_packaged_tool,
        register_tool,
        resolve_tool,
        unregister_tool,
    )
    from agentscope_like.typed.schema import Schema

__all__ = [
    "Action",
    "Content",
    "Effects",
    "ErrorObservation",
    "Observation",
    "PackagedTool",
    "Schema",
    "Tool",
    "ToolAnnotations",
    "ToolConversation",
    "ToolDefinition",
    "ToolExecutor",
    "ToolRegistry",
    "default_registry",
    "find_tools",
    "list_packaged_tools",
    "list_registered_tools",
    "observation_of",
    "register_packaged_tool",
    "register_tool",
    "resolve_tool",
    "unregister_tool",
]

__getattr__ = on_first_use(
    __name__,
    {
        "Action": "action",
        "Content": "observation",
        "Effects": "effects",
        "ErrorObservation": "observation",
        "Observation": "observation",
        "PackagedTool": "registry",
        "Schema": "schema",
        "Tool": "registry",
        "ToolAnnotations": "annotations",
        "ToolConversation": "executor",
        "ToolDefinition": "definition",
        "ToolExecutor": "executor",
        "ToolRegistry": "registry",
        "default_registry": "registry",
        "find_tools": "registry",
        "list_packaged_tools": "registry",
        "list_registered_tools": "registry",
        "observation_of": "observation",
        "register_packaged_tool": "registry",
        "register_tool": "registry",
        "resolve_tool": "registry",
        "unregister_tool": "registry",
    },
)
