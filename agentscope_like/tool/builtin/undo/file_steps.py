"""Makes several files, symlinks and directories of this host what they are to be."""

from __future__ import annotations

import errno
import os
import posixpath
import secrets
import stat
from collections.abc import Callable, Sequence
from itertools import accumulate

from msgspec import Struct

from agentscope_like.checkpoint import FileDigest, FileVersion, file_digest
from agentscope_like.sandbox.files import (
    create_whole_file,
    open_regular_file,
    remove_whole_file,
    replace_whole_file,
)
from agentscope_like.tool.builtin.file_system import explain, open_parent

__all__ = ["FileStep", "digest_at", "is_below_link", "take_steps"]

_DIRECTORY_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_NEW_DIRECTORY_MODE = 0o700


class FileStep(Struct, frozen=True):
    """What is done to one path.

    Attributes:
        path: The path, absolute and without symlinks on the way.
        now: What it is before the step; None where there is nothing.
        wanted: What it is to be, its mode included; None to remove it.
    """

    path: str
    now: FileVersion | FileDigest | None
    wanted: FileVersion | None

    @property
    def goes_first(self) -> bool:
        """Return whether what is there is removed before anything else can take its place."""
        if self.now is None or self.wanted is None:
            return self.now is not None
        kinds = {self.now.kind, self.wanted.kind}
        return len(kinds) > 1 and "directory" in kinds


def is_below_link(path: str) -> bool:
    """Return whether a symlink is on the way to a path now, so that nothing is there itself."""
    parents = accumulate(path.split("/")[1:-1], posixpath.join, initial="/")
    return any(map(os.path.islink, parents))


def digest_at(path: str) -> FileDigest | None:
    """Return what is at a path itself, reached through no symlink; None where there is nothing.

    Raises:
        OSError: It cannot be read.
    """
    return None if is_below_link(path) else file_digest(path)


def take_steps(steps: Sequence[FileStep]) -> None:
    """Take all steps; one that was taken already is left, so that a crash can be followed by it.

    Each file and symlink is replaced or removed at once. Directories go after what is in them and
    come before; one that others put something into stays.

    Args:
        steps: The steps, in any order.

    Raises:
        FileToolError: A path is neither what it was nor what it is to be, or the system refuses.
    """
    ordered = sorted(steps, key=lambda step: step.path.split("/"))
    for step in reversed(ordered):
        if step.goes_first:
            _explained(_clear, step)
    for step in ordered:
        _explained(_put, step)
    for step in reversed(ordered):
        if step.wanted is not None and step.wanted.kind == "directory":
            _explained(_give_mode, step)


def _explained(action: Callable[[FileStep], None], step: FileStep) -> None:
    try:
        action(step)
    except OSError as error:
        raise explain(error, step.path) from None


def _clear(step: FileStep) -> None:
    """Remove what was there."""
    found = digest_at(step.path)
    if found is None or (step.wanted is not None and found.kind == step.wanted.kind):
        return
    _check_unchanged(step, found)
    with open_parent(step.path) as (directory, name):
        if found.kind == "directory":
            _remove_directory(name, directory, may_stay=step.wanted is None)
        elif found.kind == "link":
            os.unlink(name, dir_fd=directory)
        else:
            status = os.stat(name, dir_fd=directory, follow_symlinks=False)
            identity = (status.st_dev, status.st_ino)
            remove_whole_file(name, directory, identity=identity, digest=found.digest)


def _remove_directory(name: str, directory: int, *, may_stay: bool) -> None:
    try:
        os.rmdir(name, dir_fd=directory)
    except OSError as error:
        if not may_stay or error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
            raise


def _put(step: FileStep) -> None:
    """Put what is wanted in its place."""
    wanted, found = step.wanted, digest_at(step.path)
    if wanted is None:
        return
    if found is not None and found.digest == wanted.digest:
        if wanted.kind == "file" and found.mode != wanted.mode:
            _give_mode(step)
        return
    if found is not None:
        _check_unchanged(step, found)
    with open_parent(step.path, made=[]) as (directory, name):
        if wanted.kind == "directory":
            os.mkdir(name, _NEW_DIRECTORY_MODE, dir_fd=directory)
        elif found is None:
            _create(name, directory, wanted)
        elif found.kind == "file" and wanted.kind == "file":
            status = os.stat(name, dir_fd=directory, follow_symlinks=False)
            replace_whole_file(
                name,
                directory,
                wanted.data,
                identity=(status.st_dev, status.st_ino),
                digest=found.digest,
                cancel_check=_go_on,
                mode=wanted.mode,
            )
        else:
            temporary = f".{secrets.token_hex(8)}.tmp"
            _create(temporary, directory, wanted)
            os.replace(temporary, name, src_dir_fd=directory, dst_dir_fd=directory)


def _create(name: str, directory: int, wanted: FileVersion) -> None:
    if wanted.kind == "link":
        os.symlink(os.fsdecode(wanted.data), name, dir_fd=directory)
        return
    create_whole_file(name, directory, wanted.data, cancel_check=_go_on, mode=wanted.mode)


def _give_mode(step: FileStep) -> None:
    if step.wanted is None:
        return
    with open_parent(step.path) as (directory, name):
        if step.wanted.kind == "directory":
            descriptor = os.open(name, _DIRECTORY_FLAGS, dir_fd=directory)
            try:
                _change_mode(descriptor, step.wanted.mode)
            finally:
                os.close(descriptor)
            return
        with open_regular_file(name, directory) as file:
            _change_mode(file.fileno(), step.wanted.mode)


def _change_mode(descriptor: int, mode: int) -> None:
    if stat.S_IMODE(os.fstat(descriptor).st_mode) != mode:
        os.fchmod(descriptor, mode)


def _check_unchanged(step: FileStep, found: FileDigest) -> None:
    if step.now is None or found.digest != step.now.digest:
        raise OSError(errno.ESTALE, os.strerror(errno.ESTALE))


def _go_on() -> None:
    """Check nothing: a file that is begun is made."""
