"""Defines `MessageHistoryStore`, the chat that a run may search and read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Protocol

from agentscope_like.conversation.messages import (
    ChatMessage,
    ChatRole,
    FoundMessages,
    MessageHit,
    MessageSearch,
)
from agentscope_like.text_search import SearchQuery, rank, snippet_of

__all__ = ["SNIPPET_CHARACTERS", "MessageHistoryStore", "search_messages"]

SNIPPET_CHARACTERS = 200
"""The most characters of a snippet (seed 001, "chat.search")."""


class MessageHistoryStore(Protocol):
    """The messages of one chat, numbered from 0."""

    async def count(self) -> int:
        """Return the number of messages."""

    async def read(self, indexes: Sequence[int]) -> Mapping[int, ChatMessage]:
        """Return the messages at these places; places without a message are left out."""

    async def search(self, wanted: MessageSearch) -> FoundMessages:
        """Return the messages with any of the words.

        Raises:
            SearchQueryError: The search is blank, or has too many words.
        """


def search_messages(
    wanted: MessageSearch, newest_first: Iterable[ChatMessage], text_at: Callable[[int], str]
) -> FoundMessages:
    """Search messages; every store of this package finds by this.

    Args:
        wanted: The search.
        newest_first: The messages from `wanted.start` to `wanted.end`.
        text_at: Returns the text of one of them.

    Raises:
        SearchQueryError: The search is blank, or has too many words.
    """
    query = SearchQuery.read(wanted.query)
    seen: list[tuple[int, ChatRole]] = []
    scan = _Scan(newest_first, wanted.scan_limit)

    def texts() -> Iterator[str]:
        for message in scan:
            if wanted.role in (None, message.role):
                seen.append((message.index, message.role))
                yield message.text

    best = rank(query, texts())[: wanted.limit]
    hits = []
    for one in best:
        index, role = seen[one.position]
        shown = snippet_of(query, text_at(index), SNIPPET_CHARACTERS)
        hits.append(MessageHit(index, role, shown, one.score))
    return FoundMessages(tuple(hits), scan.count, scan.is_complete)


class _Scan:
    """Goes through messages up to a limit, and knows whether it saw all."""

    def __init__(self, messages: Iterable[ChatMessage], limit: int) -> None:
        self._messages = messages
        self._limit = limit
        self.count = 0
        self.is_complete = True

    def __iter__(self) -> Iterator[ChatMessage]:
        for message in self._messages:
            if self.count == self._limit:
                self.is_complete = False
                return
            self.count += 1
            yield message
