"""What the engine needs of a tool: `permission` knows tools by these protocols only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

from agentscope_like.permission.context import PermissionContext
from agentscope_like.permission.decision import PermissionDecision
from agentscope_like.permission.mode import PermissionBehavior
from agentscope_like.permission.rule import PermissionRule

__all__ = ["ContentMatcher", "PermissionTool", "RuleCompiler", "RuleValidator"]


class PermissionTool(Protocol):
    """A tool, as far as deciding about its calls goes (seed 002, "ToolBase Interface")."""

    @property
    def name(self) -> str:
        """The name that rules know the tool by."""

    async def check_permissions(
        self, tool_input: dict[str, Any], context: PermissionContext
    ) -> PermissionDecision:
        """Return the tool's own opinion of the call."""

    async def check_read_only(self, tool_input: dict[str, Any]) -> bool:
        """Return whether the call is proven to change nothing."""

    async def match_rule(self, rule_content: str | None, tool_input: dict[str, Any]) -> bool:
        """Return whether a rule of this content speaks of the call."""

    async def generate_suggestions(self, tool_input: dict[str, Any]) -> list[PermissionRule]:
        """Return rules that a person may want so as not to be asked again."""


class ContentMatcher(Protocol):
    """The contents of many rules, compiled so that their number does not matter."""

    def match(self, tool_input: Mapping[str, Any], context: PermissionContext) -> int | None:
        """Return the position of a content that matches the call, or None."""

    def extended(self, content: str) -> ContentMatcher:
        """Return a matcher for these contents and one more, without compiling anew."""


@runtime_checkable
class RuleCompiler(Protocol):
    """A tool whose rules can be compiled together; the others are asked rule by rule."""

    def compile_rules(
        self, contents: Sequence[str], behavior: PermissionBehavior
    ) -> ContentMatcher:
        """Return a matcher for the contents of rules that say `behavior`.

        Raises:
            RuleError: The tool cannot read one of the contents.
        """


@runtime_checkable
class RuleValidator(Protocol):
    """A tool that can tell which rule contents it reads; one that cannot is given any."""

    def validate_rule(self, rule_content: str) -> None:
        """Refuse a content that would never match.

        Raises:
            RuleError: The tool cannot read it.
        """
