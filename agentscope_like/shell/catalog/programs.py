"""Returns the bare name of a program, also of one given as a path."""

from __future__ import annotations

__all__ = ["SYSTEM_DIRECTORIES", "bare_name", "program_name"]

SYSTEM_DIRECTORIES = frozenset(
    {
        "/bin",
        "/opt/homebrew/bin",
        "/sbin",
        "/usr/bin",
        "/usr/local/bin",
        "/usr/local/sbin",
        "/usr/sbin",
    }
)
"""Directories whose programs are the ones that are known by their names."""


def bare_name(name: str) -> str:
    """Return a program's name without directory, folded as on a case-insensitive file system."""
    return name.rpartition("/")[2].casefold() or name


def program_name(name: str) -> str | None:
    """Return the bare name of a program; None for a path outside the system directories."""
    if "/" not in name:
        return name
    directory, _, base = name.rpartition("/")
    return base if base and directory in SYSTEM_DIRECTORIES else None
