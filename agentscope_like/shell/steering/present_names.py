"""Remembers which names that steer are in a directory of this host, for as long as it is unchanged.

A directory's time of change cannot be set by a program, and every name that comes or goes renews
it. Of one that changed a moment ago the clock is too coarse to tell, so that it is listed again.
"""

from __future__ import annotations

import os
import time
from functools import cache
from itertools import islice

from agentscope_like.shell.catalog import steering_table

__all__ = ["present_names"]

MOST_ENTRIES = 4_000
MOST_DIRECTORIES = 4_000
SETTLED_NS = 2_000_000_000

_Stamp = tuple[int, int, int]
_known: dict[str, tuple[_Stamp, frozenset[str]]] = {}


def present_names(directory: str) -> frozenset[str] | None:
    """Return the names in a directory, casefolded, that files which steer begin with.

    None where that cannot be told: it cannot be listed, or has too many entries.
    """
    try:
        status = os.stat(directory)
    except (FileNotFoundError, NotADirectoryError):
        return frozenset()
    except OSError:
        return None
    stamp = (status.st_dev, status.st_ino, status.st_ctime_ns)
    known = _known.get(directory)
    if known is not None and known[0] == stamp:
        return known[1]
    is_settled = time.time_ns() - status.st_ctime_ns > SETTLED_NS
    found = _listed(directory)
    if found is not None and is_settled:
        if len(_known) >= MOST_DIRECTORIES:
            _known.clear()
        _known[directory] = (stamp, found)
    return found


def _listed(directory: str) -> frozenset[str] | None:
    try:
        with os.scandir(directory) as entries:
            names = {entry.name.casefold() for entry in islice(entries, MOST_ENTRIES)}
    except OSError:
        return None
    return _beginnings() & names if len(names) < MOST_ENTRIES else None


@cache
def _beginnings() -> frozenset[str]:
    """Return the first names of all paths that `steered_by.toml` lists, casefolded."""
    files = (file for steering in steering_table() for file in steering.file)
    return frozenset().union(*(file.beginnings for file in files))
