"""Defines the protocols `FileSystem` and `Files`, which the host and a sandbox implement.

A tool awaits a `FileSystem` for its decisions, and works with `Files`, which block and are used in
a thread.
"""

from __future__ import annotations

import errno
import hashlib
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, BinaryIO, Protocol, TypeVar

from msgspec import Struct

from agentscope_like.lazy_property import lazy_property
from agentscope_like.paths import FileKind, FileSystemNames, Location
from agentscope_like.sandbox.files import FileStatus
from agentscope_like.state import ReadCacheEntry
from agentscope_like.tool.builtin.file_errors import MAX_WHOLE_BYTES, FileToolError
from agentscope_like.tool.builtin.tool_results import CancelCheck

if TYPE_CHECKING:
    from agentscope_like.permission import PathRuleIndex, PermissionRule
    from agentscope_like.tool.builtin.content_search import Query, SearchResult

__all__ = [
    "Entry",
    "FileContent",
    "FileSystem",
    "Files",
    "OpenFile",
    "explain",
    "read_whole",
    "require_file",
    "whole",
]

ResultT = TypeVar("ResultT")


class FileContent(Struct, frozen=True, dict=True):
    """A regular file's bytes and status, read together."""

    data: bytes
    status: FileStatus

    @lazy_property
    def digest(self) -> str:
        """Return the SHA-256 of the bytes, in hexadecimal."""
        return hashlib.sha256(self.data).hexdigest()

    def entry(self, path: str, seen: tuple[tuple[int, int], ...] = ()) -> ReadCacheEntry:
        """Return the read-cache entry of the file for its resolved path."""
        return ReadCacheEntry(
            file_path=path,
            digest=self.digest,
            bytes=len(self.data),
            updated_at=self.status.modified,
            seen=seen,
        )


class OpenFile(Struct, frozen=True):
    """An open regular file with its status at opening."""

    stream: BinaryIO
    status: FileStatus


class _Modified(Protocol):
    @property
    def st_mtime_ns(self) -> int: ...


class Entry(Protocol):
    """An entry of a directory; an `os.DirEntry` is one."""

    @property
    def name(self) -> str:
        """Return its name."""

    @property
    def path(self) -> str:
        """Return its absolute path."""

    def is_dir(self, *, follow_symlinks: bool) -> bool:
        """Return whether it is a directory."""

    def is_file(self, *, follow_symlinks: bool) -> bool:
        """Return whether it is a regular file."""

    def stat(self, *, follow_symlinks: bool) -> _Modified:
        """Return the time of its last change.

        Raises:
            OSError: It no longer exists.
        """


class Files(Protocol):
    """The files that one call works with; blocks, so it is used in a thread.

    It only opens, replaces and lists paths from `locate`, without following symlinks created since
    then.
    """

    def locate(self, path: str, *, directory: str) -> Location:
        """Return where a path leads now.

        Raises:
            PathError: The path is invalid. FileToolError: The file system does not answer.
        """

    def probe(self, location: Location) -> None:
        """Raise the system's error if a path cannot be reached.

        Raises:
            OSError: It cannot be reached.
        """

    def is_symlink(self, path: str) -> bool:
        """Return whether a name that `locate` has passed is a symlink."""

    def open(self, location: Location) -> AbstractContextManager[OpenFile]:
        """Open a regular file for reading, without waiting for another program.

        Raises:
            OSError: It cannot be opened; ENXIO if it is not a regular file.
        """

    def create(self, location: Location, data: bytes, cancel_check: CancelCheck) -> FileContent:
        """Create a new file and its missing directories.

        Raises:
            OSError: The system refuses; EEXIST if it exists now.
        """

    def replace(
        self, location: Location, data: bytes, before: FileContent, cancel_check: CancelCheck
    ) -> FileContent:
        """Atomically replace the file that `before` describes by `data`.

        The file keeps its mode and owner. Symlinks on the way are kept; of a file with several hard
        links only this name changes.

        Raises:
            OSError: The system refuses; ESTALE if it is no longer that file.
        """

    def list(self, directories: Sequence[str]) -> Iterator[Iterable[Entry] | None]:
        """Yield the entries of each directory; None if it cannot be listed."""

    def search(
        self,
        query: Query,
        directory: str,
        relative: Sequence[str],
        cancel_check: CancelCheck,
        *,
        avoid: Sequence[str],
    ) -> SearchResult:
        """Search files below a directory.

        Args:
            query: What to search for.
            directory: A resolved directory.
            relative: Paths below it.
            cancel_check: Called several times a second.
            avoid: Working directories, from which no program is run.

        Raises:
            FileToolError: The pattern is invalid, or the search took too long.
        """


class FileSystem(Protocol):
    """The file system of a tool, for deciding and running its calls."""

    @property
    def has_to_look_up(self) -> bool:
        """Return whether `known` only knows paths that were passed to `look_up`."""

    @property
    def names(self) -> FileSystemNames:
        """Return the known names."""

    def directory(self, given: str | None) -> Callable[[], str]:
        """Return a function that returns the absolute directory where relative paths start.

        Args:
            given: The requested directory; None for the default one.
        """

    def known(self, path: str, *, directory: str) -> Location:
        """Return where a path leads, without waiting; the result is uncertain if unknown.

        Raises:
            PathError: It is no usable path.
        """

    def is_on_host(self, location: Location) -> bool:
        """Return whether this host has the file at its path, where it can be restored."""

    def homes_of(self, location: Location) -> Sequence[Location]:
        """Return the location once for each home directory that sensitive paths can be in."""

    async def look_up(self, paths: Sequence[str], *, directory: str) -> None:
        """Look up where paths lead; ignore invalid paths."""

    async def look_up_rules(self, rules: Sequence[PermissionRule]) -> None:
        """Look up the directories in path rules."""

    def index(self, contents: Sequence[str], *, strict: bool) -> PathRuleIndex:
        """Compile patterns; see `PathRuleIndex`.

        Raises:
            PatternError: One of them cannot be compiled.
        """

    async def work(self, work: Callable[[Files, CancelCheck], ResultT]) -> ResultT:
        """Do blocking work in a thread, and wait for its end even if cancelled.

        Raises:
            asyncio.CancelledError: The call was cancelled; the work has ended.
        """


_NOT_A_FILE = {
    FileKind.DIRECTORY: "is a directory. Name a file; list a directory with Glob",
    FileKind.FIFO: "is a named pipe, not a regular file. Name a regular file",
    FileKind.SOCKET: "is a socket, not a regular file. Name a regular file",
    FileKind.DEVICE: "is a device, not a regular file. Name a regular file",
    FileKind.LOOP: "cannot be followed: its symlinks lead in a circle. Name the file itself",
    FileKind.UNREADABLE: "could not be reached a moment ago. Call again",
}

_TEXTS = {
    errno.ENOENT: "does not exist (or no longer does). Look for it with Glob",
    errno.EACCES: "cannot be used: permission denied. Use another path, or ask the user",
    errno.EPERM: "cannot be used: operation not permitted. Use another path, or ask the user",
    errno.ELOOP: "was replaced by a symlink in the meantime. Call again",
    errno.ENOTDIR: "cannot be reached: a part of the path is not a directory, or was replaced "
    "in the meantime. Check the path",
    errno.EISDIR: "is a directory. Name a file",
    errno.ENAMETOOLONG: "cannot be used: a name in it is too long. Use a shorter one",
    errno.EROFS: "cannot be written: its file system is read-only. Use another path",
    errno.ENOSPC: "cannot be written: the disk is full. Free some space, or ask the user",
    errno.EDQUOT: "cannot be written: the disk quota is used up. Free some space",
    errno.EAGAIN: "has nothing to read at the moment and is not waited for. Use another file",
    errno.ENXIO: "is not a regular file. Name a regular file",
    errno.ETXTBSY: "is a program that is running. Stop it first",
    errno.EEXIST: "was created by another program in the meantime. Read it first",
    errno.ESTALE: "changed in the meantime; nothing was overwritten. Read it again",
    errno.EBUSY: "is being written by another process. Call again later",
    errno.EFBIG: f"is larger than {MAX_WHOLE_BYTES // 1024**2} MB, the most that is taken as a "
    "whole. Use a program for large files through the shell",
}


def explain(error: OSError, shown: str) -> FileToolError:
    """Return the error for the model, with the system's message about the path `shown`."""
    number = error.errno or 0
    said = error.strerror or type(error).__name__
    text = _TEXTS.get(number) if not number or said == os.strerror(number) else None
    return FileToolError(f"{shown} {text or f'cannot be used: {said}'.rstrip('.')}.")


def require_file(files: Files, location: Location) -> None:
    """Refuse a path that is neither a regular file nor missing.

    Raises:
        FileToolError: It is a directory, FIFO, socket, device, symlink loop or broken symlink, or
            it cannot be reached.
    """
    shown = location.written
    if location.kind is FileKind.UNREADABLE:
        try:
            files.probe(location)
        except OSError as error:
            raise explain(error, shown) from None
    if problem := _NOT_A_FILE.get(location.kind):
        raise FileToolError(f"{shown} {problem}.")
    if location.kind is FileKind.MISSING and files.is_symlink(location.absolute):
        raise FileToolError(
            f"{shown} is a broken symlink: it leads to {location.resolved}, which does not exist. "
            "Name that file instead, or have the link removed."
        )


def read_whole(files: Files, location: Location) -> FileContent:
    """Return the content of a file of up to `MAX_WHOLE_BYTES`.

    Raises:
        FileToolError: It is not a regular file, is too large, or cannot be read.
    """
    require_file(files, location)
    try:
        with files.open(location) as file:
            return whole(file, location.written)
    except OSError as error:
        raise explain(error, location.written) from None


def whole(file: OpenFile, shown: str) -> FileContent:
    """Return the content of an open file.

    Raises:
        FileToolError: It is too large.
    """
    data = file.stream.read(MAX_WHOLE_BYTES + 1)
    if len(data) > MAX_WHOLE_BYTES:
        raise explain(OSError(errno.EFBIG, os.strerror(errno.EFBIG)), shown)
    return FileContent(data, file.status)
