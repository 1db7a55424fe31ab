"""Compares the commands that a second reader finds in a text with those of the tree."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

from msgspec import Struct

from agentscope_like.shell import shortened
from agentscope_like.shell.syntax import Heredoc, Redirect, Script, SimpleCommand, Span

__all__ = ["Opinion", "difference"]

_Places: TypeAlias = tuple[tuple[int, int], ...]
"""Where the words of one command stand, in characters."""


class Opinion(Struct, frozen=True, forbid_unknown_fields=True):
    """What a second reader finds in a text.

    Attributes:
        is_read: Whether it can read all of it.
        commands: For each simple command the places of its assignments and words.
        targets: The places of redirection targets.
    """

    is_read: bool
    commands: tuple[_Places, ...] = ()
    targets: tuple[tuple[int, int], ...] = ()


def difference(text: str, script: Script, opinion: Opinion) -> tuple[str, Span] | None:
    """Return the first difference, as the rest of a sentence and a place, or None.

    Args:
        text: The text.
        script: Its tree.
        opinion: What the second reader finds in it.
    """
    if not opinion.is_read:
        return "cannot read all of it", Span(0, len(text))
    pairs = (
        ("the command", _commands(script), opinion.commands),
        ("the redirection to", _targets(script), [(target,) for target in opinion.targets]),
    )
    for what, read, found in pairs:
        here, there = (_normal(text, each) for each in (read, found))
        for verb, differing in (("finds", there - here), ("misses", here - there)):
            if differing:
                first = min(differing)
                span = Span(first[0][0], first[-1][1])
                return f"{verb} {what} `{shortened(text[slice(*span)])}`", span
    return None


def _commands(script: Script) -> Iterable[_Places]:
    for node in script.nodes:
        if isinstance(node, SimpleCommand):
            spans = [each.span for each in node.assignments]
            spans += [each.span for each in node.words]
            yield tuple((span.start, span.end) for span in dict.fromkeys(spans))


def _targets(script: Script) -> Iterable[_Places]:
    for node in script.nodes:
        if (
            isinstance(node, Redirect)
            and node.operator not in {">&", "<&"}
            and not isinstance(node.target, Heredoc)
        ):
            yield ((node.target.span.start, node.target.span.end),)


def _normal(text: str, commands: Iterable[_Places]) -> set[_Places]:
    """Return the commands that have words, without line continuations behind these."""
    return {tuple(_trimmed(text, place) for place in places) for places in commands if places}


def _trimmed(text: str, place: tuple[int, int]) -> tuple[int, int]:
    start, end = place
    while text.endswith("\\\n", start, end):
        end -= 2
    return start, end
