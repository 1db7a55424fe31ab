"""A layer: what runs write to working directories, kept beside them."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Self

import msgspec
from msgspec import Struct

from agentscope_like.exception import IsolationError
from agentscope_like.sandbox.layer.file_state import DIRECTORY_FLAGS
from agentscope_like.sandbox.layer.manifest import Manifest, read_manifest

__all__ = ["Layer", "LayerDescriptors"]

_RECORD = "layer.json"
_UPPER, _WORK = "upper", "work"


class LayerDescriptors(Struct, frozen=True):
    """The open directories of one mount.

    Attributes:
        lower: The working directory.
        upper: What is written to it.
        work: What overlayfs needs besides.
    """

    lower: int
    upper: int
    work: int

    @property
    def numbers(self) -> tuple[int, int, int]:
        """Return all three, in this order."""
        return self.lower, self.upper, self.work


class _Record(Struct, frozen=True):
    directories: tuple[str, ...]
    inodes: tuple[tuple[int, int], ...]
    began_ns: int


class Layer:
    """What one run writes to working directories, in a private folder of this host.

    It stays when this process ends, until it is dropped: make one with `Layer.make`, find it again
    with `Layer.open`.

    Args:
        folder: Its folder.

    Attributes:
        folder: As given.
        directories: The working directories, absolute paths without symlinks.
        began_ns: When it was made, on the clock of file times; no file that a run saw was changed
            at or after that time.
    """

    def __init__(self, folder: Path, record: _Record) -> None:
        self.folder = folder
        self.directories = record.directories
        self.began_ns = record.began_ns
        self._inodes = record.inodes

    @classmethod
    def make(cls, store: Path, directories: Sequence[str]) -> Self:
        """Make an empty layer.

        Args:
            store: The folder of all layers; made if there is none, private to this user.
            directories: The working directories; one within another has no layer of its own.

        Raises:
            OSError: It cannot be made.
        """
        tops = _tops({os.path.realpath(each) for each in directories})
        inodes = tuple((found.st_dev, found.st_ino) for found in map(os.stat, tops))
        store.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder = store / secrets.token_hex(8)
        folder.mkdir(mode=0o700)
        for number in range(len(tops)):
            for name in (_UPPER, _WORK):
                (folder / str(number) / name).mkdir(mode=0o700, parents=True)
            _take_mode(tops[number], folder / str(number) / _UPPER)
        record = _Record(tops, inodes, _next_tick())
        new = folder / f"{_RECORD}.new"
        new.write_bytes(msgspec.json.encode(record))
        os.replace(new, folder / _RECORD)
        return cls(folder, record)

    @staticmethod
    def is_in(folder: Path) -> bool:
        """Return whether a folder has a layer; a process was killed that made or dropped it if not.

        Such a folder holds no changes that anybody can find again.
        """
        return (folder / _RECORD).exists()

    @classmethod
    def open(cls, folder: Path) -> Self:
        """Find a layer again.

        Raises:
            IsolationError: It is no longer there, or damaged.
        """
        try:
            record = msgspec.json.decode((folder / _RECORD).read_bytes(), type=_Record)
        except (OSError, msgspec.DecodeError) as error:
            raise IsolationError(f"the changes of the run are no longer there: {error}") from error
        return cls(folder, record)

    @contextlib.contextmanager
    def descriptors(self) -> Iterator[list[LayerDescriptors]]:
        """Open the directories of each mount, and close them afterwards.

        Raises:
            IsolationError: A directory is gone, or another one has its path.
        """
        with contextlib.ExitStack() as stack:
            opened = []
            for number, directory in enumerate(self.directories):
                own = self.folder / str(number)
                each = []
                for path in (directory, str(own / _UPPER), str(own / _WORK)):
                    try:
                        descriptor = os.open(path, DIRECTORY_FLAGS)
                    except OSError as error:
                        raise IsolationError(
                            f"the changes of the run are no longer there: {error}"
                        ) from error
                    stack.callback(os.close, descriptor)
                    each.append(descriptor)
                found = os.fstat(each[0])
                if (found.st_dev, found.st_ino) != self._inodes[number]:
                    raise IsolationError(f"{directory} is another directory than it was")
                opened.append(LayerDescriptors(*each))
            yield opened

    def manifests(self) -> list[Manifest]:
        """Return what was changed, one manifest for each working directory.

        No process may have the layer mounted any more.

        Raises:
            IsolationError: The layer is gone or damaged, or there are too many changes.
            OSError: A file cannot be read.
        """
        with self.descriptors() as opened:
            return [
                read_manifest(directory, each.upper, each.lower)
                for directory, each in zip(self.directories, opened, strict=True)
            ]

    def drop(self) -> None:
        """Remove the layer and all that is in it; calling it again does nothing.

        Its record goes before what else is noted of it, so that a layer that is found is whole.
        """
        for number in range(len(self.directories)):
            shutil.rmtree(self.folder / str(number), onerror=_remove_anyway)
        (self.folder / _RECORD).unlink(missing_ok=True)
        shutil.rmtree(self.folder, onerror=_remove_anyway)


def _tops(directories: set[str]) -> tuple[str, ...]:
    """Return the directories that lie in no other one."""
    return tuple(
        each
        for each in sorted(directories)
        if not any(each.startswith(f"{other.rstrip('/')}/") for other in directories - {each})
    )


def _take_mode(directory: str, upper: Path) -> None:
    """Give the top of a layer the mode and owner of the directory, which a run sees as its own."""
    found = os.stat(directory)
    os.chmod(upper, found.st_mode & 0o777)
    with contextlib.suppress(PermissionError):
        os.chown(upper, found.st_uid, found.st_gid)


def _next_tick() -> int:
    """Return a time of the clock of file times that is over for all files changed before."""
    clock = time.CLOCK_REALTIME_COARSE if hasattr(time, "CLOCK_REALTIME_COARSE") else None
    if clock is None:
        return time.time_ns()
    before = time.clock_gettime_ns(clock)
    while (now := time.clock_gettime_ns(clock)) == before:
        time.sleep(0.0005)
    return now


def _remove_anyway(remove: object, path: str, _error: object) -> None:
    """Remove what a mode keeps from being listed, as the work directory of overlayfs is."""
    if remove in {os.scandir, os.open, os.lstat} and os.path.isdir(path):
        with contextlib.suppress(OSError):
            os.chmod(path, 0o700)
            shutil.rmtree(path, ignore_errors=True)
        return
    with contextlib.suppress(OSError):
        os.chmod(os.path.dirname(path), 0o700)
        (os.rmdir if os.path.isdir(path) and not os.path.islink(path) else os.unlink)(path)
