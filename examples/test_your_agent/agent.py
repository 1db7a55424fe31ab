"""An agent that releases software, and the policy under which it works: what is to be tested."""

from __future__ import annotations

from pathlib import Path

from agentscope_like import (
    Agent,
    AgentState,
    Bash,
    HumanApproval,
    PermissionContext,
    Read,
    Toolkit,
)
from agentscope_like.model import ChatModelBase

__all__ = ["make_agent", "make_policy", "make_toolkit"]


def make_policy(directory: Path) -> PermissionContext:
    """Return the policy: tests run unasked, a push never does."""
    return PermissionContext.from_rules(
        allow=["Bash(make test)", "Read(**)"],
        ask=["Bash(git tag:*)"],
        deny=["Bash(git push:*)"],
        working_directories=[directory],
    )


def make_toolkit(directory: Path) -> Toolkit:
    """Return the agent's tools."""
    return Toolkit([Bash(cwd=directory), Read(cwd=directory), HumanApproval()])


def make_agent(directory: Path, model: ChatModelBase) -> Agent:
    """Return the agent."""
    state = AgentState(permission_context=make_policy(directory))
    return Agent("releaser", "You release software.", model, make_toolkit(directory), state=state)
