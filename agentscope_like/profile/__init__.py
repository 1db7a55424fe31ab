"""Says what one agent sees, may use and may spend."""

from __future__ import annotations

from agentscope_like.profile.account import Account, BudgetError
from agentscope_like.profile.profile import (
    DelegationPolicy,
    Profile,
    ProfileError,
    SkillPolicy,
    ToolPolicy,
    WorkspacePolicy,
)
from agentscope_like.tool import ToolNames, model_name

__all__ = [
    "Account",
    "BudgetError",
    "DelegationPolicy",
    "Profile",
    "ProfileError",
    "SkillPolicy",
    "ToolNames",
    "ToolPolicy",
    "WorkspacePolicy",
    "model_name",
]
