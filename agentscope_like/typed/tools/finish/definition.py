"""Defines `FinishTool`, with which a model ends its reply."""

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

__all__ = ["FinishAction", "FinishObservation", "FinishTool"]


class FinishAction(Action):
    """The last word of a reply."""

    message: str = Field(description="The final answer for the user.")


class FinishObservation(Observation):
    """That the reply is over; its content is the message."""


class FinishTool(OwnStateTool[FinishAction, FinishObservation]):
    """Ends the agent's reply; the message becomes the reply's last text (seed 004)."""

    description = (
        "Ends your work on the user's task. Call it once all is done, or when you cannot go on. "
        "`message` is your final answer; nothing that you write afterwards is read."
    )
    annotations = ToolAnnotations(
        title="Finish",
        readOnlyHint=True,
        destructiveHint=False,
        idempotentHint=True,
        openWorldHint=False,
    )

    @classmethod
    @override
    def create(cls, conv_state: AgentState | None = None, **params: Any) -> Sequence[Self]:
        """Return the tool."""
        from agentscope_like.typed.tools.finish.impl import FinishExecutor

        return [cls(executor=FinishExecutor(conv_state), **params)]
