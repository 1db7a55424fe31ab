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
_KIND = re.compile(
    r"""(?P<b>-(?:eq|ne|lt|le|gt|ge|nt|ot|ef)|[!=]?=|[<>])  # has an operand on each side
    |(?P<j>-[ao])                                            # joins two conditions
    |(?P<s>[!()])
    |(?P<u>-[a-hknoprstuvwxzGLNORS])                         # has an operand behind it
    """,
    re.VERBOSE,
)
_TERMS = re.compile(r"(?>.b.|[js]|.(?=j|\Z)|u.)*+")
"""What a condition consists of, with the letter of `_KIND` for each word, or `?` for an operand."""


def check_test(arguments: Sequence[Argument], start: int) -> Iterator[Problem]:
    """Yield what is not understood in the operands of `test` or `[`, from index `start` on."""
    end = len(arguments)
    if arguments[0] == "[":
        end -= 1
        if arguments[-1] != "]":
            yield Problem("`[` is not closed by `]`", end)
            return
    for index in range(start, end):
        argument = arguments[index]
        if isinstance(argument, Unknown) and not argument.single:
            yield Problem("this may become several words of the condition; quote it", index)
            return
    for index in range(start, end - 1):
        if arguments[index] in _EVALUATING and not _is_name(arguments[index + 1]):
            yield Problem("this condition may run code in brackets", index)
            return
    rest = _TERMS.sub("", "".join(map(_kind, arguments[start:end])), count=1)
    if rest:
        yield Problem("this condition is not understood", end - len(rest))


def _kind(word: Argument) -> str:
    found = _KIND.fullmatch(word) if isinstance(word, str) else None
    return "?" if found is None else found.lastgroup or "?"


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
