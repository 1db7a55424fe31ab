"""Lists directories for the search for credentials, those that did not change from memory."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable
from itertools import islice

from msgspec import Struct

from agentscope_like.sandbox.secret_wall.places import may_be_credential

__all__ = ["Listing", "Listings", "list_directory"]

_SETTLED_NS = 2_000_000_000
"""How long ago a directory changed last that is remembered: what changes once more within one tick
of the clock of its file system does not show in its times."""


class Listing(Struct, frozen=True):
    """What one directory holds.

    Attributes:
        entries: How many entries it has.
        directories: The names of its directories.
        files: The names of other entries that can be credentials by their names.
        is_cut: Whether there are more entries than were to be looked at.
    """

    entries: int = 0
    directories: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    is_cut: bool = False


class _Known(Struct, frozen=True):
    identity: tuple[int, int, int]
    listing: Listing


class Listings:
    """Lists directories; one that did not change since the last search is not read again.

    Its ctime tells, which no program can set. Only what the last search listed is remembered.
    """

    def __init__(self) -> None:
        self._known: dict[str, _Known] = {}
        self._listed: dict[str, _Known] = {}

    def begin(self) -> None:
        """Begin a search: forget what the last one did not list."""
        self._known, self._listed = self._listed, {}

    def of(self, directory: str, most: int) -> Listing:
        """Return what a directory holds now; nothing where it cannot be read.

        Args:
            directory: The directory.
            most: How many entries are looked at.

        Raises:
            OSError: What one of its entries is cannot be found out.
        """
        try:
            found = os.stat(directory)
        except (OSError, ValueError):
            return Listing()
        identity = (found.st_dev, found.st_ino, found.st_ctime_ns)
        known = self._known.get(directory)
        if known is None or known.identity != identity or known.listing.entries > most:
            is_settled = found.st_ctime_ns < time.time_ns() - _SETTLED_NS
            listing, is_whole = list_directory(directory, most, may_be_credential)
            if not (is_settled and is_whole):
                return listing
            known = _Known(identity, listing)
        self._listed[directory] = known
        return known.listing


def list_directory(directory: str, most: int, takes: Callable[[str], bool]) -> tuple[Listing, bool]:
    """Return what a directory holds, as far as it can be read, and whether that is all.

    Args:
        directory: The directory.
        most: How many entries are looked at.
        takes: Which names of files are listed.

    Raises:
        OSError: What one of its entries is cannot be found out.
    """
    entries: list[os.DirEntry[str]] = []
    is_whole = is_cut = False
    with contextlib.suppress(OSError), os.scandir(directory) as found:
        entries.extend(islice(found, most))
        is_cut = next(found, None) is not None
        is_whole = not is_cut
    directories, files = [], []
    for each in entries:
        if each.is_dir(follow_symlinks=False):
            directories.append(each.name)
        elif takes(each.name):
            files.append(each.name)
    return Listing(len(entries), tuple(directories), tuple(files), is_cut), is_whole
