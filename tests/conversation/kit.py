"""Chats for tests."""

from __future__ import annotations

from typing import Any, TypeAlias

from agentscope_like.conversation import InMemoryChat, SQLiteChat
from tests.tool.answers import answer_of, error_of, response_of

__all__ = ["Chat", "answer_of", "error_of", "fill", "response_of"]

Chat: TypeAlias = InMemoryChat | SQLiteChat


async def fill(chat: Chat, *messages: tuple[Any, str]) -> None:
    """Add messages, each a role and a text."""
    for role, text in messages:
        added = chat.add(role, text)
        if not isinstance(added, int):
            await added
