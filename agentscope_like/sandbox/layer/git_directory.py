"""Tells what a change inside a git directory means: bookkeeping, a setting, or a loss."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from enum import StrEnum
from fnmatch import fnmatchcase

from msgspec import Struct

from agentscope_like.sandbox.layer.file_state import FileKind
from agentscope_like.sandbox.layer.manifest import Change
from agentscope_like.sandbox.layer.sorting_table import sorting_table

__all__ = ["GitChange", "GitFiles", "GitSort", "sort_git_changes"]

_OBJECT_ID = re.compile(rb"\b(?:[0-9a-f]{64}|[0-9a-f]{40})\b")
_NULL = re.compile(rb"0+")
_SHOWN_CHARACTERS = 12
_NEEDED = frozenset({"HEAD", "packed-refs", "index"})
"""Files of git that other programs never remove."""


class GitSort(StrEnum):
    """What a change inside a git directory means.

    Attributes:
        INSIDE: Git's own bookkeeping: new objects, branches, the index.
        SETTING: It may make git run a program, or read something else than it did.
        LOST: A commit or stash would no longer be named by anything.
    """

    INSIDE = "inside"
    SETTING = "setting"
    LOST = "lost"


class GitChange(Struct, frozen=True):
    """What one change means.

    Attributes:
        sort: What it is.
        because: Why, for a person; empty where it is git's bookkeeping.
    """

    sort: GitSort
    because: str = ""


class GitFiles(Struct, frozen=True):
    """How to read files of a git directory, by paths relative to it; None where there is none.

    Attributes:
        before: Reads as it was.
        after: Reads as it is on the layer.
        names_before: The paths of all references and reflogs as they were.
    """

    before: Callable[[str], bytes | None]
    after: Callable[[str], bytes | None]
    names_before: Callable[[], Iterable[str]]


def sort_git_changes(changes: dict[str, Change], files: GitFiles) -> dict[str, GitChange]:
    """Sort the changes inside one git directory.

    Args:
        changes: By path relative to the git directory.
        files: Reads it.
    """
    sorted_ones = {path: _by_name(path, change) for path, change in changes.items()}
    references = [
        path for path in changes if _fits(_without_nested(path), sorting_table().git.references)
    ]
    forgotten = _forgotten(references, files) if references else frozenset()
    if not forgotten:
        return sorted_ones
    shown = ", ".join(sorted(each.decode()[:_SHOWN_CHARACTERS] for each in forgotten)[:3])
    for path in references:
        if sorted_ones[path].sort is GitSort.INSIDE and _ids(files.before(path)) & forgotten:
            because = f"nothing would name {shown} any more"
            sorted_ones[path] = GitChange(GitSort.LOST, because)
    return sorted_ones


def _by_name(path: str, change: Change) -> GitChange:
    """Sort a change by its path and kind alone."""
    inner, git = _without_nested(path), sorting_table().git
    kinds = {state.kind for state in (change.before, change.after) if state is not None}
    if kinds == {FileKind.DIRECTORY} or _is_only_rewritten(change):
        return GitChange(GitSort.INSIDE)
    if kinds != {FileKind.FILE} or change.special or _fits(inner, git.never):
        return _setting(path)
    if _fits(inner, git.objects):
        return _of_object(path, change)
    is_removed = change.after is None and inner in _NEEDED
    if not is_removed and any(
        _fits(inner, names) for names in (git.derived, git.references, git.state)
    ):
        return GitChange(GitSort.INSIDE)
    return _setting(path)


def _is_only_rewritten(change: Change) -> bool:
    """Return whether a file has the content and mode that it had, as git rewrites some."""
    before, after = change.before, change.after
    if before is None or after is None or change.special:
        return False
    return (before.kind, before.mode, before.content) == (after.kind, after.mode, after.content)


def _of_object(path: str, change: Change) -> GitChange:
    """Sort a change of a file of objects, which is written once."""
    if change.before is None:
        return GitChange(GitSort.INSIDE)
    if change.after is None:
        return GitChange(GitSort.LOST, "objects of git would be removed")
    return _setting(path)


def _setting(path: str) -> GitChange:
    return GitChange(GitSort.SETTING, f"{path} can change what git runs or reads")


def _without_nested(path: str) -> str:
    """Return the path within the innermost git directory: of a submodule or linked work tree."""
    first, _, rest = path.partition("/")
    if first not in sorting_table().git.nested or not rest:
        return path
    git = sorting_table().git
    parts = rest.split("/")
    for number in range(1, len(parts)):
        inner = "/".join(parts[number:])
        if any(_fits(inner, names) for names in (git.objects, git.derived, git.state)):
            return inner
        if _fits(inner, git.references):
            return inner
    return path


def _fits(path: str, patterns: Iterable[str]) -> bool:
    return any(fnmatchcase(path, pattern) for pattern in patterns)


def _forgotten(references: list[str], files: GitFiles) -> frozenset[bytes]:
    """Return the ids that references named, and that none names any more."""
    before = frozenset().union(*(_ids(files.before(path)) for path in references))
    named = frozenset().union(*(_ids(files.after(path)) for path in references))
    missing = before - named
    for path in _others(files, references) if missing else ():
        missing -= _ids(files.before(path))
        if not missing:
            break
    return missing


def _others(files: GitFiles, references: list[str]) -> Iterator[str]:
    changed = set(references)
    return (path for path in files.names_before() if path not in changed)


def _ids(content: bytes | None) -> frozenset[bytes]:
    """Return the object ids in a reference, a list of references or a reflog."""
    found = _OBJECT_ID.findall(content or b"")
    return frozenset(each for each in found if not _NULL.fullmatch(each))
