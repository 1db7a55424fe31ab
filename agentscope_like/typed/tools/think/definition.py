"""Defines `ThinkTool`, with which a model writes down a thought."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

from pydantic import Field
from typing_extensions import override

from agentscope_like.state import AgentState
from agentscope_like.typed.action import Action
from agentscope_like.typed.annotations import ToolAnnotations
from agentscope_like.typed.observation import Observation
from agentscope_like.typed.tools.ready_made import OwnStateTool

__all__ = ["ThinkAction", "ThinkObservation", "ThinkTool"]


class ThinkAction(Action):
    """A thought."""

    thought: str = Field(description="What you think.")


class ThinkObservation(Observation):
    """That the thought is written down."""


class ThinkTool(OwnStateTool[ThinkAction, ThinkObservation]):
    """Lets a model write down a thought; it does nothing else (seed 004)."""

    description = (
        "Writes down a thought, and does nothing else. Use it to weigh several ways, or to plan, "
        "before you act."
    )
    annotations = ToolAnnotations(
        title="Think",
        readOnlyHint=True,
        destructiveHint=False,
        idempotentHint=True,
        openWorldHint=False,
    )

    @classmethod
    @override
    def create(cls, conv_state: AgentState | None = None, **params: Any) -> Sequence[Self]:
        """Return the tool."""
        from agentscope_like.typed.tools.think.impl import ThinkExecutor

        del conv_state
        return [cls(executor=ThinkExecutor(), **params)]
