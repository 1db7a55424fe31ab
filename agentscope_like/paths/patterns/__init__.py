"""Compiles, indexes, matches and suggests the path patterns of rules."""

from __future__ import annotations

from agentscope_like.paths.patterns.component_globs import Component, fits, fixed_ends, may_hold
from agentscope_like.paths.patterns.path_pattern import (
    PathPattern,
    PatternCompiler,
    bases_of,
    compile_pattern,
    escape,
)
from agentscope_like.paths.patterns.pattern_suggestion import suggest_pattern
from agentscope_like.paths.patterns.pattern_table import NameMatcher, PatternTable

__all__ = [
    "Component",
    "NameMatcher",
    "PathPattern",
    "PatternCompiler",
    "PatternTable",
    "bases_of",
    "compile_pattern",
    "escape",
    "fits",
    "fixed_ends",
    "may_hold",
    "suggest_pattern",
]
