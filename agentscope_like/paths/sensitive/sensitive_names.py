"""The names of files and directories that are sensitive to write wherever they are."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache, lru_cache

from msgspec import Struct

from agentscope_like.lazy_property import lazy_property
from agentscope_like.paths.case_folding import fold
from agentscope_like.paths.pattern_table import fixed_ends
from agentscope_like.paths.sensitive.listed_paths import folded
from agentscope_like.paths.sensitive.sensitive_table import (
    paths_asked_to,
    sensitive_table,
)

__all__ = ["SensitiveNames", "history_directories", "is_name"]


def is_name(path: str) -> bool:
    """Return whether a path of the table is a name alone, or all below a directory of a name."""
    return "/" not in path.removesuffix("/**")


@cache
def _listed_names() -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the names of the table: those of files, and those of directories."""
    names = [path for row in paths_asked_to("write") for path in row.paths if is_name(path)]
    files = tuple(name for name in names if not name.endswith("/**"))
    return files, tuple(name[:-3] for name in names if name.endswith("/**"))


def history_directories() -> frozenset[str]:
    """Return the names of the directories in which version control keeps its history."""
    return frozenset(
        path for row in paths_asked_to("remove") for path in row.paths if is_name(path)
    )


class SensitiveNames(Struct, frozen=True, dict=True):
    """The names of files and directories that are sensitive wherever they are.

    Attributes:
        files: File names that are sensitive to write; None for those of the table. A name may hold
            `*`, and be a path such as `conf/tokens.json`.
        directories: Directory names below which everything is; None for those of the table.
        extra_files: Names to add to `files`.
        extra_directories: Names to add to `directories`.
    """

    files: tuple[str, ...] | None = None
    directories: tuple[str, ...] | None = None
    extra_files: tuple[str, ...] = ()
    extra_directories: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        files: Iterable[str] | None = None,
        directories: Iterable[str] | None = None,
        extra_files: Iterable[str] = (),
        extra_directories: Iterable[str] = (),
    ) -> SensitiveNames:
        """Return the names, whatever holds those that are given."""
        return cls(
            None if files is None else tuple(files),
            None if directories is None else tuple(directories),
            tuple(extra_files),
            tuple(extra_directories),
        )

    @property
    def all_files(self) -> tuple[str, ...]:
        """All names of files."""
        return (_listed_names()[0] if self.files is None else self.files) + self.extra_files

    @property
    def all_directories(self) -> tuple[str, ...]:
        """All names of directories."""
        usual = _listed_names()[1] if self.directories is None else self.directories
        return usual + self.extra_directories

    def occur_in(self, path: str) -> bool:
        """Return whether a path ends with one of the names, or of a credential, or is below one."""
        names = folded(path).rstrip("/").split("/")
        files, directories = self._last_names
        return files.hold(names[-1]) or any(map(directories.hold, names))

    @lazy_property
    def _last_names(self) -> tuple[_LastNames, _LastNames]:
        credentials = sensitive_table().credential_names
        return _names_of((*self.all_files, *credentials)), _names_of(self.all_directories)


class _LastNames:
    """The last names of some paths, folded; of a pattern, what it begins and ends with.

    Args:
        paths: The paths, of which the names may hold `*`.
    """

    def __init__(self, paths: Iterable[str]) -> None:
        names = {fold(path.rpartition("/")[2]) for path in paths}
        globs = [fixed_ends(name) for name in names if "*" in name]
        self._whole = names
        self._starts = tuple(start for start, end in globs if not end)
        self._ends = tuple(end for start, end in globs if end and not start)
        self._both = [(start, end) for start, end in globs if start and end]
        self._starts_of_both = tuple(start for start, _ in self._both)

    def hold(self, name: str) -> bool:
        """Return whether a folded name is one of these."""
        if name in self._whole or name.startswith(self._starts) or name.endswith(self._ends):
            return True
        if not name.startswith(self._starts_of_both):
            return False
        return any(name.startswith(start) and name.endswith(end) for start, end in self._both)


_names_of = lru_cache(maxsize=64)(_LastNames)
"""The same for all tools, as to collect them takes longer than a decision."""
