"""Judges what an action would do, as Bash, Read and Write judge commands and paths."""

from agentscope_like.typed.judging.action_rules import (
    RELATED_TOOLS,
    ActionRules,
    shared_rules,
)
from agentscope_like.typed.judging.judged_tool import JudgedTool
from agentscope_like.typed.judging.judges import directory_at, judges_in
from agentscope_like.typed.judging.own_rules import OwnRules
from agentscope_like.typed.judging.parts import (
    ActionPart,
    CommandPart,
    PartKind,
    PathPart,
    parts_of,
)
from agentscope_like.typed.judging.prepared_action import PreparedAction

__all__ = [
    "RELATED_TOOLS",
    "ActionPart",
    "ActionRules",
    "CommandPart",
    "JudgedTool",
    "OwnRules",
    "PartKind",
    "PathPart",
    "PreparedAction",
    "directory_at",
    "judges_in",
    "parts_of",
    "shared_rules",
]
