"""Defines `RunControl`, by which the tools of a run end it."""

from __future__ import annotations

__all__ = ["RunControl"]


class RunControl:
    """What a run has committed, and whether it was told to finish.

    Args:
        run_id: The run.
        foreground: Whether it has to commit before it finishes.
    """

    def __init__(self, run_id: str, *, foreground: bool = False) -> None:
        self.run_id = run_id
        self.foreground = foreground
        self.committed = 0
        self.finished = False
        self.reason: str | None = None

    def finish(self, reason: str | None = None) -> None:
        """End the run after the call that is under way."""
        self.finished = True
        self.reason = reason
