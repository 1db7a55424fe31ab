"""`Workplace`: the directory that a tool works in."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["Workplace"]


class Workplace(NamedTuple):
    """Where relative paths and commands start.

    Attributes:
        directory: An absolute path.
        is_on_host: Whether it is one of this host, not of a sandbox.
    """

    directory: str
    is_on_host: bool
