"""Patterns of rules about commands: what they match, and which words and input they cover."""

from __future__ import annotations

from agentscope_like.permission.patterns.command_index import CommandIndex
from agentscope_like.permission.patterns.command_patterns import (
    CommandPattern,
    WordGlob,
    compile_command,
    quoted,
)
from agentscope_like.permission.patterns.fed_parts import feeding_parts, input_redirects, is_fed
from agentscope_like.permission.patterns.line_patterns import line_pattern
from agentscope_like.permission.patterns.lone_words import refuse_lone_word
from agentscope_like.permission.patterns.rule_options import Argument, unnamed_words

__all__ = [
    "Argument",
    "CommandIndex",
    "CommandPattern",
    "WordGlob",
    "compile_command",
    "feeding_parts",
    "input_redirects",
    "is_fed",
    "line_pattern",
    "quoted",
    "refuse_lone_word",
    "unnamed_words",
]
