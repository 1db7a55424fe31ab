"""Reads shell commands, strictly."""

from __future__ import annotations

from agentscope_like.permission.shell.analysis import (
    CommandAnalysis,
    Dissent,
    Doubt,
    Effect,
    EffectKind,
    Part,
)
from agentscope_like.permission.shell.analyze import analyze, analyze_async, analyze_unconfirmed

__all__ = [
    "CommandAnalysis",
    "Dissent",
    "Doubt",
    "Effect",
    "EffectKind",
    "Part",
    "analyze",
    "analyze_async",
    "analyze_unconfirmed",
]
