"""A call prepared once per decision and shared by the engine, rules and suggestions."""

from __future__ import annotations

from typing import Any

from agentscope_like.permission.context import PermissionContext
from agentscope_like.permission.decision import PermissionDecision
from agentscope_like.permission.protocol import FallbackSuggester, PermissionTool
from agentscope_like.permission.rule import PermissionRule

__all__ = ["PreparedCall", "prepare_call"]


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
        if not isinstance(self.tool, FallbackSuggester):
            return []
        return await self.tool.fallback_suggestions(self.tool_input)

    def basis(self) -> str | None:
        """Return what the decision rests on besides the arguments, as it was read for it."""
        basis = getattr(self.tool, "decision_basis", None)
        found: str | None = None if basis is None else basis(self.tool_input)
        return found

    def basis_now(self) -> str | None:
        """Return the same as things are now; a grant holds only while both are equal."""
        return PreparedCall.basis(self)

    def wider_rules(self) -> list[PermissionRule]:
        """Return rules that would allow more than such calls; they are told, and never offered."""
        return []

    def uncovered(self) -> tuple[PermissionRule, str] | None:
        """Return an allow rule that matches the call and does not cover all of it, and why."""
        return None

    def warning(self) -> str | None:
        """Return what a person who is asked should know besides the reason; None for nothing."""
        return None

    def places(self) -> tuple[str, ...]:
        """Return where the paths led that the call changes, as the decision located them."""
        return ()

    def places_now(self) -> tuple[str, ...]:
        """Return the same as things are now; a grant holds only while both are equal."""
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
