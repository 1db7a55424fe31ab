"""Reads shell commands, strictly."""

from __future__ import annotations

from agentscope_like.permission.shell.analysis import (
    CommandAnalysis,
    Doubt,
    Effect,
    EffectKind,
    Part,
)
from agentscope_like.permission.shell.analyze import analyze

__all__ = ["CommandAnalysis", "Doubt", "Effect", "EffectKind", "Part", "analyze"]
