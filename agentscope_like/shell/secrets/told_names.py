"""Finds the file names and patterns that stand in a command."""

from __future__ import annotations

import re
from collections.abc import Iterator
from glob import escape as glob_escape
from itertools import pairwise
from typing import TypeAlias

from agentscope_like.shell.analysis import CommandAnalysis, Part
from agentscope_like.shell.facts import choosing_option, shown_in_history
from agentscope_like.shell.names import Prints, name_source, plain_name
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

__all__ = ["Text", "found_names", "held_texts", "named_files", "pieces", "told_texts"]

Text: TypeAlias = tuple[bool, str]
"""Whether a pattern is all of a word, or what a word ends with; and the pattern."""

_NAMED = re.compile(r"-i?(?:name|path|wholename)")
"""Tests of `find` that say which names to list."""

_GIVING = frozenset({":=", "=", ":-", "-", ":+", "+"})
"""Operators whose argument an expansion may become."""

_QUOTES = re.compile(r"[\\'\"]")
_BLANKS = re.compile(r"\s+|\\(?:0+|[abfnrtv])")


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
        yield from filter(is_pattern, ((word or "").rpartition("=")[2] for word in part.argv[1:]))


def told_texts(part: Part, home: str | None) -> Iterator[Text]:
    """Yield the arguments of a part, and the directories that it may make of them.

    Args:
        part: The part.
        home: What `~` stands for, or None where unknown.
    """
    prints_its_words = name_source(part) in {Prints.ITS_WORDS, Prints.NEW_WORDS}
    for word in filter(None, part.argv[1:]):
        yield True, word if prints_its_words else glob_escape(word)
        if prints_its_words:
            yield True, glob_escape(word.rstrip("/").rpartition("/")[0])
    judged = {effect.span for effect in part.effects}  # as what it reads
    for each in part.words[1:]:
        if each.literal is None and each.span not in judged:
            yield _known_text(each, home)


def held_texts(analysis: CommandAnalysis, home: str | None) -> Iterator[Text]:
    """Yield what variables may hold, and the texts of here-documents and here-strings."""
    for _, script in analysis.texts:
        for node in script.nodes:
            held: tuple[Word, ...] = ()
            match node:
                case Assignment(value=value, elements=elements):
                    held = (value, *(elements or ()))
                case For(words=words):
                    held = words or ()
                case (
                    Redirect(target=Heredoc(body=text))
                    | Redirect(operator="<<<", target=Word() as text)
                ):
                    held = (text,)
                case Variable(operator=operator, argument=Word() as given) if operator in _GIVING:
                    held = (given,)
            for each in held:
                yield _known_text(each, home, is_held=True)


def _known_text(word: Word, home: str | None, *, is_held: bool = False) -> Text:
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


def pieces(text: str) -> Iterator[str]:
    """Yield a text, and the names that it may be split into, with and without quotes."""
    names = dict.fromkeys((text, *_BLANKS.split(text)))
    yield from names
    yield from (bare for name in names if (bare := _QUOTES.sub("", name)) != name)
