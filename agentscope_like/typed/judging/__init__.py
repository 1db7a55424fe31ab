"""Judges what an action would do, as Bash, Read and Write judge commands and paths."""

from agentscope_like.typed.judging.action_rules import (
    ALLOWING_TOOLS,
    RELATED_TOOLS,
    ActionRules,
    AllowRules,
    shared_rules,
)
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
    "ALLOWING_TOOLS",
    "RELATED_TOOLS",
    "ActionPart",
    "ActionRules",
    "AllowRules",
    "CommandPart",
    "OwnRules",
    "PartKind",
    "PathPart",
    "PreparedAction",
    "directory_at",
    "judges_in",
    "parts_of",
    "shared_rules",
]
