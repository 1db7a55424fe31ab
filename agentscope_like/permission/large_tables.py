"""Compiles large tables of rules in a thread, so that the event loop goes on meanwhile."""

from __future__ import annotations

import gc
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from agentscope_like.permission.context import PermissionContext
from agentscope_like.permission.mode import PermissionBehavior
from agentscope_like.permission.protocol import PermissionTool
from agentscope_like.permission.rules import ToolRules, own_rules, related_rules

__all__ = ["MANY_RULES", "compile_large_tables", "is_large"]

MANY_RULES = 1_000
"""Rules of one tool and behaviour that are compiled in a thread; fewer take a few milliseconds."""


def is_large(
    tool: PermissionTool, behavior: PermissionBehavior, context: PermissionContext
) -> bool:
    """Return whether many rules are still to be compiled for the tool."""
    table = context.table(behavior)
    kept = table.compiled.get(tool.name)
    if kept is not None and kept[0] is tool:
        return False
    rules = own_rules(tool, table)
    return len(rules) + len(related_rules(tool, table)) > MANY_RULES


async def compile_large_tables(tools: Iterable[PermissionTool], context: PermissionContext) -> None:
    """Compile what is large; what changes or fails meanwhile is compiled where it is used.

    Args:
        tools: The tools that the rules may apply to.
        context: The policy.
    """
    tools = list(tools)
    for behavior in PermissionBehavior.DENY, PermissionBehavior.ASK, PermissionBehavior.ALLOW:
        if context.table(behavior):
            for tool in tools:
                if is_large(tool, behavior, context):
                    await _compile_aside(tool, behavior, context)


async def _compile_aside(
    tool: PermissionTool, behavior: PermissionBehavior, context: PermissionContext
) -> None:
    """Compile copies of the rules, which nobody changes; keep the result if they are the same."""
    import asyncio  # deciding as such needs none of it

    table = context.table(behavior)
    version = table.version
    listed, related = own_rules(tool, table), related_rules(tool, table)
    try:
        with _no_collections():
            compiled = await asyncio.to_thread(ToolRules, tool, behavior, listed, related)
    except Exception:
        return  # where they are used it is said what is wrong
    if table is context.table(behavior) and table.version == version:
        table.compiled[tool.name] = (tool, compiled)


@contextmanager
def _no_collections() -> Iterator[None]:
    """Have no garbage collected meanwhile: each collection would stop the loop to look at it all.

    Compiling makes very many objects, and no cycles of them.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
