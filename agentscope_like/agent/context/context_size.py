"""Counts the tokens of a context incrementally."""

from __future__ import annotations

from agentscope_like.message import DataBlock, Msg, TextBlock, UserMsg
from agentscope_like.model import ChatModelBase
from agentscope_like.state import AgentState

__all__ = ["ContextSize", "summary_messages"]


def summary_messages(state: AgentState) -> list[Msg]:
    """Return the message with the summary of removed history, or nothing."""
    return [UserMsg("user", state.summary)] if state.summary else []


class ContextSize:
    """Counts the tokens of a state's summary and context; counts unchanged blocks once.

    Between two rounds a context grows at its end. If a message was removed or replaced, or lost
    blocks, everything is counted again; a block that was changed in place keeps its old count.

    Args:
        state: The state.
        model: Counts.
    """

    def __init__(self, state: AgentState, model: ChatModelBase) -> None:
        self._state = state
        self._model = model
        self._summary: str | list[TextBlock | DataBlock] | None = None
        self._counted: list[tuple[Msg, int]] = []
        self._tokens = 0

    async def count(self) -> int:
        """Return the number of tokens, as the model counts them."""
        if not self._is_continued():
            self._summary, self._counted = self._state.summary, []
            self._tokens = await self._model.count_tokens(summary_messages(self._state))
        if self._counted:  # the last message may have grown
            message, before = self._counted.pop()
            await self._add(message, before)
        for message in self._state.context[len(self._counted) :]:
            await self._add(message, 0)
        return self._tokens

    def _is_continued(self) -> bool:
        context = self._state.context
        return (
            self._summary is self._state.summary
            and len(context) >= len(self._counted)
            and all(
                message is known and len(message.content) >= blocks
                for message, (known, blocks) in zip(context, self._counted, strict=False)
            )
        )

    async def _add(self, message: Msg, before: int) -> None:
        new = message.content[before:]
        if new:
            part = message.model_copy(update={"content": new}) if before else message
            self._tokens += await self._model.count_tokens([part])
        self._counted.append((message, len(message.content)))
