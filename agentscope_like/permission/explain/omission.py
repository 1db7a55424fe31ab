"""Finds pieces of a command without which it would be proven to read only."""

from __future__ import annotations

import re
from collections.abc import Iterator

from agentscope_like.shell import CommandAnalysis, Part
from agentscope_like.shell.syntax import Span

__all__ = ["MAX_TRIALS", "omissions", "without"]

MAX_TRIALS = 12
"""How many shortened commands are analysed at most for one explanation."""

_CONNECTOR_BEFORE = re.compile(r"\s*(?:\|\||&&|\|&|[|;&\n])\s*$")
_CONNECTOR_AFTER = re.compile(r"\s*(?:\|\||&&|\|&|[|;&\n])\s*")


def without(command: str, span: Span) -> str:
    """Return the command without the characters of `span`, and without the gap they leave."""
    before, after = command[: span.start], command[span.end :]
    if not before.strip():
        return after.lstrip()
    if not after.strip():
        return before.rstrip()
    if before[-1].isspace() and after[0].isspace():
        after = after.lstrip(" \t")
    return before + after


def omissions(analysis: CommandAnalysis) -> tuple[Span, ...]:
    """Return single pieces of the command without which it is proven to read only.

    A piece is a redirection, an option, an environment prefix, or a whole part with its connector.
    Each is tried by analysing the command without it.

    Returns:
        The places of the pieces, the shortest first; none contains another.
    """
    if analysis.script is None or analysis.read_only:
        return ()
    found: list[Span] = []
    for span in _candidates(analysis)[:MAX_TRIALS]:
        if not any(span.holds(inner) for inner in found) and _reads_only(analysis, span):
            found.append(span)
    return tuple(found)


def _candidates(analysis: CommandAnalysis) -> list[Span]:
    """Return the pieces that could be the only ones in doubt, the shortest first."""
    fitting = {
        piece
        for index, part in enumerate(analysis.parts)
        for piece in _pieces(analysis.command, part)
        if _touches_all(piece, analysis, but=index)
    }
    return sorted(fitting, key=lambda span: (span.end - span.start, span))


def _touches_all(piece: Span, analysis: CommandAnalysis, *, but: int) -> bool:
    """Return whether every doubt touches the piece, but those of the part `but` itself."""
    others = [part for index, part in enumerate(analysis.parts) if index != but]
    doubts = [*analysis.doubts, *(doubt for part in others for doubt in part.doubts)]
    return all(d.span.start < piece.end and piece.start < d.span.end for d in doubts)


def _pieces(command: str, part: Part) -> Iterator[Span]:
    for redirect in part.redirects:
        yield redirect.span
    for assignment in part.assignments:
        yield assignment.span
    for word, argument in zip(part.words[1:], part.argv[1:], strict=False):
        if argument is not None and argument.startswith("-"):
            yield word.span
    if part.parent is None:
        yield from _with_connector(command, part)


def _with_connector(command: str, part: Part) -> Iterator[Span]:
    ends = [part.span.end, *(redirect.span.end for redirect in part.redirects)]
    starts = [part.span.start, *(redirect.span.start for redirect in part.redirects)]
    start, end = min(starts), max(ends)
    if joined := _CONNECTOR_BEFORE.search(command[:start]):
        yield Span(joined.start(), end)
    elif joined := _CONNECTOR_AFTER.match(command, end):
        yield Span(start, joined.end())


def _reads_only(analysis: CommandAnalysis, span: Span) -> bool:
    from agentscope_like.shell import analyze

    shorter = without(analysis.command, span)
    return bool(shorter) and analyze(shorter, directory=analysis.directory).read_only
