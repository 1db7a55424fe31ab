"""Defines `Effects`, what an action would do."""

from __future__ import annotations

from msgspec import Struct

__all__ = ["Effects"]

_MANY = ("reads", "lists", "searches", "writes", "commands", "hosts")


class Effects(Struct, frozen=True):
    """What an action would do, all of it.

    Paths and commands are judged as those of Read, Write and Bash are.

    Attributes:
        reads: The files that it reads; of a directory, all that is below.
        lists: The directories of which it reads names only, at any depth.
        searches: The directories that it searches as Grep does: without credentials, and without
            what a rule denies to Read or Grep.
        writes: The paths that it makes, changes or removes.
        commands: The command lines that it runs.
        hosts: The hosts that it reaches, as `example.org` or `example.org:8080`.
        directory: Where relative paths start and commands run; by default, the tool's `cwd`.

    Raises:
        TypeError: One of them is not a tuple of texts.
    """

    reads: tuple[str, ...] = ()
    lists: tuple[str, ...] = ()
    searches: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    directory: str | None = None

    def __post_init__(self) -> None:
        for name in _MANY:
            value = getattr(self, name)
            if not isinstance(value, tuple) or not all(isinstance(one, str) for one in value):
                raise TypeError(f"`{name}` is {type(value).__name__}: give a tuple of texts")
