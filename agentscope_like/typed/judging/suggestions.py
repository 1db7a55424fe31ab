"""Suggests rules that would allow what a typed tool would do."""

from __future__ import annotations

from agentscope_like.permission import PermissionBehavior, PermissionRule
from agentscope_like.tool.builtin.file_system import PathTool
from agentscope_like.typed.judging.parts import ActionPart, CommandPart, PartKind

__all__ = ["own_suggestions"]


async def own_suggestions(tool_name: str, part: ActionPart) -> list[PermissionRule]:
    """Return the tool's own rules for a part, as Bash, Read or Write suggest theirs."""
    if isinstance(part, CommandPart):
        verb, suggested = "run", await part.call.suggestions()
    else:
        judge: PathTool = part.call.tool
        verb = "write" if part.kind is PartKind.WRITE else "read"
        suggested = judge.spared_by(part.call)
    return [
        PermissionRule(
            tool_name=tool_name,
            rule_content=f"{verb}:{rule.rule_content}",
            behavior=PermissionBehavior.ALLOW,
            source="suggestion",
        )
        for rule in suggested
        if rule.rule_content is not None
    ]
