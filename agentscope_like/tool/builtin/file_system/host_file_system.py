"""Implements `FileSystem` and `Files` for this host."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Final, TypeVar

from agentscope_like.paths import FileSystemNames, Location, locate
from agentscope_like.permission import PathRuleIndex, PermissionRule
from agentscope_like.sandbox.files import FileStatus, create_whole_file, replace_whole_file
from agentscope_like.tool.builtin.file_system.protocol import Entry, FileContent, Files, OpenFile
from agentscope_like.tool.builtin.file_system.safe_open import (
    list_directory,
    open_each,
    open_parent,
    open_regular,
)
from agentscope_like.tool.builtin.tool_results import CancelCheck, off_loop

if TYPE_CHECKING:
    from agentscope_like.tool.builtin.content_search import Query, SearchResult

__all__ = ["HOST", "HOST_FILES", "HostFileSystem", "HostFiles"]

ResultT = TypeVar("ResultT")


class HostFiles:
    """The files of this host; see `Files`."""

    def locate(self, path: str, *, directory: str) -> Location:
        """Return where a path leads now."""
        return locate(path, directory=directory)

    def probe(self, location: Location) -> None:
        """Raise the system's error if a path cannot be reached."""
        os.stat(location.absolute)

    def is_symlink(self, path: str) -> bool:
        """Return whether a name is a symlink."""
        return os.path.islink(path)

    @contextlib.contextmanager
    def open(self, location: Location) -> Iterator[OpenFile]:
        """Open a regular file for reading."""
        with open_regular(location.resolved) as file:
            yield OpenFile(file, FileStatus.of(location.resolved, os.fstat(file.fileno())))

    def create(self, location: Location, data: bytes, cancel_check: CancelCheck) -> FileContent:
        """Create a file and its missing directories, which are removed on failure."""
        made: list[str] = []
        try:
            with open_parent(location.resolved, made=made) as (directory, name):
                status = create_whole_file(name, directory, data, cancel_check=cancel_check)
        except BaseException:
            for path in reversed(made):
                with contextlib.suppress(OSError):
                    os.rmdir(path)
            raise
        return FileContent(data, FileStatus.of(location.resolved, status))

    def replace(
        self, location: Location, data: bytes, before: FileContent, cancel_check: CancelCheck
    ) -> FileContent:
        """Atomically replace a file by `data`."""
        with open_parent(location.resolved) as (directory, name):
            status = replace_whole_file(
                name,
                directory,
                data,
                identity=before.status.identity,
                digest=before.digest,
                cancel_check=cancel_check,
            )
        return FileContent(data, FileStatus.of(location.resolved, status))

    def list(self, directories: Sequence[str]) -> Iterator[Iterable[Entry] | None]:
        """Yield the entries of each directory."""
        for path in directories:
            try:
                found = list_directory(path)
            except OSError:
                yield None
            else:
                yield found

    def search(
        self,
        query: Query,
        directory: str,
        relative: Sequence[str],
        cancel_check: CancelCheck,
        *,
        avoid: Sequence[str],
    ) -> SearchResult:
        """Search files, with ripgrep if it is installed."""
        from agentscope_like.tool.builtin.content_search import (  # only Grep needs it
            find_ripgrep,
            search,
        )

        return search(
            query,
            open_each(directory, relative),
            cancel_check,
            ripgrep=find_ripgrep(*avoid),
        )


class HostFileSystem:
    """This host; see `FileSystem`."""

    @property
    def has_to_look_up(self) -> bool:
        """Return False: this host can be asked at any time."""
        return False

    @property
    def names(self) -> FileSystemNames:
        """Return this host's names."""
        return os

    def directory(self, given: str | None) -> Callable[[], str]:
        """Return a function for the directory where relative paths start, always the same one."""
        directory = os.path.abspath(os.getcwd() if given is None else given)
        return lambda: directory

    def known(self, path: str, *, directory: str) -> Location:
        """Return where a path leads."""
        return locate(path, directory=directory)

    def is_on_host(self, location: Location) -> bool:
        """Return True: there are no others."""
        del location
        return True

    def homes_of(self, location: Location) -> Sequence[Location]:
        """Return the location; there is one home."""
        return (location,)

    async def look_up(self, paths: Sequence[str], *, directory: str) -> None:
        """Do nothing: this host needs no lookup in advance."""

    async def look_up_rules(self, rules: Sequence[PermissionRule]) -> None:
        """Do nothing: this host needs no lookup in advance."""

    def index(self, contents: Sequence[str], *, strict: bool) -> PathRuleIndex:
        """Compile patterns."""
        return PathRuleIndex(contents, strict=strict)

    async def work(self, work: Callable[[Files, CancelCheck], ResultT]) -> ResultT:
        """Do blocking work in a thread."""
        return await off_loop(lambda cancel_check: work(HOST_FILES, cancel_check))


HOST_FILES: Final = HostFiles()
HOST: Final = HostFileSystem()
