"""Helps to test agents and policies: what is decided, and what is answered when it asks."""

from agentscope_like.testing.approver import ScriptedApprover, UnexpectedQuestionError
from agentscope_like.testing.decisions import assert_decision, decide
from agentscope_like.testing.recorded import assert_recorded

__all__ = [
    "ScriptedApprover",
    "UnexpectedQuestionError",
    "assert_decision",
    "assert_recorded",
    "decide",
]
