"""Implements `FileSystem` for a sandbox; looks up its names through the handle.

The names on the way to a path are looked up before a decision, and the path is then resolved from
the cache, by the same code as on this host.
"""

from __future__ import annotations

import asyncio
import os
import posixpath
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from msgspec.structs import replace

from agentscope_like.exception import SandboxConnectionError, SandboxPathError
from agentscope_like.paths import (
    MAX_SYMLINKS,
    Location,
    PathError,
    PatternCompiler,
    PatternError,
    locate,
)
from agentscope_like.permission import PermissionRule
from agentscope_like.sandbox.files import CommandNames
from agentscope_like.tool.builtin.file_errors import FileToolError
from agentscope_like.tool.builtin.file_system.known_names import KnownNames
from agentscope_like.tool.builtin.file_system.protocol import Files
from agentscope_like.tool.builtin.file_system.sandbox_rules import (
    SandboxPathIndex,
)
from agentscope_like.tool.builtin.tool_results import CancelCheck, off_loop

if TYPE_CHECKING:
    from agentscope_like.sandbox import SandboxHandle

__all__ = ["SandboxFileSystem"]

MOST_LOOKS = MAX_SYMLINKS + 2
"""The maximum number of lookups for a path; each symlink takes one."""

ResultT = TypeVar("ResultT")


class SandboxFileSystem:
    """A sandbox; see `FileSystem`.

    Args:
        handle: The sandbox, which is ready before a call of the tool is decided upon.
        as_commands: Whether it is for decisions about commands: names are those that commands see,
            even if the file methods of the sandbox do not reach them, and a name that was not
            looked up ends a decision.
    """

    def __init__(self, handle: SandboxHandle, *, as_commands: bool = False) -> None:
        self.handle = handle
        names = CommandNames(handle)
        self._ask = names.status if as_commands else handle.stat_files
        self._list = names.entries if as_commands else handle.scan_dirs
        self._names = KnownNames(insist=as_commands)
        self._home: str | None = None
        self._homes: tuple[str, ...] = (os.path.expanduser("~"),)
        self._rules: frozenset[str] = frozenset()

    @property
    def has_to_look_up(self) -> bool:
        """Return True: a sandbox must be waited for."""
        return True

    @property
    def names(self) -> KnownNames:
        """Return the names that are known."""
        return self._names

    @property
    def home(self) -> str:
        """Return the directory that `~` means in the sandbox; empty if unknown."""
        return self._home or ""

    @property
    def homes(self) -> tuple[str, ...]:
        """Return every directory that may be the user's home, also this host's if it is mounted."""
        return self._homes

    def directory(self, given: str | None) -> Callable[[], str]:
        """Return a function for the directory where relative paths start, once it is known."""

        def told() -> str:
            workspace = self.handle.workspace_path
            return posixpath.normpath(posixpath.join(workspace, given or ""))

        return told

    def known(self, path: str, *, directory: str) -> Location:
        """Return where a path leads, as far as it was looked up."""
        user = path.partition("/")[0]
        if user.startswith("~") and user != "~":
            raise PathError(f"{path!r}: whose home `{user}` is, is not known here: write it out")
        return locate(path, directory=directory, home=self.home, names=self._names)

    def is_on_host(self, location: Location) -> bool:
        """Return False: the sandbox has all files."""
        del location
        return False

    def homes_of(self, location: Location) -> Sequence[Location]:
        """Return the location once for each home directory."""
        return [replace(location, home=home) for home in self.homes]

    async def look_up(self, paths: Sequence[str], *, directory: str) -> None:
        """Look up where paths lead, all at once.

        Raises:
            FileToolError: The sandbox cannot be asked.
        """
        if self._home is None:
            self._home = await self._answered(self.handle.home_path)
        wanted = [(path, directory) for path in paths]
        wanted += [(place, "/") for place in (directory, self._home) if place]

        async def look() -> None:
            for path, start in wanted:
                with suppress(PathError):
                    self.known(path, directory=start)

        await self.look_up_all(look)
        if self._home:
            real = self.known(self._home, directory="/").resolved
            self._homes = tuple(dict.fromkeys((self._home, real, *self._homes)))

    async def look_up_all(
        self, look: Callable[[], Awaitable[None]], *, most: int = MOST_LOOKS
    ) -> bool:
        """Look up all names that a decision asks for; return whether none is left.

        Raises:
            FileToolError: The sandbox cannot be asked.
        """
        return await self._names.look_up(
            look,
            ask=lambda names: self._answered(partial(self._ask, names)),
            list_=lambda directories: self._answered(partial(self._list, directories)),
            most=most,
        )

    async def look_up_rules(self, rules: Sequence[PermissionRule]) -> None:
        """Look up the directories that rules name, once for each rule."""
        contents = frozenset(rule.rule_content for rule in rules if rule.rule_content)
        if contents == self._rules:
            return
        named: list[str] = []

        def note(base: str) -> str:
            named.append(base)
            return base

        for home in self.homes:
            compiler = PatternCompiler(home=home, real=note)
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
            # what is compiled with it is kept
            location = self._names.from_known(lambda: self.known(directory, directory="/"))
        except PathError:
            return directory
        return location.resolved.rstrip("/") if location.certain else directory

    def index(self, contents: Sequence[str], *, strict: bool) -> SandboxPathIndex:
        """Compile patterns."""
        return SandboxPathIndex(self, contents, strict=strict)

    async def work(self, work: Callable[[Files, CancelCheck], ResultT]) -> ResultT:
        """Do blocking work in a thread."""
        from agentscope_like.tool.builtin.file_system.sandbox_files import SandboxFiles

        loop = asyncio.get_running_loop()

        def do(cancel_check: CancelCheck) -> ResultT:
            return work(SandboxFiles(self, loop, cancel_check), cancel_check)

        return await off_loop(do)

    async def _answered(self, ask: Callable[[], Awaitable[ResultT]]) -> ResultT:
        try:
            return await ask()
        except (SandboxPathError, SandboxConnectionError) as error:
            raise FileToolError(error.message) from error
        except OSError as error:
            raise FileToolError(
                f"The sandbox could not be asked about its files: {error.strerror or error}."
            ) from error
