"""Implements `Files` for a sandbox, for one call that runs in a thread."""

from __future__ import annotations

import asyncio
import contextlib
import io
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from typing import Protocol, TypeVar

from msgspec.structs import replace

from agentscope_like.exception import SandboxConnectionError, SandboxPathError
from agentscope_like.paths import Location
from agentscope_like.sandbox import SandboxHandle
from agentscope_like.sandbox.files import FileStatus
from agentscope_like.tool.builtin.content_search import Query, SearchResult, search_there
from agentscope_like.tool.builtin.file_errors import FileToolError
from agentscope_like.tool.builtin.file_system.known_names import KnownEntry, KnownNames
from agentscope_like.tool.builtin.file_system.protocol import Entry, FileContent, OpenFile
from agentscope_like.tool.builtin.tool_results import CancelCheck
from agentscope_like.tool.builtin.waiter import Waiter

__all__ = ["NameLookup", "SandboxFiles"]

_LISTED_AT_ONCE = 500

ResultT = TypeVar("ResultT")


class NameLookup(Protocol):
    """What `SandboxFiles` needs of `SandboxFileSystem`."""

    @property
    def handle(self) -> SandboxHandle:
        """Return the sandbox."""

    @property
    def names(self) -> KnownNames:
        """Return the names that are known."""

    def known(self, path: str, *, directory: str) -> Location:
        """Return where a path leads, as far as it was looked up."""

    async def look_up(self, paths: Sequence[str], *, directory: str) -> None:
        """Look up where paths lead, all at once."""


class SandboxFiles:
    """The files of a sandbox, for one call; see `Files`.

    Args:
        system: The sandbox.
        loop: Where it is asked.
        cancel_check: Called several times a second; what it raises ends what is being waited for.
    """

    def __init__(
        self, system: NameLookup, loop: asyncio.AbstractEventLoop, cancel_check: CancelCheck
    ) -> None:
        self._system = system
        self._handle = system.handle
        self._waiter = Waiter(loop, cancel_check)

    def locate(self, path: str, *, directory: str) -> Location:
        """Return where a path leads now."""
        self._wait(lambda: self._system.look_up([path], directory=directory))
        return self._system.known(path, directory=directory)

    def probe(self, location: Location) -> None:
        """Raise the sandbox's error if a path cannot be reached."""
        for reading in location.readings:
            names = reading.split("/")
            for depth in range(2, len(names) + 1):
                self._system.names.lstat("/".join(names[:depth]))

    def is_symlink(self, path: str) -> bool:
        """Return whether a name is a symlink."""
        return self._system.names.status(path).is_link

    @contextlib.contextmanager
    def open(self, location: Location) -> Iterator[OpenFile]:
        """Read a regular file, if it is the one that was decided."""
        status = self._system.names.lstat(location.resolved)
        if location.identity is not None:
            device, inode = location.identity
            status = replace(status, st_dev=device, st_ino=inode)
        data = self._wait(lambda: self._handle.read_known_file(status))
        yield OpenFile(io.BytesIO(data), replace(status, st_size=len(data)))

    def create(self, location: Location, data: bytes, cancel_check: CancelCheck) -> FileContent:
        """Create a file and its missing directories."""
        cancel_check()
        made = self._wait(lambda: self._handle.create_file(location.resolved, data))
        return FileContent(data, made)

    def replace(
        self, location: Location, data: bytes, before: FileContent, cancel_check: CancelCheck
    ) -> FileContent:
        """Atomically replace a file by `data`."""
        del location
        cancel_check()
        now = self._wait(
            lambda: self._handle.replace_known_file(before.status, before.digest, data)
        )
        return FileContent(data, now)

    def list(self, directories: Sequence[str]) -> Iterator[Iterable[Entry] | None]:
        """Yield the entries of each directory, of many directories at once."""
        for start in range(0, len(directories), _LISTED_AT_ONCE):
            part = directories[start : start + _LISTED_AT_ONCE]
            for entries in self._listed(part):
                if entries is None:
                    yield None
                else:
                    yield [KnownEntry.entry(each) for each in entries]

    def search(
        self,
        query: Query,
        directory: str,
        relative: Sequence[str],
        cancel_check: CancelCheck,
        *,
        avoid: Sequence[str],
    ) -> SearchResult:
        """Search files in the sandbox if possible, else on this host."""
        del avoid
        return search_there(
            query, directory, relative, cancel_check, handle=self._handle, wait=self._wait
        )

    def _listed(self, directories: Sequence[str]) -> Sequence[Sequence[FileStatus] | None]:
        try:
            return self._wait(lambda: self._handle.scan_dirs(directories))
        except OSError as error:
            raise FileToolError(
                f"The directories cannot be listed: {error.strerror or error}. Narrow the search "
                "with `path`."
            ) from None

    def _wait(self, ask: Callable[[], Awaitable[ResultT]]) -> ResultT:
        try:
            return self._waiter(ask)
        except (SandboxPathError, SandboxConnectionError) as error:
            raise FileToolError(error.message) from error
