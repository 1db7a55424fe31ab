"""The raw-text veto: whatever may begin an expansion must be explained by what was read."""

from __future__ import annotations

import re
from collections.abc import Sequence

from agentscope_like.shell.syntax import Span
from agentscope_like.shell.voters.findings import Findings

__all__ = ["unexplained"]

_OPENING = re.compile(r"`|\$\(|\$\{|[<>]\(")
_NAMED = re.compile(r"\$\{(?:[A-Za-z_][A-Za-z0-9_]*|#[A-Za-z_][A-Za-z0-9_]*(?:\[[@*]\])?)\}")


def unexplained(text: str, findings: Findings) -> Span | None:
    """Return the first opening of an expansion or substitution that no reading explains, or None.

    A backtick, `$(`, `${`, `<(` or `>(` is explained where an expansion was read, and where none
    can begin: in single quotes, in comments, after a backslash; `<(` and `>(` in all quotes.

    Args:
        text: The command line.
        findings: What the strict reader found in it.
    """
    veto = _Veto(text, findings)
    openings = _OPENING.finditer(text)
    return next((Span(*each.span()) for each in openings if not veto.explains(each)), None)


class _Veto:
    """Knows for each character of a text what the strict reader took it for."""

    __slots__ = ("_arithmetic", "_inert", "_openings", "_quoted", "_text")

    def __init__(self, text: str, findings: Findings) -> None:
        self._text = text
        self._openings = findings.openings
        self._inert = _mask(text, findings.inert)
        self._quoted = _mask(text, findings.quoted)
        self._arithmetic = _mask(text, findings.arithmetic)

    def explains(self, opening: re.Match[str]) -> bool:
        place = opening.start()
        if place in self._openings or self._inert[place] or self._is_escaped(place):
            return True
        if opening.group()[0] in "<>":
            return bool(self._quoted[place])
        return bool(self._arithmetic[place]) and _NAMED.match(self._text, place) is not None

    def _is_escaped(self, place: int) -> bool:
        before = place
        while before and self._text[before - 1] == "\\":
            before -= 1
        return (place - before) % 2 == 1


def _mask(text: str, spans: Sequence[Span]) -> bytearray:
    mask = bytearray(len(text))
    for start, end in spans:
        mask[start:end] = b"\1" * (end - start)
    return mask
