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

__all__ = ["add_deny_rules", "budget_layer", "limited_toolkit"]


def limited_toolkit(toolkit: Toolkit, profile: Profile, account: Account) -> Toolkit:
    """Return a toolkit that shows what a profile shows, and takes its calls from an account.

    A call of a tool that is not shown is refused, and takes nothing. Tools that extend the returned
    toolkit are shown.
    """
    return toolkit.limited(shows=profile.sees, run_layers=[budget_layer(account)])


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
        note = "" if grant.tool.name == RETURN else account.take_call(grant.tool.name)
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
    """Add a deny rule for each of these tools that a profile denies, where there is none."""
    table = context.table(PermissionBehavior.DENY)
    source = f"profile {profile.id}"
    for name in profile.tools.deny:
        rules = table.get(name, ())
        if name in tool_names and all(rule.rule_content is not None for rule in rules):
            table.add(
                PermissionRule(tool_name=name, behavior=PermissionBehavior.DENY, source=source)
            )
