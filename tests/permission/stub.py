"""A tool whose opinions a test dictates."""

from __future__ import annotations

from typing import Any

from agentscope_like.permission import (
    PermissionBehavior,
    PermissionContext,
    PermissionDecision,
    PermissionMode,
    PermissionRule,
    PreparedCall,
)
from tests.permission.reference import Check, Situation


class StubTool:
    """Says of every call what it was told to say; its rule contents match equal `text` inputs."""

    def __init__(
        self,
        check: Check = "passthrough",
        *,
        read_only: bool = False,
        own_state: bool = False,
        can_be_held: bool = False,
        name: str = "Stub",
    ) -> None:
        self.name = name
        self.check = check
        self.read_only = read_only
        self.touches_only_agent_state = own_state
        self.can_be_held = can_be_held

    async def prepare_call(
        self, tool_input: dict[str, Any], context: PermissionContext, session: object
    ) -> PreparedCall:
        return _StubCall(self, tool_input, context)

    async def check_permissions(
        self, tool_input: dict[str, Any], context: PermissionContext
    ) -> PermissionDecision:
        if self.check == "raises":
            raise RuntimeError("the check broke")
        if self.check == "safety":
            return PermissionDecision(PermissionBehavior.ASK, "Dangerous.", bypass_immune=True)
        return PermissionDecision(PermissionBehavior(self.check), "The stub says so.")

    async def check_read_only(self, tool_input: dict[str, Any]) -> bool:
        return self.read_only

    async def match_rule(self, rule_content: str | None, tool_input: dict[str, Any]) -> bool:
        if rule_content == "broken":
            raise RuntimeError("the match broke")
        return rule_content == tool_input.get("text")

    async def generate_suggestions(self, tool_input: dict[str, Any]) -> list[PermissionRule]:
        contents = [tool_input.get("text"), "something else", None]
        return [rule("allow", content, name=self.name) for content in contents]


class _StubCall(PreparedCall):
    """A call of the stub."""

    async def can_be_held(self) -> bool:
        return isinstance(self.tool, StubTool) and self.tool.can_be_held


def rule(behavior: str, content: str | None = None, *, name: str = "Stub") -> PermissionRule:
    """Return a rule for the stub."""
    return PermissionRule(
        tool_name=name, rule_content=content, behavior=PermissionBehavior(behavior)
    )


def context_of(situation: Situation) -> PermissionContext:
    """Return the context of a situation."""
    context = PermissionContext(mode=PermissionMode(situation.mode))
    for behavior, wanted in (
        ("deny", situation.deny_rule),
        ("ask", situation.ask_rule),
        ("allow", situation.allow_rule),
    ):
        if wanted:
            context.table(PermissionBehavior(behavior)).add(rule(behavior))
    return context


def tool_of(situation: Situation) -> StubTool:
    """Return the tool of a situation."""
    return StubTool(
        situation.check,
        read_only=situation.read_only,
        own_state=situation.own_state,
        can_be_held=situation.can_be_held,
    )
