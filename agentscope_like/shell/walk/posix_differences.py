"""Detects bash syntax that `sh` parses differently: `[[ a > b ]]` writes a file there.

Syntax that is an error in `sh` is ignored, since nothing of it runs (dash(1)).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from agentscope_like.shell.catalog import programs_with
from agentscope_like.shell.syntax import (
    ArithmeticCommand,
    ArithmeticFor,
    Assignment,
    Redirect,
    Script,
    SimpleCommand,
    Span,
    Test,
)

__all__ = ["bash_only"]

_LAST_DESCRIPTOR = 9
_QUOTES = re.compile(r"\$['\"]")


def bash_only(text: str, script: Script) -> Span | None:
    """Return where a script has syntax that only bash parses as it was parsed, or None."""
    found = _QUOTES.search(text)
    if found is not None:
        return Span(*found.span())
    return next((span for node in script.nodes for span in _forms(node)), None)


def _forms(node: object) -> Iterator[Span]:
    match node:
        case Test(span=span) | ArithmeticCommand(span=span) | ArithmeticFor(span=span):
            yield span
        case Assignment(append=True, span=span):
            yield span
        case Redirect(fd=int(descriptor), span=span) if descriptor > _LAST_DESCRIPTOR:
            yield span  # it is a word there, before a redirection
        case SimpleCommand():
            yield from _of_command(node)


def _of_command(command: SimpleCommand) -> Iterator[Span]:
    words = command.words
    literal = [word.literal for word in words]
    if literal and literal[0] in programs_with("bash_builtin"):
        yield command.span
    options = [each for each in literal[1:] if each is None or each.startswith("-")]
    if literal[:1] == ["read"] and any(each != "-r" for each in options):
        yield command.span
    for one, other in pairwise(words):
        if one.span == other.span:  # made of one word by braces
            yield one.span
