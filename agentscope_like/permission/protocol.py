"""The protocols by which the permission engine knows a tool."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Protocol, TypeAlias, TypeVar, runtime_checkable

from msgspec import Struct

from agentscope_like.permission.context import PermissionContext
from agentscope_like.permission.decision import PermissionDecision
from agentscope_like.permission.mode import PermissionBehavior
from agentscope_like.permission.rule import PermissionRule

__all__ = [
    "ContentMatcher",
    "FallbackSuggester",
    "GrowingMatcher",
    "PermissionTool",
    "Preparation",
    "RelatedMatcher",
    "RelatedRuleCompiler",
    "RuleCompiler",
    "RuleMatch",
    "RuleSharer",
    "RuleValidator",
    "never_waits",
    "rule_names",
]


Preparation: TypeAlias = Callable[[dict[str, Any], PermissionContext, object], Awaitable[None]]
"""A tool's `prepare_decision`, where it has one: looks up, for a call of these arguments in this
session, what its other methods are going to be asked about, and what can only be waited for."""


_MethodT = TypeVar("_MethodT", bound=Callable[..., Awaitable[Any]])


def never_waits(method: _MethodT) -> _MethodT:
    """Mark a method that awaits nothing, so that it may run later, when its result is needed."""
    method.never_waits = True  # type: ignore[attr-defined]
    return method


class RuleMatch(Struct, frozen=True):
    """A rule that matches a call, or that may.

    Attributes:
        rule: The rule.
        certain: Whether it matches; False if that is only known at run time.
        told: What in the call it matches, a sentence without its full stop; None for the whole
            call.
    """

    rule: PermissionRule
    certain: bool = True
    told: str | None = None


class PermissionTool(Protocol):
    """What the engine needs of a tool (seed 002, "ToolBase Interface")."""

    @property
    def name(self) -> str:
        """The tool's name in rules."""

    async def check_permissions(
        self, tool_input: dict[str, Any], context: PermissionContext
    ) -> PermissionDecision:
        """Return the tool's own opinion of the call."""

    async def check_read_only(self, tool_input: dict[str, Any]) -> bool:
        """Return whether the call is proven to change nothing."""

    async def match_rule(self, rule_content: str | None, tool_input: dict[str, Any]) -> bool:
        """Return whether a rule of this content matches the call."""

    async def generate_suggestions(self, tool_input: dict[str, Any]) -> list[PermissionRule]:
        """Return rules that would allow such calls from now on."""


class ContentMatcher(Protocol):
    """The contents of many rules, compiled so that matching time does not grow with them."""

    def match(self, call: Any) -> int | None:
        """Return the position of a content that matches the call, or None.

        Args:
            call: The `PreparedCall` that the tool's own `prepare_call` returned; a tool knows its
                own kind.
        """

    def extended(self, content: str) -> ContentMatcher:
        """Return a matcher for these contents and one more, without compiling anew."""


@runtime_checkable
class GrowingMatcher(ContentMatcher, Protocol):
    """A matcher to which one more content can be added; others are compiled anew."""

    def add(self, content: str) -> None:
        """Add one more content, at the next position.

        Raises:
            PatternError: It cannot be read; nothing has changed then.
        """


@runtime_checkable
class RuleCompiler(Protocol):
    """A tool whose rules can be compiled together; others are matched rule by rule."""

    def compile_rules(
        self, contents: Sequence[str], behavior: PermissionBehavior
    ) -> ContentMatcher:
        """Return a matcher for the contents of rules that say `behavior`.

        Raises:
            RuleError: The tool cannot read one of the contents.
        """


class RelatedMatcher(Protocol):
    """Rules of related tools, compiled so that matching time does not grow with them."""

    def match(self, call: Any) -> RuleMatch | None:
        """Return the rule that applies to the call, else one that may, else None.

        Args:
            call: As for `ContentMatcher.match`.
        """


@runtime_checkable
class RelatedRuleCompiler(Protocol):
    """A tool that can do what other tools do: their deny and ask rules apply to it as well.

    Attributes:
        related_tools: The names of these tools. Their deny and ask rules concern this one's calls
            as well; their allow rules never do.
    """

    related_tools: tuple[str, ...]

    def compile_related(self, rules: Sequence[PermissionRule]) -> RelatedMatcher:
        """Return a matcher for rules of related tools, all of one behaviour.

        Raises:
            RuleError: One of the contents cannot be read.
        """


@runtime_checkable
class RuleSharer(Protocol):
    """A tool that does what another one does: all rules for that one are its own as well.

    Attributes:
        also_ruled_as: The names of the other tools. Their contents are read as this tool's own.
    """

    also_ruled_as: tuple[str, ...]


def rule_names(tool: PermissionTool) -> tuple[str, ...]:
    """Return the names that the tool's own rules are filed under."""
    return (tool.name, *tool.also_ruled_as) if isinstance(tool, RuleSharer) else (tool.name,)


@runtime_checkable
class FallbackSuggester(Protocol):
    """A tool that has more rules to offer if none of its suggestions would allow the call."""

    async def fallback_suggestions(self, tool_input: dict[str, Any]) -> list[PermissionRule]:
        """Return rules to offer instead of those of `generate_suggestions`."""


@runtime_checkable
class RuleValidator(Protocol):
    """A tool that validates the contents of its rules; other tools accept any content."""

    def validate_rule(self, rule_content: str) -> None:
        """Refuse a content that would never match.

        Raises:
            RuleError: The tool cannot read it.
        """
