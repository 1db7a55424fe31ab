"""Checks the operands of `test`, `[` and `[[`; a few operators evaluate text as code.

`-v` and `-R` expand the subscript of the name they are given, and the arithmetic operators of
`[[` evaluate their operands (bash(1), "CONDITIONAL EXPRESSIONS" and "ARITHMETIC EVALUATION").
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from agentscope_like.shell.arguments.argument_roles import Problem
from agentscope_like.shell.values import Argument, Shape, Unknown

__all__ = ["check_condition", "check_test"]

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_INTEGER = re.compile(r"[+-]?[0-9]+")
_EVALUATING = frozenset({"-v", "-R"})
_ARITHMETIC = frozenset({"-eq", "-ne", "-lt", "-le", "-gt", "-ge"})
_BINARY = _ARITHMETIC | {"=", "==", "!=", "<", ">", "-nt", "-ot", "-ef"}
_BINARY_LENGTH = 3
_UNARY = re.compile(r"-[a-hknoprstuwxzGLNOS]")
_JOINING = frozenset({"-a", "-o"})
_STANDING_ALONE = _JOINING | {"!", "(", ")"}


def check_test(arguments: Sequence[Argument], start: int) -> Iterator[Problem]:
    """Yield what is not understood in the operands of `test` or `[`, from index `start` on."""
    end = len(arguments)
    if arguments[0] == "[":
        end -= 1
        if arguments[-1] != "]":
            yield Problem("`[` is not closed by `]`", end)
            return
    index = start
    for index in range(start, end):
        argument = arguments[index]
        if isinstance(argument, Unknown) and not argument.single:
            yield Problem("this may become several words of the condition; quote it", index)
            return
    for index in range(start, end - 1):
        if arguments[index] in _EVALUATING and not _is_name(arguments[index + 1]):
            yield Problem("this condition may run code in brackets", index)
            return
    index = start
    while index < end:
        compared = index + _BINARY_LENGTH <= end and arguments[index + 1] in _BINARY
        if not compared and arguments[index] in _STANDING_ALONE:
            index += 1
            continue
        taken = _term(arguments[index:end])
        if taken == 0:
            yield Problem("this condition is not understood", index)
            return
        index += taken


def _term(words: Sequence[Argument]) -> int:
    """Return the number of words in the first term; 0 if it is not understood."""
    first = words[0]
    if len(words) >= _BINARY_LENGTH and words[1] in _BINARY:
        return _BINARY_LENGTH
    if len(words) == 1 or words[1] in _JOINING:
        return 1
    if not isinstance(first, str):
        return 0
    if first in _EVALUATING:
        return 2 if _is_name(words[1]) else 0
    return 2 if _UNARY.fullmatch(first) else 0


def _is_name(word: Argument) -> bool:
    return isinstance(word, str) and _NAME.fullmatch(word) is not None


def check_condition(words: Sequence[Argument]) -> Iterator[Problem]:
    """Yield what is not understood in the words of `[[ ... ]]`."""
    for index, word in enumerate(words):
        if word in _EVALUATING:
            if not (index + 1 < len(words) and _is_name(words[index + 1])):
                yield Problem(f"`{word}` runs code in the brackets of the name", index)
        elif word in _ARITHMETIC:
            for place in (index - 1, index + 1):
                if 0 <= place < len(words) and not _is_number(words[place]):
                    yield Problem(f"`{word}` runs what this holds, unless it is a number", place)


def _is_number(word: Argument) -> bool:
    if isinstance(word, str):
        return _INTEGER.fullmatch(word) is not None
    return word.shape is Shape.INTEGER
