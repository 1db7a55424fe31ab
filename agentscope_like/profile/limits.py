"""Holds the calls of a toolkit to a profile and an account."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Collection
from contextlib import aclosing

from agentscope_like.message import TextBlock, ToolChunk, ToolResponse
from agentscope_like.permission import PermissionBehavior, PermissionContext, PermissionRule
from agentscope_like.profile.account import Account
from agentscope_like.profile.profile import RETURN, Profile
from agentscope_like.state import AgentState
from agentscope_like.tool import Grant, RunLayer, Toolkit

__all__ = ["PROFILE_SOURCE", "add_deny_rules", "budget_layer", "limited_toolkit"]

PROFILE_SOURCE = "profile"
"""The source of rules that come from a profile."""

_RUNTIME_TOOLS = (RETURN, "generate_structured_output")
"""Tools that the runtime adds where a result is asked for; a profile cannot name them."""


def limited_toolkit(toolkit: Toolkit, profile: Profile, account: Account) -> Toolkit:
    """Return a toolkit that shows what a profile shows, and takes its calls from an account.

    A call of a tool that is not shown is refused, and takes nothing. The same holds for tools that
    extend the returned toolkit, apart from those by which the runtime takes a result.
    """

    def shows(name: str) -> bool:
        return profile.sees(name) or name in _RUNTIME_TOOLS

    return toolkit.limited(shows=shows, run_layers=[budget_layer(account)])


def budget_layer(account: Account) -> RunLayer:
    """Return a layer that takes each call from an account as it begins to run.

    A call that was denied, or waits for an answer or for a resource, takes nothing; nor does
    `task.return`, so that a child without calls left can still return what it has. The result says
    what is left when little is.
    """

    async def taken(
        grant: Grant, state: AgentState, run: AsyncGenerator[ToolChunk | ToolResponse, None]
    ) -> AsyncGenerator[ToolChunk | ToolResponse, None]:
        del state
        is_free = grant.tool.name == RETURN or grant.apply is not None  # it was counted as it ran
        note = "" if is_free else account.take_call(grant.tool.name)
        async with aclosing(run) as items:
            async for item in items:
                if note and isinstance(item, ToolResponse):
                    chunk = ToolChunk(content=[TextBlock(text=f"\n\n{note}")])
                    yield chunk
                    item.append_chunk(chunk)
                yield item

    return taken


def add_deny_rules(
    profile: Profile, context: PermissionContext, tool_names: Collection[str]
) -> None:
    """Add a deny rule for each of these tools that a profile denies; drop another profile's."""
    table = context.table(PermissionBehavior.DENY)
    for name, rules in table.items():
        if any(rule.source == PROFILE_SOURCE for rule in rules):
            table[name] = [rule for rule in rules if rule.source != PROFILE_SOURCE]
    deny = PermissionBehavior.DENY
    for name in profile.tools.deny:
        if name in tool_names:
            table.add(PermissionRule(tool_name=name, behavior=deny, source=PROFILE_SOURCE))
