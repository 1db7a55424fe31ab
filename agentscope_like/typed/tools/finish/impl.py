"""Notes in the agent's state that its reply is over."""

from __future__ import annotations

from typing_extensions import override

from agentscope_like.state import AgentState
from agentscope_like.typed.executor import ToolConversation, ToolExecutor
from agentscope_like.typed.tools.finish.definition import FinishAction, FinishObservation

__all__ = ["FinishExecutor"]


class FinishExecutor(ToolExecutor[FinishAction, FinishObservation]):
    """Keeps the final answer, with which the agent ends the reply.

    Args:
        state: The state of the agent, where the executor is called outside of a session.
    """

    inline = True

    def __init__(self, state: AgentState | None = None) -> None:
        self._state = state

    @override
    def __call__(
        self, action: FinishAction, conversation: ToolConversation | None = None
    ) -> FinishObservation:
        """Keep the message, unless the reply must end with data."""
        state = self._state if conversation is None else conversation.state
        if state is not None:
            if state.reply_context.structured_schema is not None:
                return FinishObservation.from_text(
                    "This reply ends with data, not with a text: call the tool for structured "
                    "output instead.",
                    is_error=True,
                )
            state.reply_context.final_answer = action.message
        return FinishObservation.from_text(action.message)
