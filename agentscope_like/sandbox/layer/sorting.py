"""Sorts what a run changed: caches, git's bookkeeping, settings, losses, and all other changes."""

from __future__ import annotations

import contextlib
import hashlib
import os
import posixpath
import unicodedata
from collections.abc import Iterator
from enum import StrEnum
from fnmatch import fnmatchcase

from msgspec import Struct

from agentscope_like.sandbox.layer.file_state import FileKind, opened_directory, read_file_below
from agentscope_like.sandbox.layer.git_directory import (
    GitFiles,
    GitSort,
    sort_git_changes,
)
from agentscope_like.sandbox.layer.layer import LayerDescriptors
from agentscope_like.sandbox.layer.manifest import Change, Manifest
from agentscope_like.sandbox.layer.recorded_files import RecordedFiles
from agentscope_like.sandbox.layer.sorting_table import sorting_table
from agentscope_like.sandbox.repositories import (
    MOST_INDEX_BYTES,
    GitIndexError,
    recorded_blobs,
    refreshed_blobs,
)

__all__ = [
    "MOST_UNDO_BYTES",
    "MOST_UNDO_BYTES_IN_ALL",
    "Sort",
    "SortedChange",
    "UndoBudget",
    "sort_changes",
]

MOST_UNDO_BYTES = 64_000_000
"""A larger file is not kept for undo."""

MOST_UNDO_BYTES_IN_ALL = 1_000_000_000
"""No more content than this is kept for the undo of one run."""

_GIT, _INDEX = ".git", "index"
_BARE = frozenset({"HEAD", "objects", "refs"})
_IGNORED_IN_NAMES = dict.fromkeys(
    (*range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0x206A, 0x2070), 0xFEFF)
)
"""What HFS+ ignores in names, so that git takes `.g\\u200cit` for `.git`."""

_MOST_REFERENCE_BYTES = 1 << 24
_SHA1_BYTES = 20


class Sort(StrEnum):
    """What a change is, the strictest first.

    Attributes:
        SETTING: It may change what git or other programs run.
        LOST: Something goes that is recorded nowhere else.
        CHANGE: Any other change.
        GIT: Git's own bookkeeping.
        CACHE: Something that programs make again.
    """

    SETTING = "setting"
    LOST = "lost"
    CHANGE = "change"
    GIT = "git"
    CACHE = "cache"


class SortedChange(Struct, frozen=True):
    """A change and what it is.

    Attributes:
        change: The change.
        sort: What it is.
        because: Why it is a setting or a loss, for a person; empty for others.
        is_undoable: Whether what the path was is kept when the change is applied.
        is_in_git: Whether the path lies in a git directory.
    """

    change: Change
    sort: Sort
    because: str = ""
    is_undoable: bool = False
    is_in_git: bool = False


class UndoBudget:
    """How much old content is kept for the undo of one run; all its manifests share it.

    Args:
        most_file_bytes: A larger file is not kept.
        most_bytes: No more than this is kept in all.
    """

    def __init__(
        self,
        *,
        most_file_bytes: int = MOST_UNDO_BYTES,
        most_bytes: int = MOST_UNDO_BYTES_IN_ALL,
    ) -> None:
        self._most_file_bytes = most_file_bytes
        self._left = most_bytes

    def take(self, size: int) -> bool:
        """Return whether a content of this size is kept; if so, less is left for others."""
        if size > min(self._most_file_bytes, self._left):
            return False
        self._left -= size
        return True


def sort_changes(
    manifest: Manifest, descriptors: LayerDescriptors, budget: UndoBudget | None = None
) -> tuple[SortedChange, ...]:
    """Sort the changes of a run, by what git recorded before it.

    Git does not run: its index is read as it was. A file that is overwritten loses nothing if its
    old content is kept for undo; where it is not, and git does not have it either, it is a loss.

    Args:
        manifest: The changes.
        descriptors: The open directories of the layer.
        budget: How much is kept for undo when the changes are applied; None if nothing is.

    Raises:
        OSError: A file cannot be read.
    """
    return tuple(_Sorter(manifest, descriptors, budget).sorted())


class _Sorter:
    def __init__(
        self, manifest: Manifest, descriptors: LayerDescriptors, budget: UndoBudget | None
    ) -> None:
        self._manifest = manifest
        self._budget = budget
        self._lower = descriptors.lower
        self._upper = descriptors.upper
        self._changes = {each.path: each for each in manifest.changes}
        self._moved = {each.renamed_from for each in manifest.changes}
        self._indexes: dict[str, dict[bytes, bytes] | None] = {}
        self._recorded: dict[str, RecordedFiles] = {}
        self._repositories: dict[str, bool] = {}
        self._were_repositories: dict[str, bool] = {}
        self._recorded_below: dict[str, bool] = {}
        self._inside_git: dict[str, dict[str, Change]] = {}

    def sorted(self) -> Iterator[SortedChange]:
        """Yield all changes, sorted."""
        others = []
        for change in self._manifest.changes:
            if (directory := self._git_directory(change.path)) is not None:
                inner = change.path[len(directory) + 1 :]
                self._inside_git.setdefault(directory, {})[inner] = change
            elif self._is_cache(change.path):
                yield SortedChange(change, Sort.CACHE)
            else:
                others.append(change)
        undoable = self._undoable(others)
        for change in others:
            yield self._sort(change, is_undoable=change.path in undoable)
        for directory, changes in self._inside_git.items():
            yield from self._sort_git(directory, changes)

    def _sort_git(self, directory: str, changes: dict[str, Change]) -> Iterator[SortedChange]:
        if not self._was_git_directory(directory):
            for change in changes.values():
                because = f"{directory} is a new git directory"
                yield SortedChange(change, Sort.SETTING, because, is_in_git=True)
            return
        files = GitFiles(
            before=lambda path: _read(self._lower, posixpath.join(directory, path)),
            after=lambda path: self._read_after(posixpath.join(directory, path)),
            names_before=lambda: self._reference_names(directory),
        )
        for path, found in sort_git_changes(changes, files).items():
            sort = {GitSort.INSIDE: Sort.GIT, GitSort.LOST: Sort.LOST}.get(found.sort, Sort.SETTING)
            if sort is Sort.GIT and path == _INDEX and self._is_refreshed(directory, changes[path]):
                sort = Sort.CACHE
            yield SortedChange(changes[path], sort, found.because, is_in_git=True)

    def _is_refreshed(self, directory: str, index: Change) -> bool:
        """Return whether an index notes no more than which files are as it recorded them before.

        That is what `git status` notes; each file has to be so.
        """
        before = _read(self._lower, index.path, MOST_INDEX_BYTES)
        after = _read(self._upper, index.path, MOST_INDEX_BYTES)
        was, now = index.before, index.after
        if before is None or after is None or was is None or now is None or was.mode != now.mode:
            return False
        try:
            noted = refreshed_blobs(before, after)
        except GitIndexError:
            return False
        root = posixpath.dirname(directory)
        return noted is not None and all(
            self._blob_after(posixpath.join(root, os.fsdecode(path)), len(blob)) == blob
            for path, blob in noted.items()
        )

    def _blob_after(self, path: str, length: int) -> bytes | None:
        """Return the id that git gives to the content that a path has after the run."""
        content = self._read_after(path)
        return None if content is None else _blob_id(content, length)

    def _undoable(self, changes: list[Change]) -> set[str]:
        """Return the paths that are kept for undo; small files come first, so that most are."""
        if self._budget is None:
            return set()
        ordered = sorted(changes, key=self._size)
        return {each.path for each in ordered if self._budget.take(self._size(each))}

    def _sort(self, change: Change, *, is_undoable: bool) -> SortedChange:
        sort, because = Sort.CHANGE, ""
        if objection := _setting_objection(change):
            sort, because = Sort.SETTING, objection
        elif not (_takes_nothing(change) or self._is_elsewhere(change)):
            if not _is_overwritten(change):
                sort, because = Sort.LOST, "its content is recorded nowhere else"
            elif not is_undoable:
                sort = Sort.LOST
                because = "its old content is recorded nowhere else, and is not kept for undo"
        return SortedChange(change, sort, because, is_undoable=is_undoable)

    def _is_elsewhere(self, change: Change) -> bool:
        """Return whether the old content of a path is elsewhere: under a new name, or in git."""
        return change.path in self._moved or not self._size(change) or self._is_recorded(change)

    def _size(self, change: Change) -> int:
        before = change.before
        return 0 if before is None else before.size or len(before.content)

    def _is_recorded(self, change: Change) -> bool:
        """Return whether git records the content that a path had, in its index or by the run."""
        root = self._work_tree(change.path)
        index = None if root is None else self._index(root)
        if root is None or index is None:
            return False
        inner = _within(root, change.path)
        blob = index.get(os.fsencode(inner))
        if blob is not None and blob == self._blob(change, len(blob)):
            return True
        recorded = self._recorded_after(root)
        if recorded.is_empty:
            return False
        content = self._blob(change, len(blob or next(iter(index.values()), bytes(_SHA1_BYTES))))
        return content is not None and recorded.has(inner, content.hex())

    def _work_tree(self, path: str) -> str | None:
        """Return the innermost work tree that a path lies in, or None."""
        root = posixpath.dirname(path)
        while not self._was_git_directory(posixpath.join(root, _GIT)):
            if not root:
                return None
            root = posixpath.dirname(root)
        return root

    def _recorded_after(self, root: str) -> RecordedFiles:
        """Return the files that a stash or branches record that the run wrote."""
        if root not in self._recorded:
            directory = posixpath.join(root, _GIT)
            self._recorded[root] = RecordedFiles(
                lambda path: self._read_after(posixpath.join(directory, path)),
                [_within(directory, each) for each in self._changes if _is_in(each, directory)],
            )
        return self._recorded[root]

    def _blob(self, change: Change, length: int) -> bytes | None:
        """Return the id that git gives to the content that a path had."""
        if change.before is None:
            return None
        if change.before.kind is FileKind.LINK:
            content: bytes | None = os.fsencode(change.before.content)
        else:
            content = _read(self._lower, change.path, MOST_UNDO_BYTES)
        return None if content is None else _blob_id(content, length)

    def _index(self, root: str) -> dict[bytes, bytes] | None:
        """Return what the index of a work tree records; None where it cannot be read."""
        if root not in self._indexes:
            path = posixpath.join(root, _GIT, _INDEX)
            data = _read(self._lower, path, MOST_INDEX_BYTES)
            try:
                self._indexes[root] = None if data is None else recorded_blobs(data)
            except GitIndexError:
                self._indexes[root] = None
        return self._indexes[root]

    def _is_cache(self, path: str) -> bool:
        """Return whether a path lies in a directory of caches in which git records nothing."""
        caches = sorting_table().caches
        parts = path.split("/")
        for number, name in enumerate(parts):
            is_last = number == len(parts) - 1
            place = "/".join(parts[: number + 1])
            if is_last and self._is_file(path):
                if any(fnmatchcase(name, pattern) for pattern in caches.files):
                    return not self._records_below(place)
            elif name in caches.directories or self._is_beside(parts[:number], name):
                return not self._records_below(place)
        return False

    def _is_file(self, path: str) -> bool:
        change = self._changes[path]
        state = change.after or change.before
        return state is not None and state.kind is not FileKind.DIRECTORY

    def _is_beside(self, parents: list[str], name: str) -> bool:
        patterns = [
            pattern
            for each in sorting_table().caches.beside
            if each.directory == name
            for pattern in each.files
        ]
        if not patterns:
            return False
        present = self._names(self._lower, "/".join(parents))
        return any(fnmatchcase(each, pattern) for each in present for pattern in patterns)

    def _records_below(self, path: str) -> bool:
        """Return whether git records a path, or one below it; also where that is not known."""
        if path not in self._recorded_below:
            self._recorded_below[path] = self._looks_recorded(path)
        return self._recorded_below[path]

    def _looks_recorded(self, path: str) -> bool:
        root = self._work_tree(path)
        if root is None:
            return False
        index = self._index(root)
        if index is None:
            return bool(self._names(self._lower, posixpath.join(root, _GIT, "objects")))
        inner = os.fsencode(_within(root, path))
        return any(each == inner or each.startswith(inner + b"/") for each in index)

    def _git_directory(self, path: str) -> str | None:
        """Return the git directory that a path is or lies in, or None."""
        parts = path.split("/")
        for number, name in enumerate(parts):
            place = "/".join(parts[: number + 1])
            if _folded(name) == _GIT or self._is_bare(place):
                return place
        return None

    def _is_bare(self, path: str) -> bool:
        """Return whether a directory is a git directory by what lies in it, before or after."""
        if path not in self._repositories:
            held = _holds(self._lower, path) | _holds(self._upper, path)
            self._repositories[path] = held == _BARE
        return self._repositories[path]

    def _was_git_directory(self, path: str) -> bool:
        if path not in self._were_repositories:
            self._were_repositories[path] = _holds(self._lower, path) == _BARE
        return self._were_repositories[path]

    def _reference_names(self, directory: str) -> Iterator[str]:
        """Yield the paths of all references and reflogs before the run, the likeliest first."""
        yield from ("logs/HEAD", "HEAD", "packed-refs")
        for top in ("logs", "refs"):
            yield from self._files_below(directory, top)

    def _files_below(self, directory: str, path: str) -> Iterator[str]:
        for name in self._names(self._lower, posixpath.join(directory, path)):
            inner = f"{path}/{name}"
            below = list(self._files_below(directory, inner))
            yield from below or [inner]

    def _read_after(self, path: str) -> bytes | None:
        change = self._changes.get(path)
        if change is None:
            return _read(self._lower, path)
        return None if change.after is None else _read(self._upper, path)

    def _names(self, top: int, path: str) -> list[str]:
        with contextlib.suppress(OSError), opened_directory(top, path) as directory:
            return sorted(os.listdir(directory))
        return []


def _read(top: int, path: str, most: int = _MOST_REFERENCE_BYTES) -> bytes | None:
    return read_file_below(top, path, most)


def _blob_id(content: bytes, length: int) -> bytes:
    """Return the id that git gives to a content, by the length of its ids in bytes."""
    data = b"blob %d\0" % len(content) + content
    if length == _SHA1_BYTES:
        return hashlib.sha1(data, usedforsecurity=False).digest()
    return hashlib.sha256(data).digest()


def _within(directory: str, path: str) -> str:
    """Return a path relative to a directory that it lies in; empty stands for the top."""
    return path[len(directory) + 1 :] if directory else path


def _is_in(path: str, directory: str) -> bool:
    return path.startswith(f"{directory}/")


def _holds(top: int, path: str) -> frozenset[str]:
    """Return which of the entries of a git directory a directory has."""
    with contextlib.suppress(OSError), opened_directory(top, path) as directory:
        return frozenset(name for name in _BARE if _has_entry(directory, name))
    return frozenset()


def _has_entry(directory: int, name: str) -> bool:
    try:
        os.stat(name, dir_fd=directory, follow_symlinks=False)
    except FileNotFoundError:
        return False
    except OSError:
        return True  # nobody may look: it is not known not to be one
    return True


def _folded(name: str) -> str:
    """Return a name as file systems compare it that ignore case and Unicode form."""
    return unicodedata.normalize("NFC", name.translate(_IGNORED_IN_NAMES)).casefold()


def _setting_objection(change: Change) -> str:
    """Return why a change reaches further than its path; empty if it does not."""
    after = change.after
    if after is None:
        return ""
    if after.kind is FileKind.LINK and _leaves(change.path, after.content):
        return "it is a link that leaves the project"
    is_file = change.before is not None and change.before.kind is FileKind.FILE
    if is_file and change.identity is not None and change.identity.names > 1:
        return "the file has another name somewhere"
    return ""


def _takes_nothing(change: Change) -> bool:
    """Return whether a change takes away nothing that a path held."""
    before, after = change.before, change.after
    if before is None or before.kind is FileKind.DIRECTORY:
        return True
    return after is not None and (before.kind, before.content) == (after.kind, after.content)


def _is_overwritten(change: Change) -> bool:
    """Return whether a path holds something else of the same kind, and is not removed."""
    before, after = change.before, change.after
    return before is not None and after is not None and before.kind is after.kind


def _leaves(path: str, target: str) -> bool:
    """Return whether a symlink leads out of the working directory, by its text."""
    if target.startswith("/"):
        return True
    place = posixpath.normpath(posixpath.join(posixpath.dirname(path), target))
    return place == ".." or place.startswith("../")
