"""Settings of an agent."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict, Field

from agentscope_like.model import ChatModelBase

__all__ = ["ModelConfig", "ReActConfig"]


class ReActConfig(BaseModel):
    """How the agent goes through its rounds of reasoning and acting.

    Attributes:
        max_iters: Most rounds that one reply takes (default 50).
        stop_on_reject: Whether a rejection by the user also refuses the calls that come after it in
            the same response (default no).
        interruption_message: What the agent says when it was interrupted.
        interruption_raise_cancelled_error: Whether a cancelled reply raises `CancelledError` after
            its last event; by default it ends like any other interrupted reply.
    """

    model_config = ConfigDict(extra="forbid")

    max_iters: int = Field(default=50, ge=1)
    stop_on_reject: bool = False
    interruption_message: str = "I notice the interruption. How can I help you?"
    interruption_raise_cancelled_error: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelConfig:
    """How the agent calls its model.

    Attributes:
        max_retries: How often a model call that showed nothing yet is tried again, beyond what
            the model itself retries (default 0).
        fallback_model: The model to take when the first one cannot answer.
    """

    max_retries: int = 0
    fallback_model: ChatModelBase | None = None
