"""Explains a decision as text and JSON: what was found, where, and what would allow the call."""

from agentscope_like.permission.explain.explanation import (
    ROW_WORDS,
    Explanation,
    explain_call,
    rule_flag,
)
from agentscope_like.permission.explain.layout import Line, LineRole, lay_out
from agentscope_like.permission.explain.visible_text import Piece, cells, pieces, visible

__all__ = [
    "ROW_WORDS",
    "Explanation",
    "Line",
    "LineRole",
    "Piece",
    "cells",
    "explain_call",
    "lay_out",
    "pieces",
    "rule_flag",
    "visible",
]
