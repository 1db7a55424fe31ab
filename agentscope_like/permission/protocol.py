"""The protocols by which the permission engine knows a tool, and a call prepared by one."""

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
    "PermissionTool",
    "Preparation",
    "PreparedCall",
    "RelatedMatcher",
    "RelatedRuleCompiler",
    "RuleCompiler",
    "RuleMatch",
    "RuleValidator",
    "never_waits",
    "prepare_call",
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


def rule_names(tool: PermissionTool) -> tuple[str, ...]:
    """Return the names that the tool's own rules are filed under.

    A tool that does what others do names these in `also_ruled_as`: all rules for them are its own
    as well, and their contents are read as its own.
    """
    return (tool.name, *getattr(tool, "also_ruled_as", ()))


@runtime_checkable
class RuleValidator(Protocol):
    """A tool that validates the contents of its rules; other tools accept any content."""

    def validate_rule(self, rule_content: str) -> None:
        """Refuse a content that would never match.

        Raises:
            RuleError: The tool cannot read it.
        """


class PreparedCall:
    """A call prepared for one decision: the engine, rules and suggestions ask it.

    This one asks the tool each time. A tool that has to read its calls, such as a command line or
    a path, returns a subclass from its `prepare_call`, which reads once and keeps what it found.

    Args:
        tool: The tool to be called.
        tool_input: Its validated arguments.
        context: What is permitted.
        owner: The class whose public methods a subclass replaces. If the tool overrides one of
            them, the override is called: see `stands_for`.
    """

    def __init__(
        self,
        tool: PermissionTool,
        tool_input: dict[str, Any],
        context: PermissionContext,
        *,
        owner: type | None = None,
    ) -> None:
        self.tool = tool
        self.tool_input = tool_input
        self.context = context
        self._owner = owner

    def stands_for(self, method: str) -> bool:
        """Return whether this object may answer instead of one of the tool's own methods."""
        tool, owner = self.tool, self._owner
        if owner is None or method in getattr(tool, "__dict__", ()):
            return False
        return getattr(type(tool), method, None) is getattr(owner, method, None)

    async def check(self) -> PermissionDecision:
        """Return the tool's own opinion of the call."""
        return await self.tool.check_permissions(self.tool_input, self.context)

    async def only_reads(self) -> bool:
        """Return whether the call is proven to change nothing."""
        return await self.tool.check_read_only(self.tool_input) is True

    async def matches(self, content: str) -> bool:
        """Return whether a rule of this content applies to the call."""
        return bool(await self.tool.match_rule(content, self.tool_input))

    async def suggestions(self) -> list[PermissionRule]:
        """Return rules that would allow such calls from now on."""
        return await self.tool.generate_suggestions(self.tool_input)

    async def fallback_suggestions(self) -> list[PermissionRule]:
        """Return rules to offer if none of `suggestions` would allow the call."""
        suggest = getattr(self.tool, "fallback_suggestions", None)
        return [] if suggest is None else await suggest(self.tool_input)

    async def can_be_held(self) -> bool:
        """Return whether the call can run where it changes nothing until that is decided."""
        return False

    def basis(self, *, now: bool = False) -> str | None:
        """Return what the decision rests on besides the arguments.

        Args:
            now: Whether as things are now, not as they were read for the decision; a grant holds
                only while both are equal.
        """
        del now
        basis = getattr(self.tool, "decision_basis", None)
        found: str | None = None if basis is None else basis(self.tool_input)
        return found

    def wider_rules(self) -> list[PermissionRule]:
        """Return rules that would allow more than such calls; they are told, and never offered."""
        return []

    def warning(self) -> str | None:
        """Return what a person who is asked should know besides the reason; None for nothing."""
        return None

    def places(self, *, now: bool = False) -> tuple[str, ...]:
        """Return where the paths led that the call changes, or where they lead now."""
        del now
        return ()


async def prepare_call(
    tool: PermissionTool, tool_input: dict[str, Any], context: PermissionContext, session: object
) -> PreparedCall:
    """Return the call prepared by its tool for one decision.

    Raises:
        TypeError: The tool's `prepare_call` returned something else.
    """
    prepare = getattr(tool, "prepare_call", None)
    if prepare is None:
        return PreparedCall(tool, tool_input, context)
    call = await prepare(tool_input, context, session)
    if not isinstance(call, PreparedCall):
        raise TypeError(f"{tool.name}.prepare_call returned {call!r}, which is not a PreparedCall")
    return call
