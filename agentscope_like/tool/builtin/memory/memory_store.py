"""Defines the interface of stores of memories."""

from __future__ import annotations

from typing import Protocol

from msgspec import Struct

__all__ = ["Memory", "MemoryStore"]


class Memory(Struct, frozen=True):
    """One note.

    Attributes:
        id: Its number in the store.
        title: What it is about; unique among its owner's.
        text: What is to be remembered.
        saved_at: When it was saved, ISO 8601 in UTC.
    """

    id: int
    title: str
    text: str
    saved_at: str


class MemoryStore(Protocol):
    """Keeps memories and finds them by an index of their words; an owner sees only its own."""

    async def save(self, owner: str, title: str, text: str) -> Memory:
        """Keep a memory; it replaces the owner's memory of the same title.

        Raises:
            ToolArgumentError: The owner has as many as the store takes.
        """

    async def search(self, owner: str, words: str, *, limit: int) -> list[Memory]:
        """Return the memories with any of these words or beginnings of words, the best first."""

    async def index(self, owner: str) -> list[Memory]:
        """Return all memories of the owner, the latest first."""

    async def delete(self, owner: str, memory_id: int) -> bool:
        """Forget a memory of the owner; return whether there was one."""
