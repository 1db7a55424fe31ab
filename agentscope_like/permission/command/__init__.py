"""Judges what a command does: dangers, secrets, edits, downloads, rules, suggestions."""

from __future__ import annotations

from agentscope_like.permission.command.command_patterns import (
    compile_command,
    suggest_wider_patterns,
)
from agentscope_like.permission.command.command_rules import CommandRules
from agentscope_like.permission.command.edits import edit_objection
from agentscope_like.permission.command.file_rules import FileRules
from agentscope_like.permission.command.holding import hold_objection
from agentscope_like.permission.command.prepared_command import CheckedAnalysis, PreparedCommand
from agentscope_like.permission.command.safety_checks import find_danger

__all__ = [
    "CheckedAnalysis",
    "CommandRules",
    "FileRules",
    "PreparedCommand",
    "compile_command",
    "edit_objection",
    "find_danger",
    "hold_objection",
    "suggest_wider_patterns",
]
