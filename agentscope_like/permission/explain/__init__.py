"""Explains a decision as text and JSON: what was found, where, and what would allow the call."""

from agentscope_like.permission.explain.explanation import (
    ROW_WORDS,
    Explanation,
    explain_call,
)
from agentscope_like.permission.explain.layout import Line, LineRole, rule_flag
from agentscope_like.permission.explain.visible import visible

__all__ = [
    "ROW_WORDS",
    "Explanation",
    "Line",
    "LineRole",
    "explain_call",
    "rule_flag",
    "visible",
]
