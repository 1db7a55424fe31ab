"""Implements `FileSystem` and `Files` for this host with the temporary files of a tool's calls.

A path keeps its name in `/tmp` for decisions, rules and messages. Symlinks are followed by these
names as well, so that one which leads out is a path of the host, and decided about as such.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import TypeVar

from msgspec.structs import replace
from typing_extensions import override

from agentscope_like.paths import FileSystemNames, Location, NameEntry, locate
from agentscope_like.tool.builtin.content_search import Query, SearchResult
from agentscope_like.tool.builtin.file_system.host_file_system import HostFiles, HostFileSystem
from agentscope_like.tool.builtin.file_system.protocol import Entry, FileContent, Files, OpenFile
from agentscope_like.tool.builtin.file_system.safe_open import ListedEntry, list_directory
from agentscope_like.tool.builtin.tool_results import CancelCheck, off_loop
from agentscope_like.tool.held_call import KeptFiles

__all__ = ["HostWithTemporaryFiles"]

ResultT = TypeVar("ResultT")


class HostWithTemporaryFiles(HostFileSystem):
    """This host, with the temporary files that the calls of a tool have to themselves.

    Args:
        temporary: These files.
    """

    def __init__(self, temporary: KeptFiles) -> None:
        self._temporary = temporary
        self._names = _Names(temporary)
        self._work = _Files(temporary, self._names)

    @property
    @override
    def names(self) -> FileSystemNames:
        return self._names

    @override
    def known(self, path: str, *, directory: str) -> Location:
        return locate(path, directory=directory, names=self._names)

    @override
    def is_on_host(self, location: Location) -> bool:
        return self._temporary.real_path(location.resolved) is None

    @override
    async def work(self, work: Callable[[Files, CancelCheck], ResultT]) -> ResultT:
        return await off_loop(lambda cancel_check: work(self._work, cancel_check))


class _Names:
    """The names of this host and of the temporary files; see `FileSystemNames`."""

    def __init__(self, temporary: KeptFiles) -> None:
        self._temporary = temporary

    def real(self, path: str) -> str:
        """Return where the file of a path is on the host."""
        return self._temporary.real_path(path) or path

    def lstat(self, path: str, /) -> os.stat_result:
        """Return the status of a name."""
        return os.lstat(self.real(path))

    def readlink(self, path: str, /) -> str:
        """Return the target of a symlink."""
        return os.readlink(self.real(path))

    def scandir(self, path: str, /) -> AbstractContextManager[Iterator[NameEntry]]:
        """Return the entries of a directory; those of `/tmp` are the host's."""
        return os.scandir(self.real(path))


class _Entry(ListedEntry, frozen=True):
    """An entry whose file is elsewhere on the host."""

    real: str

    @override
    def stat(self, *, follow_symlinks: bool) -> os.stat_result:
        return os.stat(self.real, follow_symlinks=follow_symlinks)


class _Files(HostFiles):
    """The files of this host and the temporary ones; see `Files`."""

    def __init__(self, temporary: KeptFiles, names: _Names) -> None:
        self._temporary = temporary
        self._names = names

    @override
    def locate(self, path: str, *, directory: str) -> Location:
        return locate(path, directory=directory, names=self._names)

    @override
    def probe(self, location: Location) -> None:
        os.stat(self._names.real(location.resolved))

    @override
    def is_symlink(self, path: str) -> bool:
        return os.path.islink(self._names.real(path))

    @contextlib.contextmanager
    @override
    def open(self, location: Location) -> Iterator[OpenFile]:
        with super().open(self._real(location)) as file:
            yield OpenFile(file.stream, replace(file.status, path=location.resolved))

    @override
    def create(self, location: Location, data: bytes, cancel_check: CancelCheck) -> FileContent:
        made = super().create(self._real(location), data, cancel_check)
        return FileContent(data, replace(made.status, path=location.resolved))

    @override
    def replace(
        self, location: Location, data: bytes, before: FileContent, cancel_check: CancelCheck
    ) -> FileContent:
        made = super().replace(self._real(location), data, before, cancel_check)
        return FileContent(data, replace(made.status, path=location.resolved))

    @override
    def list(self, directories: Sequence[str]) -> Iterator[Iterable[Entry] | None]:
        for directory in directories:
            own = set(self._temporary.names(directory))
            found = self._listed(directory, self._names.real(directory))
            if own:
                parent = os.path.dirname(self._names.real(f"{directory}/{min(own)}"))
                named = self._listed(directory, parent) or ()
                kept = [each for each in found or () if each.name not in own]
                found = [*kept, *(each for each in named if each.name in own)]
            yield found

    def _listed(self, directory: str, real: str) -> Sequence[ListedEntry] | None:
        """Return the entries of a directory; None if it cannot be listed.

        Args:
            directory: Its path.
            real: Where it is on the host.
        """
        try:
            found = list_directory(real)
        except OSError:
            return None
        if real == directory:
            return found
        base = directory.rstrip("/")
        return [_Entry(each.name, f"{base}/{each.name}", each.kind, each.path) for each in found]

    @override
    def search(
        self,
        query: Query,
        directory: str,
        relative: Sequence[str],
        cancel_check: CancelCheck,
        *,
        avoid: Sequence[str],
    ) -> SearchResult:
        base = directory.rstrip("/")
        own = {
            real.lstrip("/"): each
            for each in relative
            if (real := self._temporary.real_path(f"{base}/{each}")) is not None
        }
        if not own:
            return super().search(query, directory, relative, cancel_check, avoid=avoid)
        others = [each for each in relative if each not in set(own.values())]
        found = super().search(query, "/", sorted(own), cancel_check, avoid=avoid)
        for each in found.files:
            each.relative = own[each.relative]
        if others and not found.cut:
            rest = super().search(query, directory, others, cancel_check, avoid=avoid)
            found = SearchResult([*found.files, *rest.files], rest.cut)
        found.files.sort(key=lambda each: each.relative)
        return found

    def _real(self, location: Location) -> Location:
        """Return a location by where its file is on the host."""
        return replace(location, resolved=self._names.real(location.resolved))
