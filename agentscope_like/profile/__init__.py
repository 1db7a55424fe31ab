"""Says what one agent sees, may use and may spend."""

from __future__ import annotations

from agentscope_like.profile.account import Account, BudgetError
from agentscope_like.profile.limits import (
    PROFILE_SOURCE,
    add_deny_rules,
    budget_layer,
    limited_toolkit,
)
from agentscope_like.profile.profile import (
    REFERENCE_TOOLS,
    DelegationPolicy,
    Profile,
    ProfileError,
    SkillPolicy,
    ToolPolicy,
    WorkspacePolicy,
)
from agentscope_like.tool import ToolNames, model_name

__all__ = [
    "PROFILE_SOURCE",
    "REFERENCE_TOOLS",
    "Account",
    "BudgetError",
    "DelegationPolicy",
    "Profile",
    "ProfileError",
    "SkillPolicy",
    "ToolNames",
    "ToolPolicy",
    "WorkspacePolicy",
    "add_deny_rules",
    "budget_layer",
    "limited_toolkit",
    "model_name",
]
