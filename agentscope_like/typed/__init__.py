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
    from agentscope_like.typed.schema import Schema

__all__ = [
    "Action",
    "Content",
    "Effects",
    "ErrorObservation",
    "Observation",
    "Schema",
    "ToolAnnotations",
    "ToolConversation",
    "ToolDefinition",
    "ToolExecutor",
    "observation_of",
]

__getattr__ = on_first_use(
    __name__,
    {
        "Action": "action",
        "Content": "observation",
        "Effects": "effects",
        "ErrorObservation": "observation",
        "Observation": "observation",
        "Schema": "schema",
        "ToolAnnotations": "annotations",
        "ToolConversation": "executor",
        "ToolDefinition": "definition",
        "ToolExecutor": "executor",
        "observation_of": "observation",
    },
)
