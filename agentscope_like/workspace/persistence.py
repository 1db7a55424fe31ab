"""Keeps `persist/` from one run to the next."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import secrets
import shutil
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path

from msgspec import Struct

from agentscope_like.exception import DeveloperOrientedException

__all__ = ["PersistError", "PersistentRoot"]

_ROOT = "persist"
_BASE = "persist-base.json"
_CURRENT = "current"
_STATES = "states"
_MOST_STATES = 10


class PersistError(DeveloperOrientedException):
    """Files of `persist/` cannot be kept; what was kept before is unchanged."""


class _Base(Struct, frozen=True):
    """What `persist/` was when the run began: a kept state, and the digests of its files."""

    state: str | None
    files: dict[str, str]


class PersistentRoot:
    """A directory of whole states, one of which is current.

    A state is never changed. A new one is written beside the others, and becomes the current one
    by the renaming of one file, so that a crash leaves the old or the new one.

    Args:
        directory: Where the states are; made if it is missing.
    """

    def __init__(self, directory: str | os.PathLike[str]) -> None:
        self.directory = Path(directory)

    def check_out(self, workspace: Path) -> None:
        """Copy the current state to the `persist/` of a workspace, unless that was done before.

        Raises:
            PersistError: It cannot be copied.
        """
        noted = workspace / _BASE
        if noted.exists():
            return
        with self._locked():
            state = self._current()
            files = _digests(self._tree(state))
            for relative in files:
                _copy(self._tree(state) / relative, workspace / _ROOT / relative)
        text = json.dumps({"state": state, "files": files})
        _write_whole(noted, text.encode())

    def changes(self, workspace: Path) -> dict[str, str | None]:
        """Return the files of a workspace's `persist/` that changed, with their digests.

        A file that was deleted has none.

        Raises:
            PersistError: They cannot be read.
        """
        with _explained(self.directory):
            base = _base(workspace)
            now = _digests(workspace / _ROOT)
        changed: dict[str, str | None] = {
            path: digest for path, digest in now.items() if base.files.get(path) != digest
        }
        return changed | {path: None for path in base.files if path not in now}

    def promote(self, workspace: Path) -> dict[str, str | None]:
        """Make a new current state with what a workspace changed; deletions too.

        What other runs have kept since is kept as well.

        Returns:
            The changes, as `changes` gives them.

        Raises:
            PersistError: Another run changed one of the same files since, or the system refuses.
        """
        changed = self.changes(workspace)
        if not changed:
            return changed
        with self._locked():
            base, state = _base(workspace), self._current()
            kept = _digests(self._tree(state))
            if state != base.state:
                _refuse_conflicts(changed, base, kept)
            new = secrets.token_hex(8)
            building = self.directory / _STATES / f".{new}"
            for relative in {*kept, *changed} - {path for path, now in changed.items() if not now}:
                tree = workspace / _ROOT if relative in changed else self._tree(state)
                _copy(tree / relative, building / relative)
            building.mkdir(mode=0o700, parents=True, exist_ok=True)
            _check_copied(building, kept, changed)
            building.rename(self.directory / _STATES / new)
            _write_whole(self.directory / _CURRENT, new.encode())
            self._discard_old(new)
        text = json.dumps({"state": new, "files": _digests(workspace / _ROOT)})
        _write_whole(workspace / _BASE, text.encode())
        return changed

    def _current(self) -> str | None:
        with contextlib.suppress(FileNotFoundError):
            return (self.directory / _CURRENT).read_text("utf-8")
        return None

    def _tree(self, state: str | None) -> Path:
        return self.directory / _STATES / (state or "none")

    def _discard_old(self, current: str) -> None:
        """Remove states beyond the newest few, and what a crash left of unfinished ones."""
        states = sorted(
            (self.directory / _STATES).iterdir(), key=lambda each: -each.stat().st_mtime_ns
        )
        for position, each in enumerate(states):
            if each.name != current and (position >= _MOST_STATES or each.name.startswith(".")):
                shutil.rmtree(each, ignore_errors=True)

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        with _explained(self.directory):
            (self.directory / _STATES).mkdir(mode=0o700, parents=True, exist_ok=True)
            descriptor = os.open(self.directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX)
                yield
            finally:
                os.close(descriptor)


@contextlib.contextmanager
def _explained(directory: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, ValueError) as error:
        raise PersistError(f"persist/ cannot be kept in {directory}: {error}") from error


def _refuse_conflicts(
    changed: Mapping[str, str | None], base: _Base, kept: Mapping[str, str]
) -> None:
    for path, digest in changed.items():
        if kept.get(path) not in (base.files.get(path), digest):
            raise PersistError(
                f"persist/{path} was changed by another run since this one began; the other run's "
                "is kept, and this run's remains in its workspace"
            )


def _check_copied(
    building: Path, kept: Mapping[str, str], changed: Mapping[str, str | None]
) -> None:
    """Refuse a copy of files that somebody changed while they were copied."""
    wanted = {path: digest for path, digest in {**kept, **changed}.items() if digest is not None}
    if _digests(building) != wanted:
        raise PersistError("persist/ changed while it was copied: finish once nothing writes there")


def _base(workspace: Path) -> _Base:
    noted = workspace / _BASE
    if not noted.exists():
        return _Base(None, {})
    found = json.loads(noted.read_text("utf-8"))
    return _Base(found["state"], found["files"])


def _digests(directory: Path) -> dict[str, str]:
    """Return the digest of each file below a directory, by its relative path.

    Raises:
        ValueError: Something there is neither a file nor a directory.
    """
    found = {}
    for parent, directories, names in os.walk(directory, onerror=_raise):
        for name in (*directories, *names):
            path = Path(parent, name)
            kind = path.lstat().st_mode
            if stat.S_ISREG(kind):
                with path.open("rb") as file:
                    digest = hashlib.file_digest(file, "sha256").hexdigest()
                found[path.relative_to(directory).as_posix()] = digest
            elif not stat.S_ISDIR(kind):
                raise ValueError(f"{path} is neither a file nor a directory")
    return found


def _raise(error: OSError) -> None:
    if not isinstance(error, FileNotFoundError):
        raise error


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    shutil.copyfile(source, target, follow_symlinks=False)


def _write_whole(path: Path, data: bytes) -> None:
    """Write a file so that it is the old or the new one after a crash."""
    temporary = path.with_name(f".{path.name}-{secrets.token_hex(8)}")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)
