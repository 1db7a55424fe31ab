"""The table of what a changed path is, by its name."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from msgspec import Struct

from agentscope_like.toml_tables import WordSet, read_table

__all__ = [
    "CacheBeside",
    "CacheNames",
    "GitNames",
    "SortingTable",
    "cache_directory_names",
    "sorting_table",
]


class CacheBeside(Struct, frozen=True, forbid_unknown_fields=True):
    """A directory that is a cache beside some file.

    Attributes:
        directory: Its name.
        files: Patterns of the names of the files.
    """

    directory: str
    files: WordSet


class CacheNames(Struct, frozen=True, forbid_unknown_fields=True):
    """What programs make again.

    Attributes:
        directories: Names of directories that are caches.
        beside: Those that are only beside certain files.
        files: Patterns of names of files that are caches.
    """

    directories: WordSet
    beside: tuple[CacheBeside, ...]
    files: WordSet


class GitNames(Struct, frozen=True, forbid_unknown_fields=True):
    """Patterns of paths within a git directory.

    Attributes:
        objects: What is written once, under the digest of its content.
        derived: What is made again from objects.
        references: What names objects.
        never: References that change what objects mean.
        state: What git notes of work that goes on.
        nested: Names of directories within it that hold git directories.
    """

    objects: WordSet
    derived: WordSet
    references: WordSet
    never: WordSet
    state: WordSet
    nested: WordSet


class SortingTable(Struct, frozen=True, forbid_unknown_fields=True):
    """The table.

    Attributes:
        caches: What programs make again.
        git: What lies in a git directory.
    """

    caches: CacheNames
    git: GitNames


@cache
def sorting_table() -> SortingTable:
    """Return the table, which is read once."""
    return read_table(
        Path(__file__).with_name("sorting.toml"), SortingTable, CacheNames, CacheBeside, GitNames
    )


def cache_directory_names() -> frozenset[str]:
    """Return the names of directories that are caches wherever they are."""
    return sorting_table().caches.directories
