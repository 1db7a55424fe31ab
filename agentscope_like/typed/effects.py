"""Defines `Effects`, what an action would do."""

from __future__ import annotations

from msgspec import Struct

__all__ = ["Effects"]


class Effects(Struct, frozen=True):
    """What an action would do, all of it.

    Paths and commands are judged as those of Read, Write and Bash are.

    Attributes:
        reads: The paths that it reads; of a directory, all that is below.
        writes: The paths that it makes, changes or removes.
        commands: The command lines that it runs.
        hosts: The hosts that it reaches, as `example.org` or `example.org:8080`.
        directory: Where relative paths start and commands run; by default, the tool's `cwd`.
    """

    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    directory: str | None = None

    def __post_init__(self) -> None:
        for name in ("reads", "writes", "commands", "hosts"):
            value = getattr(self, name)
            if not isinstance(value, tuple) or not all(isinstance(one, str) for one in value):
                raise TypeError(f"`{name}` is {type(value).__name__}: give a tuple of texts")

    @property
    def is_nothing(self) -> bool:
        """Return whether nothing outside of the tool is read or changed."""
        return not (self.reads or self.writes or self.commands or self.hosts)
