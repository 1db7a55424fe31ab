"""Keeps a chat in memory."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence

from msgspec.structs import replace

from agentscope_like.conversation.commit import Commit, CommitMode
from agentscope_like.conversation.history import search_messages
from agentscope_like.conversation.messages import (
    ChatMessage,
    ChatRole,
    FoundMessages,
    MessageSearch,
    storable,
)
from agentscope_like.message import Msg

__all__ = ["InMemoryChat"]


class InMemoryChat:
    """A chat in memory: a `MessageHistoryStore`, and a `CommitSink` that adds to it.

    Each run has at most one message, of the assistant.
    """

    def __init__(self) -> None:
        self._messages: list[ChatMessage] = []
        self._of_run: dict[str, int] = {}
        self._commits: list[Commit] = []

    @classmethod
    def of(cls, messages: Iterable[Msg]) -> InMemoryChat:
        """Return a chat of the texts of an agent's messages; messages without text are left out."""
        chat = cls()
        for message in messages:
            text = message.get_text_content()
            if text:
                chat.add(message.role, text, name=message.name)
        return chat

    def add(self, role: ChatRole, text: str, *, name: str = "") -> int:
        """Add a message and return its index.

        Raises:
            ConfigurationError: There is no such role.
        """
        index = len(self._messages)
        self._messages.append(ChatMessage(index, role, storable(text), storable(name)))
        return index

    async def count(self) -> int:
        """Return the number of messages."""
        return len(self._messages)

    async def read(self, indexes: Sequence[int]) -> Mapping[int, ChatMessage]:
        """Return the messages at these places; places without a message are left out."""
        known = range(len(self._messages))
        return {index: self._messages[index] for index in indexes if index in known}

    async def search(self, wanted: MessageSearch) -> FoundMessages:
        """Return the messages with any of the words.

        Raises:
            SearchQueryError: The search is blank, or has too many words.
        """
        messages = tuple(self._messages)
        end = len(messages) if wanted.end is None else wanted.end + 1
        chosen = messages[max(wanted.start, 0) : max(end, 0)]
        return await asyncio.to_thread(
            search_messages, wanted, reversed(chosen), lambda index: messages[index].text
        )

    async def commit(self, text: str, *, mode: CommitMode, reason: str | None, run_id: str) -> None:
        """Replace the message of the run, or add to it; create it where it is missing."""
        made = Commit(run_id, mode, reason)
        index = self._of_run.get(run_id)
        if index is None:
            index = self.add("assistant", "")
            self._of_run[run_id] = index
        message = self._messages[index]
        before = message.text if mode == "append" else ""
        self._messages[index] = replace(message, text=before + storable(text), run_id=run_id)
        self._commits.append(made)

    async def commits(self, run_id: str) -> Sequence[Commit]:
        """Return the commits of a run, the first one first."""
        return [one for one in self._commits if one.run_id == run_id]
