"""Defines the protocol `CommandShell`, which `Shell` (host) and `SandboxShell` implement."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol, TypeAlias

from agentscope_like.message import ToolChunk
from agentscope_like.paths import SensitiveNames
from agentscope_like.permission import PathRuleIndex, PermissionRule
from agentscope_like.sandbox.isolation import Profile
from agentscope_like.shell import CommandAnalysis, KnownPrograms, PlainRead, Surroundings
from agentscope_like.tool.builtin.bash.environment import RepositoryKeys

if TYPE_CHECKING:
    from agentscope_like.sandbox.secret_wall import CoveredRun

__all__ = ["CommandShell", "ExtraEnvironment"]

ExtraEnvironment: TypeAlias = Callable[[dict[str, str], RepositoryKeys], dict[str, str]]
"""Returns additional variables for the environment of a command; may block."""


class CommandShell(Protocol):
    """Runs commands one after another, each in a new bash process."""

    def at(self, directory: str | None) -> CommandShell:
        """Return this shell for one session, whose next command starts in the directory.

        Args:
            directory: Absolute; None for the directory it was created for.
        """

    @property
    def directory(self) -> str:
        """Return the absolute directory that the next command starts in."""

    @property
    def home(self) -> str | None:
        """Return the directory that `~` means in commands, or None if unknown."""

    @property
    def work_tree(self) -> str | None:
        """Return the root of the git work tree that the next command starts in, if known."""

    @property
    def has_to_look_up(self) -> bool:
        """Return whether a decision must be prepared by `look_up`."""

    def surroundings(self, working: Sequence[str], sensitive: SensitiveNames) -> Surroundings:
        """Return the surroundings of the next command.

        Args:
            working: The working directories.
            sensitive: The names that are sensitive.
        """

    async def programs(self, analysis: CommandAnalysis, working: Sequence[str]) -> KnownPrograms:
        """Return where a command finds its programs if it runs without approval.

        Args:
            analysis: The command.
            working: The working directories.
        """

    def programs_of(self, line: PlainRead, working: Sequence[str]) -> KnownPrograms | None:
        """Return the same for a plain line; None where files may put a doubt on it.

        Args:
            line: The line.
            working: The working directories.
        """

    def git_aliases(
        self, analysis: CommandAnalysis, around: Surroundings
    ) -> Mapping[str, Sequence[str]] | None:
        """Return what git's aliases stand for, by their names; None where that is not known.

        Args:
            analysis: The command.
            around: Where it runs.
        """

    def checked(
        self,
        working: Sequence[str],
        analysis: CommandAnalysis,
        around: Callable[[], Surroundings],
    ) -> CommandAnalysis:
        """Return the analysis with a doubt for what the repositories that it reads would change.

        Args:
            working: The working directories.
            analysis: The command.
            around: Returns where it runs.
        """

    def index(self, contents: Sequence[str], *, strict: bool) -> PathRuleIndex:
        """Compile the patterns of rules of the file tools.

        Raises:
            PatternError: One of them cannot be compiled.
        """

    async def look_up(
        self, look: Callable[[], Awaitable[object]], rules: Sequence[PermissionRule]
    ) -> None:
        """Look up all files that a decision asks for.

        Args:
            look: Makes the decision, to collect the files it asks for.
            rules: The rules of the file tools that deny or ask.

        Raises:
            FileToolError: The lookup failed.
        """

    def run(
        self,
        command: str,
        *,
        timeout_ms: int,
        extra_environment: ExtraEnvironment | None = None,
        profile: Profile | None = None,
        covered: CoveredRun | None = None,
        in_background: bool = False,
        place: str = "",
    ) -> AsyncGenerator[ToolChunk, None]:
        """Run the command and yield its output as it arrives, then a last chunk with its status."""
