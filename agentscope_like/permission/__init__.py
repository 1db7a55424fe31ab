"""Decides whether a tool call may run; never runs anything itself."""

from agentscope_like.paths import PatternError, PermissionConfigError
from agentscope_like.permission.context import AdditionalWorkingDirectory, PermissionContext
from agentscope_like.permission.decision import (
    DecisionRow,
    PermissionDecision,
    private_denial,
)
from agentscope_like.permission.engine import CallDecision, PermissionEngine
from agentscope_like.permission.mode import ModeProperties, PermissionBehavior, PermissionMode
from agentscope_like.permission.path_rules import PathRuleIndex, PathRules
from agentscope_like.permission.protocol import (
    ContentMatcher,
    PermissionTool,
    Preparation,
    PreparedCall,
    RuleCompiler,
    RuleMatch,
    RuleValidator,
    never_waits,
)
from agentscope_like.permission.rule import PermissionRule, RuleError
from agentscope_like.permission.rule_table import RuleTable
from agentscope_like.permission.rules import check_rules, compile_large_tables, rules_of

__all__ = [
    "AdditionalWorkingDirectory",
    "CallDecision",
    "ContentMatcher",
    "DecisionRow",
    "ModeProperties",
    "PathRuleIndex",
    "PathRules",
    "PatternError",
    "PermissionBehavior",
    "PermissionConfigError",
    "PermissionContext",
    "PermissionDecision",
    "PermissionEngine",
    "PermissionMode",
    "PermissionRule",
    "PermissionTool",
    "Preparation",
    "PreparedCall",
    "RuleCompiler",
    "RuleError",
    "RuleMatch",
    "RuleTable",
    "RuleValidator",
    "check_rules",
    "compile_large_tables",
    "never_waits",
    "private_denial",
    "rules_of",
]
