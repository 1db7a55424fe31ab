"""Defines `CommitSink`, to which a run publishes its result."""

from __future__ import annotations

from typing import Literal, Protocol, TypeAlias

from msgspec import Struct

from agentscope_like.exception import ConfigurationError

__all__ = ["Commit", "CommitMode", "CommitSink"]

CommitMode: TypeAlias = Literal["replace", "append"]
"""Whether a commit replaces what the run committed before, or is added at its end."""


class Commit(Struct, frozen=True):
    """A commit that was made.

    Attributes:
        run_id: The run.
        mode: `replace` or `append`.
        reason: Why it was made, if the run said so.

    Raises:
        ConfigurationError: The mode is neither.
    """

    run_id: str
    mode: CommitMode
    reason: str | None = None

    def __post_init__(self) -> None:
        if self.mode not in ("replace", "append"):
            raise ConfigurationError(f"a commit's mode is {self.mode!r}: use replace or append")


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
