"""Defines the entries of context that were activated for a run, such as of world info."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

from msgspec import Struct

from agentscope_like.conversation.messages import storable
from agentscope_like.exception import ConfigurationError

__all__ = ["ActivatedContextProvider", "ContextEntry", "InMemoryActivations", "checked_entries"]


class ContextEntry(Struct, frozen=True):
    """One entry that was activated for a run.

    Attributes:
        ref: What it is asked for by; unique in a run.
        title: What it is about.
        text: Its text.
        source: Where it comes from, such as the name of a book.
        is_constant: Whether it is active in every run.
        position: Where it stands in the prompt.
    """

    ref: str
    title: str
    text: str
    source: str = ""
    is_constant: bool = False
    position: str = ""


class ActivatedContextProvider(Protocol):
    """Knows which entries were activated for a run when its prompt was made."""

    async def activated(self, run_id: str) -> Sequence[ContextEntry] | None:
        """Return the entries of a run, in their order; None if none were captured for it."""


class InMemoryActivations:
    """Keeps the entries of runs in memory."""

    def __init__(self) -> None:
        self._of_run: dict[str, tuple[ContextEntry, ...]] = {}

    async def capture(self, run_id: str, entries: Iterable[ContextEntry]) -> Sequence[ContextEntry]:
        """Keep the entries of a run, and return those that are kept.

        A run's entries are captured once: a later capture changes nothing.

        Raises:
            ConfigurationError: Two entries have one ref, or one has none.
        """
        return self._of_run.setdefault(run_id, checked_entries(entries))

    async def activated(self, run_id: str) -> Sequence[ContextEntry] | None:
        """Return the entries of a run, in their order; None if none were captured for it."""
        return self._of_run.get(run_id)


def checked_entries(entries: Iterable[ContextEntry]) -> tuple[ContextEntry, ...]:
    """Return the entries as they are stored.

    Raises:
        ConfigurationError: Two entries have one ref, or one has none.
    """
    checked = tuple(
        ContextEntry(
            storable(one.ref),
            storable(one.title),
            storable(one.text),
            storable(one.source),
            one.is_constant,
            storable(one.position),
        )
        for one in entries
    )
    refs: set[str] = set()
    for one in checked:
        if not one.ref or one.ref in refs:
            raise ConfigurationError(
                f"the ref {one.ref!r} does not name one entry: give each a ref of its own"
            )
        refs.add(one.ref)
    return checked
