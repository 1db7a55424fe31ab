"""The arguments that a wrapper gives to the command it runs."""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec.structs import replace

from agentscope_like.permission.shell.grammar import RoleKind
from agentscope_like.permission.shell.reading import Reading
from agentscope_like.permission.shell.values import Argument, Output, Unknown, piece_of, several

__all__ = ["ends_in_time", "fed_arguments"]

_DURATION = re.compile(r"([1-9][0-9]?|[1-5][0-9]{2}|600)s?")
_FD_PLACEHOLDERS = ("{}", "{/}", "{//}", "{.}", "{/.}")
_FOUND = Unknown(option=False)
"""What `find` puts in: a path that starts with a starting point, which is no option."""
_ALL_FOUND = Unknown(option=False, single=False)
"""What it puts in where the command ends with `+`."""
_UP_TO_NUL = frozenset({"-0", "--null"})
_HOW_MANY = frozenset(
    {
        *("-n", "--max-args", "-P", "--max-procs", "-r", "--no-run-if-empty", "-t", "--verbose"),
        *("-s", "--max-chars", "-x", "--exit", "-I"),
    }
)
_ELSEWHERE = frozenset({"-a", "--arg-file"})
_READ = Unknown(single=False)
"""What `xargs` adds: any number of any texts."""


def fed_arguments(
    feed: str,
    reading: Reading,
    arguments: Sequence[Argument],
    given: Output,
    *,
    batch: bool = False,
) -> list[Argument]:
    """Return the arguments of the carried command once the wrapper has put its own in.

    Args:
        feed: How the wrapper feeds its command: `find`, `fd`, `xargs`, or anything else for one
            that passes the arguments on as they are.
        reading: What the wrapper's own arguments mean.
        arguments: The carried command as written.
        given: What is known of the wrapper's standard input.
        batch: Whether a placeholder becomes everything that was found.
    """
    if feed == "find":
        found = _ALL_FOUND if batch else _FOUND
        return [_replace(each, ("{}",), found) for each in arguments]
    if feed == "fd":
        found = _READ if batch else Unknown()
        replaced = [_replace(each, _FD_PLACEHOLDERS, found) for each in arguments]
        if replaced == list(arguments):
            replaced.append(_READ)
        return replaced
    if feed == "xargs":
        piece = Unknown() if reading.used & _ELSEWHERE else piece_of(given)
        if given.places and reading.used & _UP_TO_NUL and reading.used <= _UP_TO_NUL | _HOW_MANY:
            piece = _FOUND
        placeholders = [
            item.argument for item in reading.items if item.role.kind is RoleKind.PLACEHOLDER
        ]
        if not placeholders and reading.used & {"-i", "--replace"}:
            placeholders = ["{}"]
        texts = tuple(each for each in placeholders if isinstance(each, str) and each)
        if texts:
            return [_replace(each, texts, piece) for each in arguments]
        return [*arguments, several(piece)]
    return list(arguments)


def _replace(argument: Argument, placeholders: tuple[str, ...], found: Unknown) -> Argument:
    """Return `argument` with what stands for a placeholder made unknown."""
    if not isinstance(argument, str):
        return argument
    starts = [argument.find(each) for each in placeholders if each in argument]
    if not starts:
        return argument
    prefix = argument[: min(starts)]
    ends = (argument.rfind(each) + len(each) for each in placeholders if each in argument)
    suffix = argument[max(ends) :]
    if not prefix:
        return replace(found, suffix=suffix) if suffix else found
    return Unknown(prefix=prefix, option=prefix.startswith("-"), suffix=suffix)


def ends_in_time(reading: Reading) -> bool:
    """Return whether a wrapper ends the command that it runs within ten minutes."""
    bounds = reading.grammar.bounds
    durations = [item.argument for item in reading.items if item.role.kind is RoleKind.NUMBER]
    if bounds is None or not reading.used <= bounds or len(durations) != 1:
        return False
    duration = durations[0]
    return isinstance(duration, str) and _DURATION.fullmatch(duration) is not None
