"""The names of files and directories that are sensitive to write wherever they are."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from fnmatch import translate
from functools import cache, lru_cache

from msgspec import Struct

from agentscope_like.lazy_property import lazy_property
from agentscope_like.paths.sensitive.sensitive_table import credential_names, paths_asked_to_write

__all__ = ["SensitiveNames", "is_name"]

_MAGIC = re.compile(r"[*?\[]")


def is_name(path: str) -> bool:
    """Return whether a path of the table is a name alone, or all below a directory of a name."""
    return "/" not in path.removesuffix("/**")


@cache
def _listed_names() -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the names of the table: those of files, and those of directories."""
    names = [path for row in paths_asked_to_write() for path in row.paths if is_name(path)]
    files = tuple(name for name in names if not name.endswith("/**"))
    return files, tuple(name[:-3] for name in names if name.endswith("/**"))


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
    def usual_files(self) -> tuple[str, ...]:
        """The names of files without the added ones."""
        return _listed_names()[0] if self.files is None else self.files

    @property
    def usual_directories(self) -> tuple[str, ...]:
        """The names of directories without the added ones."""
        return _listed_names()[1] if self.directories is None else self.directories

    @property
    def all_files(self) -> tuple[str, ...]:
        """All names of files."""
        return self.usual_files + self.extra_files

    @property
    def all_directories(self) -> tuple[str, ...]:
        """All names of directories."""
        return self.usual_directories + self.extra_directories

    def occur_in(self, path: str) -> bool:
        """Return whether a path ends with one of the names, or of a credential, or is below one."""
        names = path.casefold().rstrip("/").split("/")
        return self._is_file_name(names[-1]) or any(map(self._is_directory_name, names))

    @lazy_property
    def _is_file_name(self) -> Callable[[str], bool]:
        return _name_test((*self.all_files, *credential_names()))

    @lazy_property
    def _is_directory_name(self) -> Callable[[str], bool]:
        return _name_test(self.all_directories)


def _name_test(patterns: Iterable[str]) -> Callable[[str], bool]:
    """Return the test for the names that one of the patterns matches."""
    names = {pattern.casefold().rpartition("/")[2] for pattern in patterns}
    literal = {name for name in names if not _MAGIC.search(name)}
    globs = [translate(name) for name in sorted(names - literal)]
    matches = re.compile("|".join(globs) or r"(?!)").fullmatch

    @lru_cache(maxsize=1024)
    def test(name: str) -> bool:
        return name in literal or matches(name) is not None

    return test
