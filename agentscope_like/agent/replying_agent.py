"""The interface of the agent that a reply is made for."""

from __future__ import annotations

from typing import Protocol

from agentscope_like.agent.config import (
    ContextConfig,
    InjectionConfig,
    ModelConfig,
    ReActConfig,
)
from agentscope_like.agent.offloader import Offloader
from agentscope_like.middleware import MiddlewareBase, OutputStore
from agentscope_like.model import ChatModelBase
from agentscope_like.state import AgentState
from agentscope_like.tool import Toolkit

__all__ = ["ReplyingAgent"]


class ReplyingAgent(Protocol):
    """The settings of an agent, read anew in each round of a reply; `Agent` has them."""

    name: str
    system_prompt: str
    model: ChatModelBase
    toolkit: Toolkit
    middlewares: tuple[MiddlewareBase, ...]
    model_config: ModelConfig
    context_config: ContextConfig
    react_config: ReActConfig
    injection_config: InjectionConfig
    offloader: Offloader | None
    output_store: OutputStore

    @property
    def state(self) -> AgentState:
        """Return the state."""
