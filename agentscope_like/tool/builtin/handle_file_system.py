"""The files of a sandbox, through its handle only.

A decision cannot wait for a sandbox. So the names on the way to a path are looked up before, and a
path is then followed from what is known, by the same code as on this host; a name that nobody has
looked up makes it a path in doubt, which nothing is allowed of.
"""

from __future__ import annotations

import asyncio
import errno
import os
import posixpath
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from msgspec.structs import replace

from agentscope_like.exception import SandboxConnectionError, SandboxPathError
from agentscope_like.permission import PermissionRule
from agentscope_like.permission.errors import PathError, PatternError
from agentscope_like.permission.paths import Location, locate
from agentscope_like.permission.paths.location import MAX_SYMLINKS
from agentscope_like.permission.paths.patterns import PatternCompiler
from agentscope_like.sandbox.file_status import FileStatus
from agentscope_like.tool.builtin.answers import Checkpoint, off_loop
from agentscope_like.tool.builtin.files import Files, FileToolError
from agentscope_like.tool.builtin.handle_rules import HandlePathIndex, HandleRuleIndex

if TYPE_CHECKING:
    from agentscope_like.sandbox import SandboxHandle

__all__ = ["HandleFileSystem", "KnownNames"]

MOST_NAMES = 20_000
"""How many names are remembered; of more, those that were not looked up for longest are dropped."""

ResultT = TypeVar("ResultT")


class KnownNames:
    """The names of a sandbox, as far as they were looked up; see `Names`.

    Attributes:
        asked: The names that were asked for and are not known.
    """

    def __init__(self) -> None:
        self._known: dict[str, FileStatus] = {}
        self.asked: list[str] = []

    def lstat(self, path: str, /) -> FileStatus:
        """Return what is known of a name; what is not known, nobody may reach.

        Raises:
            OSError: It is not there, or nobody can say.
        """
        return self.status(path).required()

    def readlink(self, path: str, /) -> str:
        """Return what a symlink says.

        Raises:
            OSError: It is none, or nobody can say.
        """
        target = self.lstat(path).target
        if target is None:
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
        return target

    def status(self, path: str) -> FileStatus:
        """Return what is known of a name, even if that is nothing."""
        return self._known.get(path) or FileStatus(path, error=errno.EACCES)

    def learn(self, found: Sequence[FileStatus]) -> None:
        """Take what was looked up."""
        for status in found:
            self._known.pop(status.path, None)
            self._known[status.path] = status
        for path in list(self._known)[: max(0, len(self._known) - MOST_NAMES)]:
            del self._known[path]


class _Asking(KnownNames):
    """Names that take what is not known for missing, and note that it was asked for.

    So one walk along a path asks for all names on it, up to the first symlink that is not known.
    """

    def status(self, path: str) -> FileStatus:
        known = self._known.get(path)
        if known is None:
            self.asked.append(path)
            return FileStatus.missing(path)
        return known


class HandleFileSystem:
    """A sandbox; see `FileSystem`.

    Args:
        handle: The sandbox, which is ready before a call of the tool is decided upon.
    """

    def __init__(self, handle: SandboxHandle) -> None:
        self.handle = handle
        self._names = KnownNames()
        self._home: str | None = None
        self._homes: tuple[str, ...] = (os.path.expanduser("~"),)
        self._rules: frozenset[str] = frozenset()

    @property
    def has_to_look_up(self) -> bool:
        """Return that a sandbox has to be waited for."""
        return True

    @property
    def names(self) -> KnownNames:
        """Return the names that are known."""
        return self._names

    @property
    def home(self) -> str:
        """Return what `~` stands for in the sandbox; empty where no home is known."""
        return self._home or ""

    @property
    def homes(self) -> tuple[str, ...]:
        """Return every directory that could be meant by a person's home.

        Of a sandbox that has this host's home mounted, it may be that.
        """
        return self._homes

    def directory(self, given: str | None) -> Callable[[], str]:
        """Return what tells the directory that relative paths start at, once there is one."""

        def told() -> str:
            workspace = self.handle.workspace_path
            return posixpath.normpath(posixpath.join(workspace, given or ""))

        return told

    def known(self, path: str, *, directory: str) -> Location:
        """Return where a path leads, as far as that was looked up."""
        return self._located(path, directory, self._names)

    def homes_of(self, location: Location) -> Sequence[Location]:
        """Return the location as it reads for each home."""
        return [replace(location, home=home) for home in self.homes]

    async def look_up(self, paths: Sequence[str], *, directory: str) -> None:
        """Come to know where paths lead, all at once.

        Raises:
            FileToolError: The sandbox cannot be asked.
        """
        if self._home is None:
            self._home = await self._answered(self.handle.home_path)
        wanted = [(path, directory) for path in paths]
        wanted += [(place, "/") for place in (directory, self._home) if place]
        await self._follow(wanted)
        if self._home:
            real = self.known(self._home, directory="/").resolved
            self._homes = tuple(dict.fromkeys((self._home, real, *self._homes)))

    async def _follow(self, wanted: Sequence[tuple[str, str]]) -> None:
        """Ask for every name on the way to paths; each is one with its directory."""
        names = _Asking()
        for _ in range(MAX_SYMLINKS + 2):
            names.asked.clear()
            for path, start in wanted:
                try:
                    self._located(path, start, names)
                except PathError:
                    continue
            asked = list(dict.fromkeys(names.asked))
            if not asked:
                return
            found = await self._answered(partial(self.handle.stat_files, asked))
            names.learn(found)
            self._names.learn(found)

    async def look_up_rules(self, rules: Sequence[PermissionRule]) -> None:
        """Come to know the directories that rules name, once for each rule."""
        contents = frozenset(rule.rule_content for rule in rules if rule.rule_content)
        if contents == self._rules:
            return
        named: list[str] = []

        def note(base: str) -> str:
            named.append(base)
            return base

        for home in self.homes:
            compiler = PatternCompiler(home=home, aliases=True, real=note)
            for content in contents:
                try:
                    compiler.compile(content)
                except PatternError:
                    continue
        await self.look_up([base for base in dict.fromkeys(named) if base], directory="/")
        self._rules = contents

    def real(self, directory: str) -> str:
        """Return a directory that a rule names, with its symlinks followed in the sandbox."""
        if not directory:
            return ""
        try:
            location = self.known(directory, directory="/")
        except PathError:
            return directory
        return location.resolved.rstrip("/") if location.certain else directory

    def index(self, contents: Sequence[str], *, strict: bool) -> HandlePathIndex:
        """Compile patterns."""
        return HandlePathIndex(self, contents, strict=strict)

    def rules(self, rules: Sequence[PermissionRule]) -> HandleRuleIndex:
        """Compile rules about files."""
        return HandleRuleIndex(self, rules)

    async def work(self, work: Callable[[Files, Checkpoint], ResultT]) -> ResultT:
        """Do blocking work in a thread."""
        from agentscope_like.tool.builtin.handle_files import HandleFiles

        loop = asyncio.get_running_loop()

        def do(checkpoint: Checkpoint) -> ResultT:
            return work(HandleFiles(self, loop, checkpoint), checkpoint)

        return await off_loop(do)

    def _located(self, path: str, directory: str, names: KnownNames) -> Location:
        user = path.partition("/")[0]
        if user.startswith("~") and user != "~":
            raise PathError(f"{path!r}: whose home `{user}` is, is not known here: write it out")
        return locate(path, directory=directory, home=self.home, names=names)

    async def _answered(self, ask: Callable[[], Awaitable[ResultT]]) -> ResultT:
        try:
            return await ask()
        except (SandboxPathError, SandboxConnectionError) as error:
            raise FileToolError(error.message) from error
        except OSError as error:
            raise FileToolError(
                f"The sandbox could not be asked about its files: {error.strerror or error}."
            ) from error
