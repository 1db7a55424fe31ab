"""The names of programs: where a path is one, and all that programs of one kind go by."""

from __future__ import annotations

__all__ = [
    "COPIERS",
    "FINDERS",
    "GREPS",
    "LINKERS",
    "MOVERS",
    "MOVING",
    "RIGHTS",
    "SEARCHERS",
    "program_name",
]

FINDERS = frozenset({"find", "fd", "fdfind"})
"""List what they find below a place."""

GREPS = frozenset({"grep", "egrep", "fgrep"})
"""Search their input, unless they are told of files."""

SEARCHERS = frozenset({"rg", "ag", "ack", "ack-grep"})
"""Search all below where they run, unless they are told of files."""

COPIERS = frozenset({"cp", "gcp"})
MOVERS = frozenset({"mv", "gmv"})
LINKERS = frozenset({"ln", "gln"})

MOVING = frozenset({"cd", "pushd"})
"""Change the directory of the shell."""

RIGHTS = frozenset({"chmod", "chown", "chgrp", "setfacl"})
"""Change who may do what with a file."""

_SYSTEM_DIRECTORIES = frozenset(
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


def program_name(name: str) -> str | None:
    """Return the bare name of a program; None for a path outside the system directories."""
    if "/" not in name:
        return name
    directory, _, base = name.rpartition("/")
    return base if base and directory in _SYSTEM_DIRECTORIES else None
