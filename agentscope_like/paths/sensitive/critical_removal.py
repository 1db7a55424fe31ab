"""Whether removing a path would take away a system, a home, a workspace or its history."""

from __future__ import annotations

from collections.abc import Sequence

from agentscope_like.paths.case_folding import fold
from agentscope_like.paths.location import Location, is_below, names_of
from agentscope_like.paths.sensitive.sensitive_paths import shown

__all__ = ["HISTORY", "critical_to_remove"]

_SYSTEM = frozenset(
    {
        *("bin", "boot", "dev", "efi", "etc", "lib", "lib32", "lib64", "libx32", "proc", "sbin"),
        *("sys", "usr", "system", "library", "applications"),
    }
)
"""Directories of the root below which nothing is removed lightly."""

_SYSTEM_CHILDREN = frozenset(
    {
        *("home", "users", "var", "run", "private", "mnt", "media", "volumes", "opt", "srv"),
        *("snap", "nix"),
    }
)
"""Directories of the root whose own children are each a system's part, a home or a disk."""

_NOT_SYSTEM = ("/usr/src", "/dev/shm")  # noqa: S108
"""Directories within the system in which people work."""

_HOME_PARTS = frozenset(
    {
        *(".ssh", ".gnupg", ".config", ".local", ".local/share", ".aws", ".kube", ".mozilla"),
        *(".password-store", "desktop", "documents", "downloads", "library", "movies", "music"),
        *("pictures", "videos"),
    }
)

HISTORY = frozenset({".git", ".hg", ".svn", ".bzr", ".jj"})
"""Directories in which version control keeps all that ever was."""


def critical_to_remove(
    location: Location, working_directories: Sequence[Location], *, home: str | None = None
) -> str | None:
    """Return why removing the location would be a disaster, or None.

    Args:
        location: What would be removed; one critical reading is enough, ignoring case.
        working_directories: The workspaces, which must not be removed from under the work.
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
    if path.rpartition("/")[2] in HISTORY:
        return "holds the whole history of a repository"
    for directory in working_directories:
        for reading in directory.readings:
            base = fold(reading)
            if path == base:
                return "is the directory that is worked in"
            if is_below(base, path):
                return "holds the directory that is worked in"
    return None


def _about_home(path: str, home: str) -> str | None:
    if home in ("", "/"):
        return None
    if path == home:
        return "is the home directory"
    if is_below(home, path):
        return "holds the home directory"
    if is_below(path, home) and path[len(home) + 1 :] in _HOME_PARTS:
        return "is a main part of the home directory"
    return None


def _about_system(path: str) -> str | None:
    names = names_of(path)
    if not names:
        return "is the whole file system"
    if len(names) == 1:
        return "is a directory of the root"
    if any(path != exempt and is_below(path, exempt) for exempt in _NOT_SYSTEM):
        return None
    if names[0] in _SYSTEM or names[:2] in (["private", "etc"], ["nix", "store"]):
        return "belongs to the system"
    if len(names) == 2 and names[0] in _SYSTEM_CHILDREN:  # noqa: PLR2004
        return "is a main part of the system, a home or a disk"
    return None
