"""Tells which Python a name stands for, without running it."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Sequence

__all__ = ["is_recent", "minor_version"]

_EXECUTABLE = re.compile(r"python3\.(\d+)")
_VERSION = re.compile(r"3\.(\d+)(?:\.\d+)?(?:/envs/[\w.+-]+)?")
_SHIMS = "shims"
"""The directory in which pyenv has its scripts; they start one of the `versions` beside it."""

_OTHERS = frozenset({"system"})
_MOST_BYTES = 4096


def minor_version(path: str) -> int:
    """Return the 11 of Python 3.11 by the name of the file that a path leads to; 0 if unknown."""
    found = _EXECUTABLE.fullmatch(os.path.basename(os.path.realpath(path)))
    return int(found[1]) if found else 0


def is_recent(
    name: str, search: Iterable[str], since: int, *, above: Iterable[str], chosen: str = ""
) -> bool:
    """Return whether each Python that PATH may find by a name has at least a minor version.

    Args:
        name: The program, such as `python3`.
        search: The directories of PATH.
        since: The minor version.
        above: The directories that it may run in, and all above them.
        chosen: The value of `PYENV_VERSION`.
    """
    for directory in search:
        path = os.path.join(directory, name)
        if not os.path.isfile(path):
            continue
        if os.path.basename(directory.rstrip("/")) != _SHIMS:
            return minor_version(path) >= since
        root = os.path.dirname(directory.rstrip("/"))
        versions = set(_chosen_by_pyenv(root, above, chosen))
        if not all(_version(each) >= since for each in versions - _OTHERS):
            return False
        if versions and versions.isdisjoint(_OTHERS):
            return True
    return False


def _version(name: str) -> int:
    found = _VERSION.fullmatch(name)
    return int(found[1]) if found else 0


def _chosen_by_pyenv(root: str, above: Iterable[str], chosen: str) -> Iterable[str]:
    """Return the versions that a shim may start (pyenv, COMMANDS.md); none means another Python."""
    if chosen:
        return chosen.split(":")
    files = [path for each in above if os.path.lexists(path := f"{each}/.python-version")]
    return [name for path in files or [f"{root}/version"] for name in _names_in(path)]


def _names_in(path: str) -> Sequence[str]:
    """Return the versions in a file; one that cannot be read has an unknown one."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    except FileNotFoundError:
        return ()
    except OSError:
        return ("",)
    with open(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return ("",)
        return file.read(_MOST_BYTES).decode(errors="replace").split() or ("",)
