"""File names and patterns in the arguments of a part, and the known text of a word."""

from __future__ import annotations

import re
from collections.abc import Iterator
from glob import escape as glob_escape
from itertools import pairwise
from typing import TypeAlias

from agentscope_like.shell.analysis import CommandAnalysis, Part
from agentscope_like.shell.facts import choosing_option, shown_in_history
from agentscope_like.shell.names import plain_name
from agentscope_like.shell.syntax import (
    Assignment,
    For,
    Glob,
    Heredoc,
    Literal,
    Redirect,
    Tilde,
    Variable,
    Word,
    covered,
)
from agentscope_like.shell.touches import is_pattern

__all__ = ["Text", "found_names", "held_words", "known_text", "named_files", "pieces", "said"]

Text: TypeAlias = tuple[bool, str]
"""Whether a text is all of a word, and the text."""

_NAMED = re.compile(r"-i?(?:name|path|wholename)")
"""Tests of `find` that say which names to list."""

_GIVING = frozenset({":=", "=", ":-", "-", ":+", "+"})
"""Operators whose argument an expansion may become."""

_QUOTES = re.compile(r"[\\'\"]")
_BLANKS = re.compile(r"\s+|\\(?:0+|[abfnrtv])")


def known_text(word: Word, home: str | None, *, is_held: bool = False) -> Text:
    """Return the pattern that a word is, or ends with where some of it is computed.

    Args:
        word: The word.
        home: What `~` stands for, or None where unknown.
        is_held: Whether a variable may hold it, of which quotes are no more.
    """
    texts: list[str] = []
    is_whole = True
    for segment in covered(word.segments):
        match segment:
            case Glob(text=text):
                texts.append(text)
            case Literal(text=text, quoted=quoted):
                texts.append(glob_escape(text) if quoted and not is_held else text)
            case Tilde(user="") | Variable(name="HOME", operator=None) if home:
                texts.append(glob_escape(home))
            case _:
                is_whole, texts = False, []
    return is_whole, "".join(texts)


def named_files(part: Part) -> Iterator[tuple[str, str]]:
    """Yield the names and patterns that a part shows or searches, each with its verb."""
    if part.program == "git":
        for name in shown_in_history(part):
            yield name, "show"
    option = choosing_option(part)
    words = [word or "" for word in part.argv[1:]] if option is not None else []
    for word, value in pairwise([*words, ""]):
        found = option.fullmatch(word) if option is not None else None
        name = (found[1] or value) if found is not None else ""
        if name and not name.startswith("!"):
            yield name, "search"


def found_names(part: Part) -> Iterator[str]:
    """Yield the names and patterns that `find`, or `git ls-files`, looks for."""
    if plain_name(part.program or "") == "find":
        for word, value in pairwise(part.argv):
            if word is not None and value and _NAMED.fullmatch(word):
                yield value
    elif part.git_command is not None:
        for word in filter(None, part.argv[1:]):
            name = word.rpartition("=")[2]
            if is_pattern(name):
                yield name


def said(part: Part) -> Iterator[str]:
    """Yield the arguments of a part, and the directories that it makes of them."""
    words = [word for word in part.argv[1:] if word]
    yield from words
    if plain_name(part.program or "") == "dirname":
        yield from (word.rstrip("/").rpartition("/")[0] for word in words)


def held_words(analysis: CommandAnalysis) -> Iterator[Word]:
    """Yield the words that variables may hold, and the texts of here-documents and here-strings."""
    for _, script in analysis.texts:
        for node in script.nodes:
            match node:
                case Assignment(value=value, elements=elements):
                    yield value
                    yield from elements or ()
                case For(words=words):
                    yield from words or ()
                case (
                    Redirect(target=Heredoc(body=text))
                    | Redirect(operator="<<<", target=Word() as text)
                ):
                    yield text
                case Variable(operator=operator, argument=Word() as given) if operator in _GIVING:
                    yield given


def pieces(text: str) -> Iterator[str]:
    """Yield a text, and the names that it may be split into, with and without quotes."""
    names = dict.fromkeys((text, *_BLANKS.split(text)))
    yield from names
    yield from (bare for name in names if (bare := _QUOTES.sub("", name)) != name)
