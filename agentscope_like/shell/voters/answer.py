"""What the process of the other parsers answers."""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct

__all__ = ["Answer", "NoAnswerError", "Opinion", "Outcome"]


class Outcome(StrEnum):
    """What became of a text in one parser."""

    READ = "read"
    UNSUPPORTED = "unsupported"
    """It says that it does not know some construct."""
    SYNTAX = "syntax"
    """It takes the text for an error."""
    FAILED = "failed"
    ABSENT = "absent"
    """It is not installed."""


class Opinion(Struct, frozen=True, forbid_unknown_fields=True):
    """What one parser found.

    Attributes:
        outcome: What became of the text.
        commands: For each simple command the places of its assignments and words, in characters.
        targets: The places of what redirections name.
    """

    outcome: Outcome
    commands: tuple[tuple[tuple[int, int], ...], ...] = ()
    targets: tuple[tuple[int, int], ...] = ()


class Answer(Struct, frozen=True, forbid_unknown_fields=True):
    """The opinions of both parsers on the question of this number."""

    number: int
    bashlex: Opinion
    tree_sitter: Opinion


class NoAnswerError(Exception):
    """The process of the other parsers gave no answer; the text says why, as what it did."""
