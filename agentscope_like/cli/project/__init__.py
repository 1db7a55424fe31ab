"""Manages the rules and sessions saved for a project."""

from typing import TYPE_CHECKING

from agentscope_like.lazy import on_first_use

if TYPE_CHECKING:
    from agentscope_like.cli.project.project_rules import (
        PROJECT_SOURCE,
        ProjectRules,
        is_out_of_reach,
    )
    from agentscope_like.cli.project.rule_commands import add_rule, list_rules, remove_rule
    from agentscope_like.cli.project.saved_sessions import list_sessions

__all__ = [
    "PROJECT_SOURCE",
    "ProjectRules",
    "add_rule",
    "is_out_of_reach",
    "list_rules",
    "list_sessions",
    "remove_rule",
]

__getattr__ = on_first_use(
    __name__,
    {
        "PROJECT_SOURCE": "project_rules",
        "ProjectRules": "project_rules",
        "add_rule": "rule_commands",
        "is_out_of_reach": "project_rules",
        "list_rules": "rule_commands",
        "list_sessions": "saved_sessions",
        "remove_rule": "rule_commands",
    },
)
