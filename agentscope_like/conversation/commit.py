"""Defines `CommitSink`, to which a run publishes its result."""

from __future__ import annotations

from typing import Literal, Protocol, TypeAlias

__all__ = ["CommitMode", "CommitSink"]

CommitMode: TypeAlias = Literal["replace", "append"]
"""Whether a commit replaces what the run committed before, or is added at its end."""


class CommitSink(Protocol):
    """Publishes what a run commits, as one message of a chat for example."""

    async def commit(
        self, text: str, *, mode: Literal["replace", "append"], reason: str | None, run_id: str
    ) -> None:
        """Publish a text as the message of a run, or add it to that message.

        Args:
            text: The text, added exactly as it is.
            mode: `replace` or `append`; both create the message where the run has none.
            reason: Why it is committed, in a few words, for records.
            run_id: The run, which has one message.

        Raises:
            Exception: It may not be published; the run then fails.
        """
