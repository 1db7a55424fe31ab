"""Tells whether removing a path would delete a system, a home, a workspace or its history."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from agentscope_like.paths.case_folding import fold
from agentscope_like.paths.location import Location, is_below, names_of
from agentscope_like.paths.sensitive.sensitive_paths import shown
from agentscope_like.toml_tables import table_beside

__all__ = ["history_directories", "removal_objection"]


class _Table(Struct, frozen=True, forbid_unknown_fields=True):
    """The tables of `removal.toml`, which says what each field is."""

    system: frozenset[str]
    system_children: frozenset[str]
    not_system: tuple[str, ...]
    home_parts: frozenset[str]
    history: frozenset[str]


_table = table_beside(__file__, "removal.toml", _Table)


def history_directories() -> frozenset[str]:
    """Return the names of the directories in which version control keeps its history."""
    return _table().history


def removal_objection(
    location: Location, working_directories: Sequence[Location], *, home: str | None = None
) -> str | None:
    """Return why removing the location would be a disaster, or None.

    Args:
        location: What would be removed; one critical reading is enough, ignoring case.
        working_directories: The workspaces, which must not be removed either.
        home: The home directory; the one that the location was read with by default.
    """
    home = location.home if home is None else home
    for reading in location.readings:
        path = fold(reading)
        reason = (
            _about_work(path, working_directories)
            or _about_home(path, fold(home))
            or _about_system(path)
        )
        if reason:
            return f"`{shown(reading, home)}` {reason}"
    return None


def _about_work(path: str, working_directories: Sequence[Location]) -> str | None:
    if path.rpartition("/")[2] in _table().history:
        return "holds the whole history of a repository"
    for directory in working_directories:
        for reading in directory.readings:
            base = fold(reading)
            if path == base:
                return "is the working directory"
            if is_below(base, path):
                return "holds the working directory"
    return None


def _about_home(path: str, home: str) -> str | None:
    if home in ("", "/"):
        return None
    if path == home:
        return "is the home directory"
    if is_below(home, path):
        return "holds the home directory"
    if is_below(path, home) and path[len(home) + 1 :] in _table().home_parts:
        return "is a main part of the home directory"
    return None


def _about_system(path: str) -> str | None:
    names = names_of(path)
    if not names:
        return "is the whole file system"
    if len(names) == 1:
        return "is a directory of the root"
    table = _table()
    if any(path != exempt and is_below(path, exempt) for exempt in table.not_system):
        return None
    if names[0] in table.system or "/".join(names[:2]) in table.system:
        return "belongs to the system"
    if len(names) == 2 and names[0] in table.system_children:  # noqa: PLR2004
        return "is a main part of the system, a home or a disk"
    return None
