"""Runs an agent: a loop that calls a model and the tools it asks for."""

from agentscope_like.agent.agent import Agent, AgentInput
from agentscope_like.agent.config import ContextConfig, InjectionConfig, ModelConfig, ReActConfig
from agentscope_like.agent.offloader import Offloader
from agentscope_like.agent.reply import (
    ToolSelector,
    ToolSuggestion,
    Workflow,
    WorkflowChoice,
    WorkflowSelector,
)

__all__ = [
    "Agent",
    "AgentInput",
    "ContextConfig",
    "InjectionConfig",
    "ModelConfig",
    "Offloader",
    "ReActConfig",
    "ToolSelector",
    "ToolSuggestion",
    "Workflow",
    "WorkflowChoice",
    "WorkflowSelector",
]
