"""The raw-text veto: whatever may begin an expansion must be explained by what was read."""

from __future__ import annotations

import re
from collections.abc import Sequence

from agentscope_like.permission.shell.tree import Span
from agentscope_like.permission.shell.voters.findings import Findings

__all__ = ["unexplained"]

_OPENING = re.compile(r"`|\$\(|\$\{|[<>]\(")
_ESCAPES = re.compile(r"\\+\Z")
_NAMED = re.compile(r"\$\{[A-Za-z_][A-Za-z0-9_]*\}")


def unexplained(text: str, findings: Findings) -> Span | None:
    """Return the first opening of an expansion or substitution that no reading explains, or None.

    A backtick, `$(`, `${`, `<(` or `>(` is explained where an expansion was read, and where none
    can begin: in single quotes, in comments, after a backslash; `<(` and `>(` in all quotes.

    Args:
        text: The command line.
        findings: What the strict reader found in it.
    """
    for match in _OPENING.finditer(text):
        if not _is_explained(text, match, findings):
            return Span(*match.span())
    return None


def _is_explained(text: str, match: re.Match[str], findings: Findings) -> bool:
    place = match.start()
    if place in findings.openings or _within(place, findings.inert):
        return True
    escapes = _ESCAPES.search(text, 0, place)
    if escapes is not None and len(escapes.group()) % 2 == 1:
        return True
    if match.group()[0] in "<>":
        return _within(place, findings.quoted)
    return _NAMED.match(text, place) is not None and _within(place, findings.arithmetic)


def _within(place: int, spans: Sequence[Span]) -> bool:
    return any(span.start <= place < span.end for span in spans)
