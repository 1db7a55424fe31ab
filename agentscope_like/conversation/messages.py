"""Defines the messages of a chat, and what a search in a chat asks for and finds."""

from __future__ import annotations

from typing import Literal, TypeAlias

from msgspec import Struct

from agentscope_like.exception import ConfigurationError

__all__ = [
    "ROLES",
    "ChatMessage",
    "ChatRole",
    "FoundMessages",
    "MessageHit",
    "MessageSearch",
    "storable",
]

ChatRole: TypeAlias = Literal["user", "assistant", "system"]
ROLES: tuple[ChatRole, ...] = ("user", "assistant", "system")


class ChatMessage(Struct, frozen=True):
    """One message of a chat.

    Attributes:
        index: Its place in the chat, from 0.
        role: Who wrote it: `user`, `assistant` or `system`.
        text: What was written.
        name: The writer's name; empty where it is not known.
        run_id: The run that committed it; None where none did.

    Raises:
        ConfigurationError: The role is none of these.
    """

    index: int
    role: ChatRole
    text: str
    name: str = ""
    run_id: str | None = None

    def __post_init__(self) -> None:
        if self.role not in ROLES:
            raise ConfigurationError(f"a message's role is {self.role!r}: use one of {ROLES}")


class MessageSearch(Struct, frozen=True):
    """A search in a chat.

    Attributes:
        query: The words to find.
        limit: The most hits.
        role: Only messages of this role; None for all.
        start: The first message, from 0.
        end: The last message, included; None for the chat's last.
        scan_limit: The most messages to look at, the newest first; messages of other roles count.
    """

    query: str
    limit: int = 20
    role: ChatRole | None = None
    start: int = 0
    end: int | None = None
    scan_limit: int = 100_000


class MessageHit(Struct, frozen=True):
    """A message that a search found.

    Attributes:
        index: Its place in the chat.
        role: Who wrote it.
        snippet: The part of it around the first word that was found.
        score: How well it fits, among the hits of one search.
    """

    index: int
    role: ChatRole
    snippet: str
    score: float


class FoundMessages(Struct, frozen=True):
    """The hits of a search, the best first, and of equal ones the newest.

    Attributes:
        hits: The hits.
        scanned: How many messages were looked at.
        is_complete: Whether these were all messages from `start` to `end`.
    """

    hits: tuple[MessageHit, ...]
    scanned: int
    is_complete: bool


def storable(text: str) -> str:
    """Return a text without halves of characters, which cannot be stored."""
    return text.encode("utf-8", "replace").decode()
