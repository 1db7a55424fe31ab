"""Defines the base class of tools whose calls are about one path."""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace
from typing_extensions import override

from agentscope_like.exception import ConfigurationError
from agentscope_like.lazy_property import lazy_property
from agentscope_like.middleware import ToolMiddlewareBase
from agentscope_like.paths import (
    FileKind,
    Location,
    PathError,
    PatternCompiler,
    around_by_text,
    escape,
    inside_any,
    is_below,
    read_objection,
    suggest_pattern,
)
from agentscope_like.permission import (
    ContentMatcher,
    PathRuleIndex,
    PatternError,
    PermissionBehavior,
    PermissionContext,
    PermissionDecision,
    PermissionRule,
    PreparedCall,
    RuleError,
    never_waits,
    private_denial,
)
from agentscope_like.tool.base import ToolBase
from agentscope_like.tool.builtin.file_errors import FileToolError
from agentscope_like.tool.builtin.file_system.host_file_system import HOST
from agentscope_like.tool.builtin.file_system.protocol import Files, FileSystem

if TYPE_CHECKING:
    from agentscope_like.sandbox import SandboxHandle
    from agentscope_like.tool.held_call import KeptFiles

__all__ = ["PathTool", "PreparedPath", "sentence"]


class PathTool(ToolBase):
    """A tool whose calls are about one path each.

    Rules are path patterns (`src/**`), relative to each working directory; if the context names
    none, the tool's own directory is the only one.

    Args:
        cwd: The base of relative paths; by default the process's at
            construction, or the sandbox's workspace.
        middlewares: Layers around `call`.
        backend: The sandbox where the files are; by default they are on this host. Decisions are
            then about the sandbox's files, and so are rules and working directories.

    Attributes:
        seen_files: Files that another tool keeps; None without such a tool.
    """

    is_basis_injected = True

    def __init__(
        self,
        *,
        cwd: str | os.PathLike[str] | None = None,
        middlewares: Sequence[ToolMiddlewareBase] | None = None,
        backend: SandboxHandle | None = None,
    ) -> None:
        super().__init__(middlewares)
        self.backend = backend
        self.seen_files: KeptFiles | None = None
        self._files: FileSystem = HOST if backend is None else _file_system(backend)
        self._directory = self._files.directory(None if cwd is None else os.fspath(cwd))
        if self._files.has_to_look_up:
            self.prepare_decision = self._prepare

    @override
    def see_kept_files(self, files: KeptFiles) -> None:
        """Let calls find in `/tmp` what another tool left there, and deny what it hides."""
        if self.backend is None:
            from agentscope_like.tool.builtin.file_system.temporary_files import (  # few see any
                HostWithTemporaryFiles,
            )

            self.seen_files = files
            self._files = HostWithTemporaryFiles(files)

    @property
    def private_places(self) -> Sequence[str]:
        """Return the paths at which another tool keeps what no model may see."""
        return () if self.seen_files is None else self.seen_files.private

    @abstractmethod
    def judge(
        self, location: Location | PathError, context: PermissionContext
    ) -> PermissionDecision:
        """Return the tool's own opinion of a call about the location; DENY for an error."""

    def is_harmless(self, location: Location | PathError) -> bool:
        """Return whether a call about the location is proven to change nothing."""
        del location
        return False

    @override
    async def check_permissions(
        self, tool_input: dict[str, Any], context: PermissionContext
    ) -> PermissionDecision:
        """Return the tool's own opinion of where the call's path leads; see `judge`."""
        return self.opinion(PreparedPath(self, tool_input, context).location, context)

    def opinion(
        self, location: Location | PathError, context: PermissionContext
    ) -> PermissionDecision:
        """Return DENY for what a tool of the toolkit keeps from models, else what `judge` says."""
        if self.private_places and not isinstance(location, PathError):
            for reading in location.readings:
                if any(is_below(reading, each) for each in self.private_places):
                    return private_denial(reading)
        return self.judge(location, context)

    @override
    async def check_read_only(self, tool_input: dict[str, Any]) -> bool:
        """Return whether the call is proven to change nothing."""
        return self.is_harmless(PreparedPath(self, tool_input, PermissionContext()).location)

    @property
    def cwd(self) -> str:
        """Return the absolute directory that is the base of relative paths."""
        return self._directory()

    async def prepare_call(
        self, tool_input: dict[str, Any], context: PermissionContext, session: object = None
    ) -> PreparedPath:
        """Return the call, prepared for one decision."""
        call = PreparedPath(self, tool_input, context, owner=PathTool)
        call.outputs = _outputs_of(session)
        return call

    async def _prepare(
        self, tool_input: dict[str, Any], context: PermissionContext, session: object
    ) -> None:
        """Look up the paths that a decision needs."""
        del session
        paths = (self.path_of(tool_input), *context.directories)
        await self._files.look_up(paths, directory=self.cwd)
        names = (self.name, *getattr(self, "related_tools", ()))
        tables = (context.table(PermissionBehavior.DENY), context.table(PermissionBehavior.ASK))
        rules = [rule for table in tables for name in names for rule in table.get(name, ())]
        await self._files.look_up_rules(rules)

    def path_of(self, tool_input: Mapping[str, Any]) -> str:
        """Return the path in the arguments of a call; `file_path` by default."""
        return str(tool_input["file_path"])

    def locate(self, tool_input: Mapping[str, Any]) -> Location:
        """Return the location of the call's path.

        Raises:
            PathError: The path is invalid.
        """
        return self._files.known(self.path_of(tool_input), directory=self.cwd)

    def located(self, files: Files, tool_input: Mapping[str, Any], decided: str | None) -> Location:
        """Return the location of the call's path when it runs.

        Args:
            files: The files of the host or sandbox.
            tool_input: The call's arguments.
            decided: Where it led when the call was decided; None without a decision.

        Raises:
            FileToolError: The path is invalid, or leads elsewhere now.
        """
        try:
            location = files.locate(self.path_of(tool_input), directory=self.cwd)
        except PathError as error:
            raise FileToolError(sentence(error)) from None
        if decided is not None and location.resolved != decided:
            raise FileToolError(
                f"{location.written} no longer leads where it did when the call was decided, but "
                f"to {location.resolved}. Call again."
            )
        return location

    def working_directories(self, context: PermissionContext) -> tuple[Location, ...]:
        """Return the working directories, or the tool's own directory if there are none."""
        located = [self._files.known(path, directory=self.cwd) for path in context.directories]
        return tuple(located) or self._own_directory()

    def directories_for(self, location: Location, context: PermissionContext) -> Sequence[Location]:
        """Return the working directories that may contain the location."""
        if near := around_by_text(location, context.directories, directory=self.cwd):
            located = [self._files.known(path, directory=self.cwd) for path in near]
            if inside_any(location, located):
                return located
        return self.working_directories(context)

    def _own_directory(self) -> tuple[Location, ...]:
        return (self._files.known(self.cwd, directory="/"),)

    def read_objection(self, location: Location) -> str | None:
        """Return why a person must approve reading the location or searching below it, or None.

        A directory counts only if it is inside a secret one: secret files below it are left out of
        a search.
        """
        if location.kind is FileKind.DIRECTORY:
            location = replace(location, kind=FileKind.FILE)
        return next(filter(None, map(read_objection, self._files.homes_of(location))), None)

    def shown(self, path: str) -> str:
        """Return a resolved path for display: relative if it is below `cwd`."""
        shown = _below(self.cwd, path)
        return shown or _below(self._own_directory()[0].resolved, path) or path

    @override
    async def match_rule(self, rule_content: str | None, tool_input: dict[str, Any]) -> bool:
        """Return whether every reading of the call's path matches the pattern, exactly."""
        if rule_content is None:
            return True
        try:
            location = self.locate(tool_input)
        except PathError:
            return False
        index = self._files.index((rule_content,), strict=True)
        return index.match(location, self._own_directory()) is not None

    @override
    def validate_rule(self, rule_content: str) -> None:
        """Refuse patterns that cannot be compiled.

        Raises:
            ConfigurationError: Says what is wrong with the pattern.
        """
        try:
            PatternCompiler(real=str).compile(rule_content)
        except PatternError as error:
            raise ConfigurationError(f"rule {self.name}({rule_content}): {error}") from None

    def compile_rules(
        self, contents: Sequence[str], behavior: PermissionBehavior
    ) -> ContentMatcher:
        """Return a matcher for the patterns of rules that say `behavior`.

        To allow, every reading of a path must match; to deny or ask, one is enough.

        Raises:
            RuleError: One of the patterns cannot be compiled.
        """
        patterns = partial(self._files.index, strict=behavior is PermissionBehavior.ALLOW)
        try:
            index = patterns(contents)
        except PatternError as error:
            raise RuleError(f"{behavior.value} rule for {self.name}: {error}") from None
        return _PathRules(patterns, {0: index}, len(contents))

    @override
    @never_waits
    async def generate_suggestions(self, tool_input: dict[str, Any]) -> list[PermissionRule]:
        """Return a rule for the directory of the path, or for the path alone (seed 002)."""
        pattern = self._pattern(tool_input)
        return [] if pattern is None else [self._allowing(pattern)]

    def spared_by(self, call: PreparedPath) -> list[PermissionRule]:
        """Return rules for the call in the directories of its policy.

        A tool that only reads also offers one for all of the working directories, so that reading
        file after file needs one answer.
        """
        location = call.location
        pattern = None if isinstance(location, PathError) else self._pattern(call.tool_input)
        if pattern is None or isinstance(location, PathError):
            return []
        own = self._own_directory()[0].resolved
        if not pattern.startswith("/") and all(own != each.resolved for each in call.directories):
            pattern = f"{escape(self.cwd.rstrip('/'))}/{pattern}"  # others begin elsewhere
        wider = ["**"] if self.is_read_only and inside_any(location, call.directories) else []
        return [self._allowing(each) for each in dict.fromkeys((pattern, *wider))]

    @never_waits
    async def fallback_suggestions(self, tool_input: dict[str, Any]) -> list[PermissionRule]:
        """Return the same rule by its absolute path.

        It works for a tool whose directory is outside of the working directories, where relative
        patterns start.
        """
        pattern = self._pattern(tool_input)
        if pattern is None or pattern.startswith("/"):
            return []
        return [self._allowing(f"{escape(self.cwd.rstrip('/'))}/{pattern}")]

    def _pattern(self, tool_input: Mapping[str, Any]) -> str | None:
        try:
            location = self.locate(tool_input)
        except PathError:
            return None
        return suggest_pattern(location, self._own_directory(), names=self._files.names)

    @override
    def decision_basis(self, tool_input: dict[str, Any]) -> str | None:
        """Return the resolved path, so that a grant ends if a symlink was swapped."""
        try:
            return self.locate(tool_input).resolved
        except PathError:
            return None

    def _allowing(self, pattern: str) -> PermissionRule:
        return PermissionRule(
            tool_name=self.name,
            rule_content=pattern,
            behavior=PermissionBehavior.ALLOW,
            source="suggestion",
        )


def _outputs_of(session: object) -> frozenset[str]:
    """Return the files that a session's results name as whole outputs."""
    tools = getattr(session, "tool_context", None)
    return frozenset(getattr(tools, "outputs", ()))


class PreparedPath(PreparedCall):
    """A call about one path, which is located once: rules, check, proof and grant speak of it."""

    tool: PathTool
    outputs: frozenset[str] = frozenset()

    @override
    async def check(self) -> PermissionDecision:
        """Return the tool's own opinion of the path."""
        if not self.stands_for("check_permissions"):
            return await super().check()
        location = self.location
        decision = self.tool.opinion(location, self.context)
        if (
            self.tool.is_read_only
            and decision.behavior is PermissionBehavior.PASSTHROUGH
            and not isinstance(location, PathError)
            and location.kind is FileKind.FILE
            and location.resolved in self.outputs
        ):
            message = "It is the output of a command of this session."
            return PermissionDecision(PermissionBehavior.ALLOW, message)
        return decision

    @override
    async def only_reads(self) -> bool:
        """Return whether reading the path is proven to change nothing."""
        if not self.stands_for("check_read_only"):
            return await super().only_reads()
        return self.tool.is_harmless(self.location)

    @override
    async def suggestions(self) -> list[PermissionRule]:
        """Return rules that would spare the question about the path."""
        if not self.stands_for("generate_suggestions"):
            return await super().suggestions()
        return self.tool.spared_by(self)

    @override
    def basis(self, *, now: bool = False) -> str | None:
        """Return where the path led, or where it leads now."""
        if now or not self.stands_for("decision_basis"):
            return super().basis(now=now)
        return None if isinstance(self.location, PathError) else self.location.resolved

    @lazy_property
    def location(self) -> Location | PathError:
        """Where the path leads; the error if the path is invalid."""
        try:
            return self.tool.locate(self.tool_input)
        except PathError as error:
            return error

    @lazy_property
    def directories(self) -> tuple[Location, ...]:
        """The working directories, or the tool's own if there are none."""
        return self.tool.working_directories(self.context)


class _PathRules:
    """The patterns of one tool's rules, with the engine's interface.

    Args:
        compile: Compiles patterns.
        indexes: The compiled patterns, each by the position of its first one.
        length: The number of patterns.
    """

    __slots__ = ("_compile", "_indexes", "_length")

    def __init__(
        self,
        compile: Callable[[Sequence[str]], PathRuleIndex],  # noqa: A002 - what it does
        indexes: Mapping[int, PathRuleIndex],
        length: int,
    ) -> None:
        self._compile = compile
        self._indexes = indexes
        self._length = length

    def match(self, call: PreparedPath) -> int | None:
        """Return the position of a pattern that matches, or None.

        An invalid path matches nothing: the tool's own check denies it.
        """
        location = call.location
        if isinstance(location, PathError):
            return None
        for first, index in self._indexes.items():
            position = index.match(location, call.directories)
            if position is not None:
                return first + position
        return None

    def extended(self, content: str) -> _PathRules:
        """Return a matcher for these patterns and one more."""
        indexes = {**self._indexes, self._length: self._compile((content,))}
        return _PathRules(self._compile, indexes, self._length + 1)


def _below(base: str, path: str) -> str | None:
    """Return a path relative to a directory, or None if it is not below it."""
    start = base.rstrip("/") + "/"
    return path[len(start) :] if path.startswith(start) else None


def _file_system(backend: SandboxHandle) -> FileSystem:
    from agentscope_like.tool.builtin.file_system.sandbox_file_system import (
        SandboxFileSystem,  # most need none
    )

    return SandboxFileSystem(backend)


def sentence(error: PathError) -> str:
    """Return the error about a path as a sentence."""
    text = str(error).rstrip(".")
    return f"{text[:1].upper()}{text[1:]}."
