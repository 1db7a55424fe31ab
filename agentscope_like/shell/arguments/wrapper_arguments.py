"""Computes the arguments that a wrapper (xargs, find, fd) gives to its command."""

from __future__ import annotations

import re
from collections.abc import Sequence
from glob import escape as glob_escape
from itertools import takewhile

from msgspec import Struct
from msgspec.structs import replace

from agentscope_like.shell.arguments.argument_roles import DEVICES, ArgumentReading
from agentscope_like.shell.catalog import RoleKind
from agentscope_like.shell.values import (
    Argument,
    Shape,
    Unknown,
    may_be_option,
    piece_of,
    several,
)
from agentscope_like.toml_tables import table_beside

__all__ = ["ends_in_time", "fed_arguments"]

_DURATION = re.compile(r"([1-9][0-9]?|[1-5][0-9]{2}|600)s?")
_FOUND = Unknown(option=False)
"""What `find` puts in: a path that starts with a starting point, which is no option."""
_ALL_FOUND = Unknown(option=False, single=False)
"""What it puts in where the command ends with `+`."""
_READ = Unknown(single=False)
"""What `xargs` adds: any number of any texts."""


class _Xargs(Struct, frozen=True, forbid_unknown_fields=True):
    """The options of xargs in `wrappers.toml`."""

    up_to_nul: frozenset[str]
    how_many: frozenset[str]
    bare: frozenset[str]
    most: frozenset[str]
    lines: frozenset[str]
    counting: frozenset[str]
    elsewhere: frozenset[str]


class _Table(Struct, frozen=True, forbid_unknown_fields=True):
    """The tables of `wrappers.toml`, which says what each field is."""

    fd_placeholders: tuple[str, ...]
    xargs: _Xargs


_table = table_beside(__file__, "wrappers.toml", _Table, _Xargs)


def fed_arguments(
    feed: str,
    reading: ArgumentReading,
    arguments: Sequence[Argument],
    given: Argument,
    *,
    batch: bool = False,
) -> list[Argument]:
    """Return the arguments of the wrapped command, with those that the wrapper inserts.

    Args:
        feed: How the wrapper feeds its command: `find`, `fd`, `xargs`, or anything else for one
            that passes the arguments on as they are.
        reading: The meaning of the wrapper's own arguments.
        arguments: The wrapped command as written.
        given: What is known of the wrapper's standard input.
        batch: Whether a placeholder becomes all files found.
    """
    if feed == "find":
        found = _ALL_FOUND if batch else _FOUND
        if reading.reaches_devices:
            found = replace(found, prefix=DEVICES)
        return [_replace(each, ("{}",), found) for each in arguments]
    if feed == "fd":
        found = _READ if batch else Unknown()
        placeholders = _table().fd_placeholders
        replaced = [_replace(each, placeholders, found) for each in arguments]
        if replaced == list(arguments):
            replaced.append(_READ)
        return replaced
    if feed == "xargs":
        options = _table().xargs
        piece = Unknown() if reading.used & options.elsewhere else piece_of(given)
        is_whole = reading.used <= options.up_to_nul | options.how_many
        if is_whole and reading.used & options.up_to_nul and not may_be_option(given):
            piece = _FOUND
        return _with_input(reading, arguments, piece)
    return list(arguments)


def _with_input(
    reading: ArgumentReading, arguments: Sequence[Argument], piece: Unknown
) -> list[Argument]:
    """Return a command with the arguments that `xargs` inserts or appends from its input."""
    given = [item for item in reading.items if item.role.kind is RoleKind.PLACEHOLDER]
    computed = [item.argument for item in given if not isinstance(item.argument, str)]
    if computed:
        numbers = all(each.shape is Shape.INTEGER for each in computed)
        return [each if numbers and _has_no_digit(each) else Unknown() for each in arguments]
    texts = {item.argument for item in given if isinstance(item.argument, str)} - {""}
    if not _table().xargs.bare.isdisjoint(reading.used):
        texts.add("{}")
    if not texts:
        return [*arguments, several(piece)]
    if len(texts) > 1 or _is_replaced_no_more(reading):
        replaced = [_replace(each, tuple(texts), Unknown()) for each in arguments]
        return [*replaced, several(Unknown())]
    return [_replace(each, tuple(texts), piece) for each in arguments]


def _has_no_digit(argument: Argument) -> bool:
    return isinstance(argument, str) and not any(map(str.isdecimal, argument))


def _is_replaced_no_more(reading: ArgumentReading) -> bool:
    """Return whether an option after `-I` may cancel it, so that `xargs` appends instead.

    GNU xargs does so for any but `-n 1` (findutils 4.9, `warn_mutually_exclusive`).
    """
    behind = takewhile(
        lambda item: item.role.kind is not RoleKind.PLACEHOLDER, reversed(reading.items)
    )
    options = _table().xargs
    counts = [item for item in behind if item.flag in options.counting]
    return bool(
        any(item.flag not in options.most or item.argument != "1" for item in counts)
        or options.lines & reading.used - {item.flag for item in reading.items}
    )


def _replace(argument: Argument, placeholders: tuple[str, ...], found: Unknown) -> Argument:
    """Return `argument` with each placeholder replaced by an unknown value."""
    if not isinstance(argument, str):
        return argument
    starts = [argument.find(each) for each in placeholders if each in argument]
    if not starts:
        return argument
    prefix = argument[: min(starts)]
    ends = (argument.rfind(each) + len(each) for each in placeholders if each in argument)
    end = glob_escape(argument[max(ends) :])
    if not prefix:
        return replace(found, end=end)
    return Unknown(prefix=prefix, option=prefix.startswith("-"), end=end)


def ends_in_time(reading: ArgumentReading) -> bool:
    """Return whether a wrapper ends the command that it runs within ten minutes."""
    bounds = reading.grammar.bounds
    if bounds is None or not reading.used <= bounds:
        return False
    duration = reading.by_kind[RoleKind.NUMBER][0].argument
    return isinstance(duration, str) and _DURATION.fullmatch(duration) is not None
