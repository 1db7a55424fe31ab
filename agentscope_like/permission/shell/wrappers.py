"""The arguments that a wrapper gives to the command it runs."""

from __future__ import annotations

from collections.abc import Sequence

from agentscope_like.permission.shell.grammar import RoleKind
from agentscope_like.permission.shell.reading import Reading
from agentscope_like.permission.shell.values import Argument, Output, Unknown, piece_of, several

__all__ = ["fed_arguments"]

_FD_PLACEHOLDERS = ("{}", "{/}", "{//}", "{.}", "{/.}")
_FOUND = Unknown(option=False)
"""What `find` puts in: a path that starts with a starting point, which is no option."""
_ELSEWHERE = frozenset({"-a", "--arg-file"})
_READ = Unknown(single=False)
"""What `xargs` adds: any number of any texts."""


def fed_arguments(
    feed: str, reading: Reading, arguments: Sequence[Argument], given: Output
) -> list[Argument]:
    """Return the arguments of the carried command once the wrapper has put its own in.

    Args:
        feed: How the wrapper feeds its command: `find`, `fd`, `xargs`, or anything else for one
            that passes the arguments on as they are.
        reading: What the wrapper's own arguments mean.
        arguments: The carried command as written.
        given: What is known of the wrapper's standard input.
    """
    if feed == "find":
        return [_replace(each, ("{}",), _FOUND) for each in arguments]
    if feed == "fd":
        replaced = [_replace(each, _FD_PLACEHOLDERS, Unknown()) for each in arguments]
        if replaced == list(arguments):
            replaced.append(_READ)
        return replaced
    if feed == "xargs":
        piece = Unknown() if reading.used & _ELSEWHERE else piece_of(given)
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
    return found if not prefix else Unknown(prefix=prefix, option=prefix.startswith("-"))
