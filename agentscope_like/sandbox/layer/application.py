"""Applies what a run changed on a layer to the working directories."""

from __future__ import annotations

import contextlib
import hashlib
import os
import posixpath
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path

import msgspec
from msgspec import Struct

from agentscope_like.exception import IsolationError
from agentscope_like.sandbox.layer.file_state import (
    FILE_FLAGS,
    FileKind,
    FileState,
    opened_directory,
    state_of,
)
from agentscope_like.sandbox.layer.git_locks import LOCK, is_locked_by_git
from agentscope_like.sandbox.layer.layer import Layer, LayerDescriptors
from agentscope_like.sandbox.layer.manifest import Change, Manifest
from agentscope_like.sandbox.layer.origin import is_of_directory

__all__ = ["ApplyError", "apply_layer", "apply_objection", "finish_applying"]

_JOURNAL = "applying.json"
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_CHUNK = 1 << 20


class ApplyError(IsolationError):
    """The changes of a run were not applied, or not all of them; the message says which."""


class _Stage(StrEnum):
    """How far the applying is.

    Attributes:
        WRITING: New contents are written beside their places; a crash takes them back.
        RENAMING: All are written and get their names; a crash is followed by the rest.
        APPLIED: It is done; the files may have changed since.
    """

    WRITING = "writing"
    RENAMING = "renaming"
    APPLIED = "applied"


class _Journal(Struct, frozen=True):
    """What is being applied.

    Attributes:
        manifests: The changes; none once they are applied.
        stage: How far it is.
    """

    manifests: tuple[Manifest, ...]
    stage: _Stage


_APPLIED = _Journal((), _Stage.APPLIED)


def apply_objection(layer: Layer, manifests: tuple[Manifest, ...]) -> str | None:
    """Return why changes cannot be applied, or None: something else changed meanwhile.

    Args:
        layer: The layer of the run.
        manifests: The changes, as `Layer.manifests` listed them.
    """
    try:
        with layer.descriptors() as opened:
            for manifest, descriptors in zip(manifests, opened, strict=True):
                objection = _Place(manifest, descriptors, layer).objection()
                if objection is not None:
                    return objection
    except (IsolationError, OSError) as error:
        return str(error)
    return None


def apply_layer(layer: Layer, manifests: tuple[Manifest, ...]) -> None:
    """Apply all changes of a run, or none.

    All new contents are written beside their places first; then each file is replaced by one
    rename, so that it is old or new at any moment. Meanwhile git's locks are held on its index and
    on what names commits, which are compared once more under them. What a crash interrupts is
    finished or taken back by `finish_applying`, which also tells that changes were applied, until
    the layer is dropped.

    Args:
        layer: The layer of the run.
        manifests: The changes, as `Layer.manifests` listed them.

    Raises:
        ApplyError: Something else changed meanwhile, the layer is damaged, or the system refuses.
    """
    objection = apply_objection(layer, manifests)
    if objection is not None:
        raise ApplyError(objection)
    _write_journal(layer.folder, _Journal(manifests, _Stage.WRITING))
    try:
        with layer.descriptors() as opened:
            places = [
                _Place(manifest, descriptors, layer)
                for manifest, descriptors in zip(manifests, opened, strict=True)
            ]
            _run_all(layer, manifests, places)
    except (IsolationError, OSError) as error:
        raise ApplyError(f"the changes could not be applied: {error}") from error
    _write_journal(layer.folder, _APPLIED)


def finish_applying(layer: Layer) -> bool:
    """Finish or take back what was being applied when a process ended.

    Args:
        layer: The layer of the run.

    Returns:
        Whether its changes are applied now.

    Raises:
        ApplyError: A file is neither as it was nor as it was to become.
    """
    try:
        data = (layer.folder / _JOURNAL).read_bytes()
    except FileNotFoundError:
        return False
    try:
        journal = msgspec.json.decode(data, type=_Journal)
        if journal.stage is _Stage.APPLIED:
            return True
        with layer.descriptors() as opened:
            for manifest, descriptors in zip(journal.manifests, opened, strict=True):
                place = _Place(manifest, descriptors, layer)
                if journal.stage is _Stage.RENAMING:
                    place.rename_all()
                else:
                    place.discard_all()
    except (IsolationError, OSError, msgspec.DecodeError) as error:
        raise ApplyError(f"the changes could not be applied to their end: {error}") from error
    if journal.stage is _Stage.WRITING:
        _forget_journal(layer.folder)
        return False
    _write_journal(layer.folder, _APPLIED)
    return True


def _run_all(layer: Layer, manifests: tuple[Manifest, ...], places: list[_Place]) -> None:
    try:
        for place in places:
            place.write_all()
        _write_journal(layer.folder, _Journal(manifests, _Stage.RENAMING))
    except BaseException:
        for place in places:
            place.discard_all()
        _forget_journal(layer.folder)
        raise
    for place in places:
        place.rename_all()


class _Place:
    """One working directory, and what is to change in it."""

    def __init__(self, manifest: Manifest, descriptors: LayerDescriptors, layer: Layer) -> None:
        self._manifest = manifest
        self._lower = descriptors.lower
        self._upper = descriptors.upper
        self._began_ns = layer.began_ns
        self._mark = f".{layer.folder.name}"
        self._changes = {each.path: each for each in manifest.changes}

    def objection(self) -> str | None:
        """Return why the changes cannot be applied now, or None."""
        seen: set[str] = set()
        for change in self._manifest.changes:
            parent = posixpath.dirname(change.path)
            if parent not in seen:
                seen.add(parent)
                if not self._is_same_directory(parent):
                    return f"{self._shown(parent)} changed since the run began"
            if not self._is_as_before(change):
                return f"{self._shown(change.path)} changed since the run began"
        return None

    def write_all(self) -> None:
        """Write all new files and links beside their places, and take git's locks."""
        for number, change in enumerate(self._manifest.changes):
            after = change.after
            if after is not None and after.kind in {FileKind.FILE, FileKind.LINK}:
                with opened_directory(self._lower, self._lasting_parent(change.path)) as directory:
                    if after.kind is FileKind.LINK:
                        os.symlink(after.content, self._temporary(number), dir_fd=directory)
                    else:
                        self._copy(change, after, self._temporary(number), directory)
            if self._is_locked(change):
                self._lock(number, change)

    def discard_all(self) -> None:
        """Remove what `write_all` wrote, and give git's locks back."""
        for number, change in enumerate(self._manifest.changes):
            self._unlock(number, change)
            with (
                contextlib.suppress(OSError),
                opened_directory(self._lower, self._lasting_parent(change.path)) as directory,
            ):
                os.unlink(self._temporary(number), dir_fd=directory)

    def rename_all(self) -> None:
        """Remove, make and replace; what is done already is left as it is."""
        numbered = list(enumerate(self._manifest.changes))
        for _, change in reversed(numbered):
            self._remove(change)
        for number, change in numbered:
            self._put(number, change)
        for _, change in reversed(numbered):
            self._finish_directory(change)
        for number, change in numbered:
            self._unlock(number, change)
        for parent in {posixpath.dirname(each.path) for each in self._manifest.changes}:
            with contextlib.suppress(OSError), opened_directory(self._lower, parent) as directory:
                os.fsync(directory)

    def _is_locked(self, change: Change) -> bool:
        """Return whether git's lock is held for a change; in a new directory there is none."""
        is_directory = FileKind.DIRECTORY in {each.kind for each in _states(change)}
        parent = posixpath.dirname(change.path)
        return (
            is_locked_by_git(change.path)
            and not is_directory
            and parent == self._lasting_parent(change.path)
        )

    def _lock(self, number: int, change: Change) -> None:
        """Take git's lock of a file, as another name of the temporary file, which tells it ours."""
        parent, name = posixpath.split(change.path)
        with opened_directory(self._lower, parent) as directory:
            own = self._temporary(number)
            if change.after is None:
                os.close(os.open(own, _NEW, 0o600, dir_fd=directory))
            try:
                os.link(
                    own,
                    f"{name}{LOCK}",
                    src_dir_fd=directory,
                    dst_dir_fd=directory,
                    follow_symlinks=False,
                )
            except FileExistsError:
                shown = self._shown(change.path)
                raise IsolationError(f"git is at work there ({shown}{LOCK} exists)") from None
        if not self._is_as_before(change):
            raise IsolationError(f"{self._shown(change.path)} changed since the run began")

    def _unlock(self, number: int, change: Change) -> None:
        """Give git's lock back, if this applying has it: it is the same file as another of ours."""
        if not self._is_locked(change):
            return
        parent, name = posixpath.split(change.path)
        own = self._temporary(number)
        with contextlib.suppress(OSError), opened_directory(self._lower, parent) as directory:
            lock = _status(f"{name}{LOCK}", directory)
            ours = [_status(each, directory) for each in (own, name)]
            if lock and any(each and os.path.samestat(each, lock) for each in ours):
                os.unlink(f"{name}{LOCK}", dir_fd=directory)
            if change.after is None:
                os.unlink(own, dir_fd=directory)

    def _remove(self, change: Change) -> None:
        before, after = change.before, change.after
        if before is None or not _goes(before, after):
            return
        name = posixpath.basename(change.path)
        try:
            with opened_directory(self._lower, posixpath.dirname(change.path)) as directory:
                found = state_of(name, directory)
                if found is None or (after is not None and found[0].kind is after.kind):
                    return
                if before.kind is FileKind.DIRECTORY:
                    os.rmdir(name, dir_fd=directory)
                else:
                    self._check_old(change, found[0])
                    os.unlink(name, dir_fd=directory)
        except (FileNotFoundError, NotADirectoryError):
            return

    def _put(self, number: int, change: Change) -> None:
        after = change.after
        if after is None or after.kind is FileKind.OTHER:
            return
        name = posixpath.basename(change.path)
        with opened_directory(self._lower, posixpath.dirname(change.path)) as directory:
            found = state_of(name, directory)
            if after.kind is FileKind.DIRECTORY:
                if found is None:
                    os.mkdir(name, 0o700, dir_fd=directory)
                return
            if found is not None and found[0] == after:
                return
            if found is not None:
                self._check_old(change, found[0])
            with opened_directory(self._lower, self._lasting_parent(change.path)) as beside:
                os.replace(self._temporary(number), name, src_dir_fd=beside, dst_dir_fd=directory)

    def _finish_directory(self, change: Change) -> None:
        """Give a directory its mode and, if it is new, its time, after all else in it."""
        after = change.after
        if after is None or after.kind is not FileKind.DIRECTORY:
            return
        with opened_directory(self._lower, change.path) as directory:
            if change.before is None:
                with opened_directory(self._upper, change.path) as made:
                    found = os.fstat(made)
                os.utime(directory, ns=(found.st_atime_ns, found.st_mtime_ns))
            os.fchmod(directory, after.mode)

    def _copy(self, change: Change, after: FileState, temporary: str, directory: int) -> None:
        """Copy a file of the layer, and check that it is the one of the manifest."""
        name = posixpath.basename(change.path)
        with (
            opened_directory(self._upper, posixpath.dirname(change.path)) as source_directory,
            open(os.open(name, FILE_FLAGS, dir_fd=source_directory), "rb") as source,
            open(os.open(temporary, _NEW, 0o600, dir_fd=directory), "wb") as target,
        ):
            digest = hashlib.sha256()
            while data := source.read(_CHUNK):
                digest.update(data)
                target.write(data)
            if digest.hexdigest() != after.content:
                raise IsolationError(f"{self._shown(change.path)} on the layer is damaged")
            target.flush()
            self._take_attributes(change, target.fileno())
            os.fchmod(target.fileno(), after.mode)
            os.utime(target.fileno(), ns=(after.modified_ns, after.modified_ns))
            os.fsync(target.fileno())

    def _take_attributes(self, change: Change, target: int) -> None:
        """Give a file the owner and attributes of the one that it replaces."""
        if change.before is None or change.before.kind is not FileKind.FILE:
            return
        parent, name = posixpath.split(change.path)
        with (
            opened_directory(self._lower, parent) as directory,
            open(os.open(name, FILE_FLAGS, dir_fd=directory), "rb") as old,
        ):
            found = os.fstat(old.fileno())
            for attribute in os.listxattr(old.fileno()):
                with contextlib.suppress(OSError):
                    value = os.getxattr(old.fileno(), attribute)
                    os.setxattr(target, attribute, value)
            with contextlib.suppress(PermissionError):
                os.fchown(target, found.st_uid, found.st_gid)

    def _is_same_directory(self, path: str) -> bool:
        """Return whether a directory that the run wrote to is the one that it saw."""
        made = self._changes.get(path)
        if made is not None and _is_made(made):
            return True
        if not path:
            return True  # the layer checks the working directory itself
        try:
            with opened_directory(self._lower, path) as lower:
                if os.fstat(lower).st_ctime_ns < self._began_ns:
                    return True
                with opened_directory(self._upper, path) as upper:
                    return is_of_directory(upper, lower)
        except OSError:
            return made is not None and made.after is None

    def _is_as_before(self, change: Change) -> bool:
        parent, name = posixpath.split(change.path)
        try:
            with opened_directory(self._lower, parent) as directory:
                found = state_of(name, directory)
        except (FileNotFoundError, NotADirectoryError):
            found = None
        if found is None or change.before is None or change.identity is None:
            return found is None and change.before is None
        state, identity = found
        if state != change.before or identity.inode != change.identity.inode:
            return False
        if state.kind is FileKind.DIRECTORY and change.after is not None:
            return True
        return identity == change.identity and identity.changed_ns < self._began_ns

    def _check_old(self, change: Change, found: FileState) -> None:
        if found != change.before:
            raise IsolationError(f"{self._shown(change.path)} changed while it was replaced")

    def _lasting_parent(self, path: str) -> str:
        """Return the nearest directory that is there before and after."""
        parent = posixpath.dirname(path)
        while parent:
            change = self._changes.get(parent)
            if change is None or not (_is_made(change) or change.after is None):
                above = posixpath.dirname(parent)
                if not any(_is_made(each) for each in self._above(above)):
                    return parent
            parent = posixpath.dirname(parent)
        return parent

    def _above(self, path: str) -> Iterator[Change]:
        while path:
            if path in self._changes:
                yield self._changes[path]
            path = posixpath.dirname(path)

    def _temporary(self, number: int) -> str:
        return f"{self._mark}-{number}.tmp"

    def _shown(self, path: str) -> str:
        return posixpath.join(self._manifest.directory, path)


def _states(change: Change) -> Iterator[FileState]:
    yield from (each for each in (change.before, change.after) if each is not None)


def _status(name: str, directory: int) -> os.stat_result | None:
    try:
        return os.stat(name, dir_fd=directory, follow_symlinks=False)
    except FileNotFoundError:
        return None


def _goes(before: FileState, after: FileState | None) -> bool:
    """Return whether a file is removed before another one can take its place."""
    if after is None:
        return True
    directory = FileKind.DIRECTORY
    return before.kind is not after.kind and directory in {before.kind, after.kind}


def _is_made(change: Change) -> bool:
    """Return whether a change makes a directory that was not there."""
    after, before = change.after, change.before
    return (
        after is not None
        and after.kind is FileKind.DIRECTORY
        and (before is None or before.kind is not FileKind.DIRECTORY)
    )


def _write_journal(folder: Path, journal: _Journal) -> None:
    temporary = folder / f"{_JOURNAL}.new"
    with open(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
        file.write(msgspec.json.encode(journal))
        file.flush()
        os.fsync(file.fileno())
    os.replace(temporary, folder / _JOURNAL)


def _forget_journal(folder: Path) -> None:
    (folder / _JOURNAL).unlink(missing_ok=True)
