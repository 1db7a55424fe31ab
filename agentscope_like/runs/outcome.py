"""Defines the states of a run, and why it failed."""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct

__all__ = ["RunError", "RunState"]


class RunState(StrEnum):
    """Where a run stands.

    Attributes:
        RUNNING: It works, or has not begun.
        WAITING: It waits for an answer from outside.
        COMPLETED: It was finished.
        PARTIAL_SUCCESS: It failed after something had been committed, which stays.
        FAILED: It failed, and nothing was committed.
        CANCELLED: It was cancelled.
    """

    RUNNING = "running"
    WAITING = "waiting"
    COMPLETED = "completed"
    PARTIAL_SUCCESS = "partial_success"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def is_final(self) -> bool:
        """Return whether the run is over."""
        return self not in (RunState.RUNNING, RunState.WAITING)


class RunError(Struct, frozen=True):
    """Why a run failed.

    Attributes:
        code: The kind of failure, such as `agent.max_rounds_exceeded`.
        message: What happened.
    """

    code: str
    message: str
