"""What a tree of files looks like, and how two looks at it differ."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple, TypeAlias

__all__ = ["Entry", "Snapshot", "describe_changes", "look", "read_contents"]


class Entry(NamedTuple):
    """What the file system says of one path; no program can set `changed`, the ctime."""

    mode: int
    owner: int
    size: int
    inode: int
    links: int
    modified: int
    changed: int


Snapshot: TypeAlias = dict[str, Entry]


def look(roots: Iterable[str]) -> Snapshot:
    """Return the entries of all paths at and below `roots`, on their file system alone.

    Of a place where another file system begins, only that it is there counts: in a jail that is a
    directory of the host, read-only, in which others may be at work meanwhile.
    """
    found: Snapshot = {}
    for root in roots:
        top = os.stat(root, follow_symlinks=False)
        found[root] = _entry(top)
        waiting = [root]
        while waiting:
            with os.scandir(waiting.pop()) as listing:
                for item in listing:
                    status = item.stat(follow_symlinks=False)
                    if status.st_dev != top.st_dev:
                        found[item.path] = _mount_point(status)
                        continue
                    found[item.path] = _entry(status)
                    if stat.S_ISDIR(status.st_mode):
                        waiting.append(item.path)
    return found


def _entry(status: os.stat_result) -> Entry:
    return Entry(
        status.st_mode,
        status.st_uid,
        status.st_size if not stat.S_ISDIR(status.st_mode) else 0,
        status.st_ino,
        status.st_nlink,
        status.st_mtime_ns,
        status.st_ctime_ns,
    )


def _mount_point(status: os.stat_result) -> Entry:
    return Entry(status.st_mode, status.st_uid, 0, status.st_ino, 0, 0, 0)


def read_contents(snapshot: Mapping[str, Entry]) -> dict[str, str]:
    """Return the SHA-256 of each regular file and the target of each symlink."""
    contents: dict[str, str] = {}
    for path, entry in snapshot.items():
        if stat.S_ISLNK(entry.mode):
            contents[path] = os.readlink(path)
        elif stat.S_ISREG(entry.mode):
            with open(path, "rb") as file:
                contents[path] = hashlib.sha256(file.read()).hexdigest()
    return contents


def describe_changes(
    before: Mapping[str, Entry], after: Mapping[str, Entry], *, passing: Iterable[str] = ()
) -> Iterator[str]:
    """Yield a line for each path that was made, removed or changed.

    Args:
        before: The first look.
        after: The second.
        passing: Directories where files may come and go, if only they are gone in the end.
    """
    if before == after:
        return
    silent = frozenset(passing) | {os.path.dirname(path) for path in before.keys() ^ after.keys()}
    for path in sorted(before.keys() | after.keys()):
        old, new = before.get(path), after.get(path)
        if old == new:
            continue
        if old is None:
            yield f"made {path!r}"
        elif new is None:
            yield f"removed {path!r}"
        elif what := _difference(old, new, silent=path in silent):
            yield f"{what} of {path!r}"


def _difference(old: Entry, new: Entry, *, silent: bool) -> str:
    fields = ("mode", "owner", "size", "inode", "links", "modified", "changed")
    changed = [name for name, one, other in zip(fields, old, new, strict=True) if one != other]
    if silent and set(changed) <= {"links", "modified", "changed"}:
        return ""
    return "changed " + ", ".join(changed)
