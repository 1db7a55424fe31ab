"""Names in arguments and variables that other commands may use as file names."""

from __future__ import annotations

import re
from collections.abc import Iterator

from agentscope_like.shell.analysis import CommandAnalysis, Part
from agentscope_like.shell.names.name_sources import plain_name
from agentscope_like.shell.syntax import Assignment, For, Heredoc, Redirect, Variable, Word

__all__ = ["held_words", "pieces", "said"]

_QUOTES = re.compile(r"[\\'\"]")
_BLANKS = re.compile(r"\s+|\\(?:0+|[abfnrtv])")
_GIVING = frozenset({":-", "-", ":=", "=", ":+", "+"})
"""Operators whose argument an expansion may become."""


def said(part: Part) -> Iterator[str]:
    """Yield the arguments of a part, and the directories that it makes of them."""
    words = [word for word in part.argv[1:] if word]
    yield from words
    if plain_name(part.program or "") == "dirname":
        yield from (word.rstrip("/").rpartition("/")[0] for word in words)


def pieces(text: str) -> Iterator[str]:
    """Yield a text, and the names that it may be split into, with and without quotes."""
    names = dict.fromkeys((text, *_BLANKS.split(text)))
    yield from names
    yield from (bare for name in names if (bare := _QUOTES.sub("", name)) != name)


def held_words(analysis: CommandAnalysis) -> Iterator[Word]:
    """Yield the values of variables, and the texts of here-documents and here-strings.

    Args:
        analysis: The command, as it was read.
    """
    for _, script in ((analysis.command, analysis.script), *analysis.inner):
        for node in () if script is None else script.nodes:
            match node:
                case Redirect(target=Heredoc(body=body)):
                    yield body
                case Redirect(operator="<<<", target=Word() as word):
                    yield word
                case Assignment(value=value, elements=elements):
                    yield from (value, *(elements or ()))
                case For(words=words):
                    yield from words or ()
                case Variable(operator=operator, argument=Word() as word) if operator in _GIVING:
                    yield word
