"""Deciding about commands in tests."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from agentscope_like.permission import (
    PermissionBehavior,
    PermissionContext,
    PermissionDecision,
    PermissionEngine,
    PermissionMode,
    PermissionRule,
)
from agentscope_like.tool.builtin.bash.bash_tool import Bash

__all__ = ["context_of", "decide", "rule"]


def rule(text: str) -> PermissionRule:
    """Return the rule that `deny rm:*` stands for."""
    behavior, _, content = text.partition(" ")
    return PermissionRule(
        tool_name="Bash", rule_content=content or None, behavior=PermissionBehavior(behavior)
    )


def context_of(rules: Sequence[str] = (), mode: str = "default") -> PermissionContext:
    """Return a context with these rules."""
    context = PermissionContext(mode=PermissionMode(mode))
    for text in rules:
        one = rule(text)
        context.table(one.behavior).add(one)
    return context


async def decide(
    command: str, directory: Path, rules: Sequence[str] = (), mode: str = "default"
) -> PermissionDecision:
    """Return what the engine says of the command."""
    engine = PermissionEngine(context_of(rules, mode))
    return await engine.check_permission(Bash(cwd=directory), {"command": command})
