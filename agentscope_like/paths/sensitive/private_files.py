"""Tells which hidden files of a home may hold secrets, because nothing says that they do not."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from msgspec import Struct

from agentscope_like.paths.location import FileKind, Location, inside_any, is_below
from agentscope_like.paths.sensitive.sensitive_paths import (
    ListedPaths,
    folded,
    folded_homes,
    shown,
)
from agentscope_like.toml_tables import table_beside

__all__ = ["private_objection"]


class _Rows(Struct, frozen=True, forbid_unknown_fields=True):
    """The table of `private_files.toml`."""

    harmless: tuple[str, ...]


_rows = table_beside(__file__, "private_files.toml", _Rows)


def private_objection(location: Location, directories: Sequence[Location]) -> str | None:
    """Return why a person must approve reading a hidden file of a home, or None.

    Programs keep their tokens in files such as `~/.config/NAME/auth.json`; more of them than any
    table knows. So a file below a hidden name of a home is private, unless it is inside a working
    directory or known to be harmless.

    Args:
        location: What is read. Listing a directory, or searching below it, is no matter.
        directories: The working directories.
    """
    if location.kind is FileKind.DIRECTORY:
        return None
    for reading in location.readings:
        if _is_private(reading, location.home) and not _is_inside(location, directories):
            return (
                f"`{shown(reading, location.home)}` is a hidden file of a home directory outside "
                "the working directories, and may hold one"
            )
    return None


def _is_private(path: str, home: str) -> bool:
    if "/." not in path:
        return False
    key = folded(path)
    for own in folded_homes(home):
        base = f"/{'/'.join(own)}"
        if key.startswith(f"{base}/."):
            return not _harmless().find(key, (own,))
    return False


def _is_inside(location: Location, directories: Sequence[Location]) -> bool:
    """Return whether it is inside a working directory that is not the home or above it."""
    own = [each for each in directories if not is_below(location.home, each.resolved)]
    return inside_any(location, own)


@cache
def _harmless() -> ListedPaths:
    listed = ListedPaths()
    for position, path in enumerate(_rows().harmless):
        listed.add(f"~/{path}", position)
    return listed
