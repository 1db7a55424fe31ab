"""Finds existing credentials that a pattern matches or that a hard link shares."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fnmatch import translate
from functools import lru_cache

from agentscope_like.paths import (
    FileKind,
    Location,
    PathError,
    TooManyFilesError,
    fold,
    matches,
    paths_asked_to_read,
)
from agentscope_like.shell.surroundings import Surroundings

__all__ = ["Credentials"]


class Credentials:
    """Finds the credentials that lie in the home and below the working directories.

    Below the working directories, the nearest 5,000 entries are examined.
    """

    __slots__ = ("_around", "_known")

    def __init__(self, around: Surroundings) -> None:
        self._around = around
        self._known: dict[tuple[int, int], tuple[str, str]] | None = None

    def match_objection(self, pattern: str) -> str | None:
        """Return why a pattern's last name matches a credential, or None."""
        name = fold(pattern.rstrip("/").rpartition("/")[2])
        for path, reason in self._all().values():
            if matches(fold(_name(path)), name):
                return f"`{pattern}` matches a credential: {reason}"
        return None

    def link_objection(self, location: Location) -> str | None:
        """Return why a file with several hard links is a credential, or None."""
        if location.kind is not FileKind.FILE or location.identity is None:
            return None
        try:
            status = self._around.names.lstat(location.resolved)
        except OSError:
            return None
        if getattr(status, "st_nlink", 1) == 1:
            return None
        found = self._all().get(location.identity)
        return (
            f"`{location.written}` is another name of a credential: {found[1]}" if found else None
        )

    def _all(self) -> dict[tuple[int, int], tuple[str, str]]:
        if self._known is None:
            self._known = dict(self._found())
        return self._known

    def _found(self) -> Iterator[tuple[tuple[int, int], tuple[str, str]]]:
        """Yield the identity of each existing credential, its path, and why it is one."""
        for path in self._paths():
            try:
                location = self._around.locate(path)
                reason = self._around.read_objection(location)
            except PathError:
                continue
            if reason is not None and location.identity is not None:
                yield location.identity, (path, reason)

    def _paths(self) -> Iterator[str]:
        """Yield the possible paths of credentials."""
        is_name = _last_names().fullmatch
        for directory in self._around.working_directories:
            yield from (each for each in self._below(directory) if is_name(fold(_name(each))))
        if self._around.home is None:
            return
        for each in _places_at_home():
            path = f"{self._around.home}/{each.removesuffix('/**')}"
            yield path
            if each.endswith("/**"):
                yield from self._below(self._around.locate(path))

    def _below(self, directory: Location) -> Iterator[str]:
        try:
            for entry in self._around.entries_below(directory):
                yield entry.path
        except TooManyFilesError:
            return


def _name(path: str) -> str:
    return path.rpartition("/")[2]


@lru_cache(maxsize=1)
def _last_names() -> re.Pattern[str]:
    """Return the name patterns of credentials in any directory."""
    paths = [
        fold(path)
        for row in paths_asked_to_read()
        for path in row.paths
        if not path.endswith("/**")
    ]
    return re.compile("|".join(translate(path.rpartition("/")[2]) for path in paths))


@lru_cache(maxsize=1)
def _places_at_home() -> tuple[str, ...]:
    """Return the secret paths below a home, and the directories that are wholly secret."""
    paths = [path.removeprefix("~/") for row in paths_asked_to_read() for path in row.paths]
    return tuple(path for path in paths if path[0] != "/" and "*" not in path.removesuffix("/**"))
