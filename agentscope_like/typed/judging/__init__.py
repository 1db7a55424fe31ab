"""Judges what an action would do, as Bash, Read and Write judge commands and paths."""

from agentscope_like.typed.judging.action_rules import RELATED_TOOLS, ActionRules
from agentscope_like.typed.judging.judges import Judges, judges_in
from agentscope_like.typed.judging.prepared_action import PreparedAction, prepare_action

__all__ = [
    "RELATED_TOOLS",
    "ActionRules",
    "Judges",
    "PreparedAction",
    "judges_in",
    "prepare_action",
]
