"""Texts that a command hands to whoever takes them for names: printed, or held by variables."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from agentscope_like.paths import TooManyFilesError
from agentscope_like.shell.analysis import CommandAnalysis, Part
from agentscope_like.shell.syntax import Assignment, For, Variable, Word, nodes

__all__ = ["held_words", "said", "spelled"]

_QUOTES = re.compile(r"[\\'\"]")
_ESCAPED_BLANK = re.compile(r"\\(?:0+|[abfnrtv])")
_LONGEST = 10_000
"""How many characters of what printf prints are looked at."""


def said(part: Part) -> Iterator[str]:
    """Yield the words that a part is given or prints, as whoever takes them for names may.

    Raises:
        TooManyFilesError: It prints too much to look at.
    """
    words = [word for word in part.argv[1:] if word]
    if part.program == "printf" and words:
        words += _formatted(words[0], words[1:]).split()
    for word in words:
        yield from spelled(word)
        if part.program == "dirname":
            yield word.rstrip("/").rpartition("/")[0]


def spelled(text: str) -> Iterator[str]:
    """Yield a text, and what is left of it where its quotes are taken off, as xargs does."""
    yield text
    if (bare := _QUOTES.sub("", text)) != text:
        yield bare


def _formatted(pattern: str, words: Sequence[str]) -> str:
    """Return what printf prints of some words, as far as it only puts them in.

    Raises:
        TooManyFilesError: It is too much to look at.
    """
    pattern = _ESCAPED_BLANK.sub(" ", pattern)
    pieces = pattern.split("%s")
    taken = len(pieces) - 1
    if not taken:
        return pattern
    text = ""
    for start in range(0, max(len(words), 1), taken):
        given = [*words[start : start + taken], *[""] * taken]
        if len(text) > _LONGEST:
            raise TooManyFilesError
        text += pieces[0] + "".join(map("".join, zip(given, pieces[1:], strict=False)))
    return text


def held_words(analysis: CommandAnalysis) -> Iterator[Word]:
    """Yield the words that variables are given: in assignments, loops and expansions."""
    seen: set[int] = set()
    for node in analysis.nodes:
        if isinstance(node, Assignment | For | Variable) and id(node) not in seen:
            for each in nodes(node):
                if isinstance(each, Word):
                    yield each
                else:
                    seen.add(id(each))
