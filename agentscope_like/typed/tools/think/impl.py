"""Answers a thought; the call itself is where it is written down."""

from __future__ import annotations

from typing_extensions import override

from agentscope_like.typed.executor import ToolConversation, ToolExecutor
from agentscope_like.typed.tools.think.definition import ThinkAction, ThinkObservation

__all__ = ["ThinkExecutor"]


class ThinkExecutor(ToolExecutor[ThinkAction, ThinkObservation]):
    """Does nothing."""

    inline = True

    @override
    def __call__(
        self, action: ThinkAction, conversation: ToolConversation | None = None
    ) -> ThinkObservation:
        """Say that the thought is written down."""
        del action, conversation
        return ThinkObservation.from_text("Noted.")
