"""Lists what a run changed on a layer."""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
from collections.abc import Iterator

import msgspec
from msgspec import Struct

from agentscope_like.exception import IsolationError
from agentscope_like.sandbox.layer.file_state import (
    DIRECTORY_FLAGS,
    FileKind,
    FileState,
    Identity,
    state_of,
)

__all__ = ["Change", "Manifest", "read_manifest"]

MOST_CHANGES = 100_000
"""How many paths a run may change for its changes to be listed."""

_MOST_DEPTH = 200
_OPAQUE = ("trusted.overlay.opaque", "user.overlay.opaque")
_REDIRECT = ("trusted.overlay.redirect", "user.overlay.redirect")
_SPECIAL_MODE = stat.S_ISUID | stat.S_ISGID | stat.S_ISVTX


class Change(Struct, frozen=True):
    """One path that a run changed.

    Attributes:
        path: Relative to the working directory, with `/`.
        before: What it was; None if it was not there.
        after: What it is on the layer; None if it was removed.
        identity: Which file it was.
        renamed_from: The removed path whose content a new file has, if there is one.
        special: What of it is never applied ("set-user-ID", "a named pipe, socket or device");
            empty if nothing is.
    """

    path: str
    before: FileState | None
    after: FileState | None
    identity: Identity | None = None
    renamed_from: str | None = None
    special: str = ""

    @property
    def only_times(self) -> bool:
        """Return whether the file has the content, mode and kind that it had."""
        before, after = self.before, self.after
        if before is None or after is None or self.special:
            return False
        return msgspec.structs.replace(before, modified_ns=after.modified_ns) == after


class Manifest(Struct, frozen=True):
    """What a run changed below one working directory.

    Attributes:
        directory: The working directory, an absolute path without symlinks.
        changes: The changes, by path.
    """

    directory: str
    changes: tuple[Change, ...] = ()

    @property
    def digest(self) -> str:
        """Return the SHA-256 of the whole manifest: what a person's answer is bound to."""
        return hashlib.sha256(msgspec.json.encode(self)).hexdigest()

    def at(self, path: str) -> Change | None:
        """Return the change of a path."""
        return next((each for each in self.changes if each.path == path), None)


def read_manifest(directory: str, upper: int, lower: int, *, most: int = MOST_CHANGES) -> Manifest:
    """List what lies in an upper layer and differs from the directory below it.

    Nothing that a program wrote is believed but names and contents: each path is compared with what
    is below it, so that a file that was written with the same content is no change.

    Args:
        directory: The working directory, as the manifest names it.
        upper: Descriptor of the layer's upper directory; nothing may write there any more.
        lower: Descriptor of the working directory.
        most: How many changes are listed.

    Raises:
        IsolationError: There are more, or the layer holds what overlayfs does not write here.
        OSError: A file cannot be read.
    """
    reader = _Reader(most)
    reader.compare(upper, lower, "", depth=0, is_opaque=False)
    changes = sorted(_with_renames(reader.changes), key=lambda each: each.path.split("/"))
    return Manifest(directory, tuple(changes))


class _Reader:
    def __init__(self, most: int) -> None:
        self.changes: list[Change] = []
        self._most = most

    def compare(
        self, upper: int, lower: int | None, path: str, *, depth: int, is_opaque: bool
    ) -> None:
        """Compare a directory of the layer with the one below it."""
        if depth > _MOST_DEPTH:
            raise IsolationError(f"the run made directories more than {_MOST_DEPTH} deep")
        names = sorted(os.listdir(upper))
        for name in names:
            self._compare_name(name, upper, lower, f"{path}{name}", depth, is_opaque)
        if is_opaque and lower is not None:
            for name in sorted(set(os.listdir(lower)) - set(names)):
                self._remove(name, lower, f"{path}{name}", depth)

    def _compare_name(
        self, name: str, upper: int, lower: int | None, path: str, depth: int, is_opaque: bool
    ) -> None:
        found = os.stat(name, dir_fd=upper, follow_symlinks=False)
        if _is_whiteout(found):
            if lower is not None:
                self._remove(name, lower, path, depth)
            return
        before = None if lower is None else state_of(name, lower)
        if stat.S_ISDIR(found.st_mode):
            self._compare_directory(name, upper, lower, path, depth, is_opaque)
            return
        if before is not None and before[0].kind is FileKind.DIRECTORY and lower is not None:
            self._remove_content(name, lower, path, depth)
        after = state_of(name, upper)
        if after is not None:
            self._add(path, before, after[0], _special(found))

    def _compare_directory(
        self, name: str, upper: int, lower: int | None, path: str, depth: int, is_opaque: bool
    ) -> None:
        before = None if lower is None else state_of(name, lower)
        after = state_of(name, upper)
        if after is None:
            return
        with _opened(name, upper) as inside:
            if any(_attribute(inside, each) is not None for each in _REDIRECT):
                raise IsolationError(f"{path} on the layer leads to another directory")
            hides = is_opaque or any(_attribute(inside, each) == b"y" for each in _OPAQUE)
            self._add(path, before, after[0], "")
            if before is None or before[0].kind is not FileKind.DIRECTORY or lower is None:
                self.compare(inside, None, f"{path}/", depth=depth + 1, is_opaque=False)
                return
            with _opened(name, lower) as below:
                self.compare(inside, below, f"{path}/", depth=depth + 1, is_opaque=hides)

    def _remove(self, name: str, lower: int, path: str, depth: int) -> None:
        before = state_of(name, lower)
        if before is None:
            return
        if before[0].kind is FileKind.DIRECTORY:
            self._remove_content(name, lower, path, depth)
        self._add(path, before, None, "")

    def _remove_content(self, name: str, lower: int, path: str, depth: int) -> None:
        if depth > _MOST_DEPTH:
            raise IsolationError(f"{path} is more than {_MOST_DEPTH} directories deep")
        with _opened(name, lower) as inside:
            for each in sorted(os.listdir(inside)):
                self._remove(each, inside, f"{path}/{each}", depth + 1)

    def _add(
        self,
        path: str,
        before: tuple[FileState, Identity] | None,
        after: FileState | None,
        special: str,
    ) -> None:
        state, identity = (None, None) if before is None else before
        if state == after and not special:
            return
        if not path.isprintable() and any("\udc80" <= each <= "\udcff" for each in path):
            raise IsolationError(f"the run made a file whose name is not text: {path!a}")
        if len(self.changes) >= self._most:
            raise IsolationError(f"the run changed more than {self._most:,} files")
        self.changes.append(Change(path, state, after, identity, special=special))


def _is_whiteout(found: os.stat_result) -> bool:
    """Return whether this is how overlayfs marks a removed path."""
    return stat.S_ISCHR(found.st_mode) and found.st_rdev == 0


def _special(found: os.stat_result) -> str:
    """Return what of a file is never applied."""
    if not (stat.S_ISREG(found.st_mode) or stat.S_ISLNK(found.st_mode)):
        return "a named pipe, socket or device"
    if stat.S_ISREG(found.st_mode) and found.st_mode & _SPECIAL_MODE:
        return "set-user-ID, set-group-ID or sticky bit"
    return ""


def _attribute(descriptor: int, name: str) -> bytes | None:
    try:
        return os.getxattr(descriptor, name)
    except OSError:
        return None


@contextlib.contextmanager
def _opened(name: str, directory: int) -> Iterator[int]:
    descriptor = os.open(name, DIRECTORY_FLAGS, dir_fd=directory)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _with_renames(changes: list[Change]) -> Iterator[Change]:
    """Say of new files which removed ones they were; each removed one is named once."""
    removed: dict[tuple[str, int], list[str]] = {}
    for change in changes:
        if change.after is None and change.before is not None and change.before.size:
            key = change.before.content, change.before.size
            removed.setdefault(key, []).append(change.path)
    for change in changes:
        after = change.after
        old = removed.get((after.content, after.size)) if after and not change.before else None
        yield msgspec.structs.replace(change, renamed_from=old.pop(0)) if old else change
