"""Reads chats of JSON Lines: one message a line, perhaps after a header."""

from __future__ import annotations

from collections.abc import Iterator
from os import PathLike
from pathlib import Path
from typing import Any

from agentscope_like.conversation.in_memory_chat import InMemoryChat
from agentscope_like.conversation.messages import ROLES, ChatRole
from agentscope_like.exception import ConfigurationError
from agentscope_like.strict_json import read_json

__all__ = ["read_chat_file"]


def read_chat_file(path: str | PathLike[str]) -> InMemoryChat:
    """Return the chat of a file; blocks.

    A line is `{"role": ..., "content": ...}`, or, as SillyTavern writes it, `{"mes": ...}` with
    `is_user`, `is_system` and `name`. A first line without a text is a header, and no message.

    Raises:
        ConfigurationError: The file cannot be read, or a line is no message; it names the line.
    """
    try:
        text = Path(path).read_text("utf-8")
    except (OSError, UnicodeError) as error:
        raise ConfigurationError(f"the chat {path} cannot be read: {error}") from error
    chat = InMemoryChat()
    for number, line in _lines(text):
        try:
            entry = read_json(line)
            if number == 1 and isinstance(entry, dict) and not {"mes", "content"} & entry.keys():
                continue
            role, said = _message(entry)
        except ValueError as error:
            raise ConfigurationError(f"line {number} of {path} is no message: {error}") from error
        chat.add(role, said, name=str(entry.get("name") or ""))
    return chat


def _lines(text: str) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            yield number, line


def _message(entry: Any) -> tuple[ChatRole, str]:
    """Return who wrote a message, and its text.

    Raises:
        ValueError: It is no message.
    """
    said = entry.get("content", entry.get("mes")) if isinstance(entry, dict) else None
    if not isinstance(said, str):
        raise ValueError("it has neither `content` nor `mes`")
    if "role" not in entry:
        if entry.get("is_system"):
            return "system", said
        return ("user" if entry.get("is_user") else "assistant"), said
    for role in ROLES:
        if entry["role"] == role:
            return role, said
    raise ValueError(f"its role is {entry['role']!r}")
