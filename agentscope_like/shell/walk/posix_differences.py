"""Detects bash syntax that `sh` parses differently: `[[ a > b ]]` writes a file there.

Syntax that is an error in `sh` is ignored, since nothing of it runs (dash(1)).
"""

from __future__ import annotations

import re
from itertools import pairwise

from agentscope_like.shell.catalog import programs_with
from agentscope_like.shell.syntax import (
    ArithmeticCommand,
    ArithmeticFor,
    Assignment,
    Redirect,
    Script,
    SimpleCommand,
    Test,
)

__all__ = ["bash_only"]

_LAST_DESCRIPTOR = 9
_QUOTES = re.compile(r"\$['\"]")


def bash_only(text: str, script: Script) -> bool:
    """Return whether a script has syntax that only bash parses as it was parsed."""
    return _QUOTES.search(text) is not None or any(map(_is_of_bash, script.nodes))


def _is_of_bash(node: object) -> bool:
    match node:
        case Test() | ArithmeticCommand() | ArithmeticFor() | Assignment(append=True):
            return True
        case Redirect(fd=int(descriptor)):
            return descriptor > _LAST_DESCRIPTOR  # it is a word there, before a redirection
        case SimpleCommand(words=words):
            literal = [word.literal for word in words]
            if literal and literal[0] in programs_with("bash_builtin"):
                return True
            options = [each for each in literal[1:] if each is None or each.startswith("-")]
            if literal[:1] == ["read"] and any(each != "-r" for each in options):
                return True
            # Words of one span are made of one word by braces.
            return any(one.span == other.span for one, other in pairwise(words))
    return False
