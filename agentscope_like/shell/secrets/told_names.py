"""Finds the file names and patterns that stand in a command."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from agentscope_like.shell.analysis import Part
from agentscope_like.shell.facts import choosing_option, shown_in_history
from agentscope_like.shell.names import Prints, name_source
from agentscope_like.shell.touches import is_pattern
from agentscope_like.shell.values import Argument, Unknown

__all__ = ["found_names", "named_files", "pieces", "told_values"]

_NAMED = re.compile(r"-i?(?:name|path|wholename)")
"""Tests of `find` that say which names to list."""

_QUOTES = re.compile(r"[\\'\"]")
_BLANKS = re.compile(r"\s+|\\(?:0+|[abfnrtv])")


def named_files(part: Part) -> Iterator[tuple[str, str]]:
    """Yield the names and patterns that a part shows or searches, each with its verb."""
    if part.program == "git":
        for name in shown_in_history(part):
            yield name, "show"
    option = choosing_option(part.program)
    if option is None:
        return
    for word, value in pairwise([*part.argv[1:], ""]):
        found = option.fullmatch(word or "")
        chosen = (found[1] or value) if found is not None else None
        if chosen and not chosen.startswith("!"):
            yield chosen, "search"


def found_names(part: Part) -> Iterator[str]:
    """Yield the names and patterns that `find`, or `git ls-files`, looks for."""
    if part.program == "find":
        for word, value in pairwise(part.argv):
            if word is not None and value and _NAMED.fullmatch(word):
                yield value
    elif part.git_command is not None:
        yield from filter(is_pattern, ((word or "").rpartition("=")[2] for word in part.argv[1:]))


def told_values(part: Part) -> Iterator[Argument]:
    """Yield the arguments of a part; of what prints them, the patterns and directories they may be.

    What it is known to act on is left out where it is computed: it is judged as that.
    """
    prints_its_words = name_source(part) in {Prints.ITS_WORDS, Prints.NEW_WORDS}
    for word in filter(None, part.argv[1:]):
        yield word
        if prints_its_words:
            yield Unknown(choices=(word,))
            yield word.rstrip("/").rpartition("/")[0]
    judged = {effect.span for effect in part.effects}
    computed = [number for number, text in enumerate(part.argv) if text is None]
    for number, value in zip(computed, part.computed, strict=False):
        if number >= len(part.words) or part.words[number].span not in judged:
            yield value


def pieces(text: str) -> Iterator[str]:
    """Yield a text, and the names that it may be split into, with and without quotes."""
    names = dict.fromkeys((text, *_BLANKS.split(text)))
    yield from names
    yield from (bare for name in names if (bare := _QUOTES.sub("", name)) != name)
