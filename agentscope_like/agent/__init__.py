"""An agent: the loop of reasoning and acting."""

from agentscope_like.agent.agent import Agent, AgentInput
from agentscope_like.agent.config import ModelConfig, ReActConfig

__all__ = ["Agent", "AgentInput", "ModelConfig", "ReActConfig"]
