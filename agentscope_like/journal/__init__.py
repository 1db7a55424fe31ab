"""Records what a run does before it does it, readable after the process was killed."""

from __future__ import annotations

from agentscope_like.journal.journal import Journal, JournalError
from agentscope_like.journal.reading import CallOutcome, JournalEntry, RecordedCall, RecordedRun

__all__ = [
    "CallOutcome",
    "Journal",
    "JournalEntry",
    "JournalError",
    "RecordedCall",
    "RecordedRun",
]
