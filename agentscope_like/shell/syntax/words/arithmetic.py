"""Parses arithmetic over numbers and plain names: `$((...))`, `((...))` and `for ((...))`.

bash evaluates the value of a name, and names in that value in turn. So the caller must know that
each name holds a number, and that each substitution prints one. Names built from pieces (`i$x`),
array elements and quotes are refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from msgspec import Struct

__all__ = ["Expression", "fails", "may_fail", "read_assignments", "read_expression", "read_let"]

_NAME = "[A-Za-z_][A-Za-z0-9_]*"
_BASE = "(?:[2-9]|[1-5][0-9]|6[0-4])"
"""`16#ff` is a number, and so is `10#${x}` where `x` holds one (bash(1), ARITHMETIC EVALUATION)."""

_BLANKS = re.compile(r"[ \t]*")
_OPERAND = re.compile(
    rf"(?:0[xX][0-9A-Fa-f]+|{_BASE}#(?:[0-9A-Za-z@_]+|\$\{{({_NAME})\}})|[0-9]+"
    rf"|({_NAME})|\$({_NAME}|[0-9#?])|\$\{{({_NAME})\}}"
    rf"|\$\{{#{_NAME}(?:\[[@*]\])?\}})(?![\w$#@\[])"
)
_OPERATOR = re.compile(
    r"\+(?!\+)|-(?!-)|<<(?!=)|>>(?!=)|[<>=!]=|&&|\|\||\*\*(?!=)|[*/%&|^<>](?!=)|[~?:,!()]"
)
_OPENING = re.compile(r"\$\((?!\()")
_AFTER = re.compile(r"[ \t)+*/%<>=!&|^?:,-]")
"""What may stand behind a substitution: what it prints is a number of its own."""

_ASSIGNMENT = re.compile(rf"({_NAME})[ \t]*(?:(=)(?!=)|(?:[-+*/%])=)")
_STEP = re.compile(rf"({_NAME})[ \t]*(?:\+\+|--)|(?:\+\+|--)[ \t]*({_NAME})")


_NAMED = re.compile(rf"\$?\{{?({_NAME})\}}?")
_SUBSTITUTION = re.compile(r"\$\([^()]*\)")
_SPECIAL = re.compile(r"\$[0-9#?]")
_ERRORS = re.compile(
    r"(?<![\w#])0[0-9]*[89]"  # no octal number
    r"|[/%]=?[ \t]*0+(?![\w])|\*\*[ \t(]*-"  # no divisor, no exponent
    r"|(?:(?<!\+)\+|(?<!-)-|[*/%<>=!&|^~?:])[ \t]*(?:\Z|[);,])"  # nothing behind an operator
    r"|(?:\A|[(,=])[ \t]*[*/%<>&|^?:]"  # nothing before it
)
"""What is an error anywhere in an expression."""

_DIVIDING = re.compile(r"[/%]=?+(?![ \t]*[1-9][0-9]*+(?![\w#]))|\*\*(?![ \t]*[0-9])")


class Expression(Struct, frozen=True):
    """The variables that an arithmetic expression reads and sets.

    Attributes:
        end: Where it ends in the text.
        names: The variables that it reads.
        assigned: The variables that it sets, each to a number.
    """

    end: int
    names: tuple[str, ...] = ()
    assigned: tuple[str, ...] = ()


def read_expression(
    text: str,
    start: int,
    end: int,
    *,
    commas: bool = True,
    substitution: Callable[[int], int] | None = None,
) -> Expression | None:
    """Parse an expression without assignments, up to a bracket, `;` or comma after it.

    Args:
        text: The command line.
        start: Where the expression begins.
        end: Where the text ends.
        commas: Whether a comma outside of brackets belongs to it.
        substitution: Reads the `$(...)` at an offset, and returns where it ends; None where there
            may be none.

    Returns:
        What it reads, or None if it is not understood; an empty one is understood.
    """
    names: list[str] = []
    position, open_brackets, after_operand = start, 0, False
    while True:
        position = _blanks(text, position, end)
        character = text[position : position + 1] if position < end else ""
        if not open_brackets and character in {"", ")", ";", "," if not commas else ""}:
            return Expression(position, tuple(names))
        if substitution is not None and not after_operand and _OPENING.match(text, position, end):
            position = substitution(position)
            if _AFTER.match(text, position, end) is None:
                return None
            after_operand = True
            continue
        token = None if after_operand else _OPERAND.match(text, position, end)
        after_operand = token is not None
        if token is not None:
            names += [name for name in token.groups() if name]
        else:
            token = _OPERATOR.match(text, position, end)
            if token is None:
                return None
            open_brackets += {"(": 1, ")": -1}.get(character, 0)
        position = token.end()


def read_assignments(
    text: str,
    start: int,
    end: int,
    *,
    substitution: Callable[[int], int] | None = None,
) -> Expression | None:
    """Read expressions joined by commas, each of which may set one variable.

    Args:
        text: The command line.
        start: Where the first expression begins.
        end: Where the text ends.
        substitution: As for `read_expression`.

    Returns:
        What they read and set, or None where one of them is not understood.
    """
    names: list[str] = []
    assigned: list[str] = []
    position = start
    while True:
        position = _blanks(text, position, end)
        step = _STEP.match(text, position, end)
        if step is not None:
            name = step[1] or step[2]
            names.append(name)
            assigned.append(name)
            position = _blanks(text, step.end(), end)
        else:
            assignment = _ASSIGNMENT.match(text, position, end)
            if assignment is not None:
                assigned.append(assignment[1])
                names += [] if assignment[2] else [assignment[1]]
                position = assignment.end()
            value = read_expression(text, position, end, commas=False, substitution=substitution)
            if value is None or (assignment is not None and value.end == position):
                return None
            names += value.names
            position = value.end
        if not text.startswith(",", position, end):
            return Expression(position, tuple(names), tuple(assigned))
        position += 1


def read_let(text: str) -> Expression | None:
    """Parse an argument of `let`, which bash evaluates without expanding a `$` in it.

    Returns:
        What it reads and sets, or None where it is not understood to its end.
    """
    found = None if "$" in text else read_assignments(text, 0, len(text))
    return found if found is not None and found.end == len(text) else None


def fails(text: str, value_of: Callable[[str], str | None]) -> bool:
    """Return whether an expression always fails, so that bash skips what follows.

    Division by a constant zero, `08`, `**-1` and missing operands always fail; an expression that
    fails only for some unknown values does not count.

    Args:
        text: The expression.
        value_of: Returns the text that a variable holds, or None where it may hold another.
    """
    known, count = _SPECIAL.sub("1", text), 1
    while count:
        known, count = _SUBSTITUTION.subn("1", known)
    if "$(" in known:
        return False
    known = _NAMED.sub(lambda found: value_of(found[1]) or found[0], known)
    return _ERRORS.search(known) is not None or known.count("?") > known.count(":")


def may_fail(text: str) -> bool:
    """Return whether an expression fails for some values, such as a divisor 0."""
    return _DIVIDING.search(text) is not None


def _blanks(text: str, position: int, end: int) -> int:
    found = _BLANKS.match(text, position, end)
    return position if found is None else found.end()
