"""Defines what the tools of delegation need of whatever runs the child tasks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Protocol

from msgspec import Struct
from msgspec.structs import replace

from agentscope_like.profile import Account, Profile
from agentscope_like.state import AgentState, ChildTask

__all__ = ["ChildRunner", "Delegator"]


class ChildRunner(Protocol):
    """Runs child tasks in the background."""

    def start(self, task: ChildTask, state: AgentState) -> None:
        """Start a task, which is added to the tasks of the parent's state.

        It does not wait for anything.
        """


class Delegator(Struct, frozen=True):
    """An agent that gives work to others.

    Attributes:
        profile: Its profile.
        agents: The profiles of all agents, by id.
        is_configured: Whether the model of an agent is configured.
        levels: How many agents may still stand below one another, under this one.
        account: What it spends from; None for no limit.
    """

    profile: Profile
    agents: dict[str, Profile]
    is_configured: Callable[[str], bool]
    levels: int
    account: Account | None = None

    @classmethod
    def of(
        cls,
        profile: Profile,
        agents: Iterable[Profile],
        *,
        is_configured: Callable[[str], bool] = lambda _: True,
        account: Account | None = None,
    ) -> Delegator:
        """Return the delegator of a run that has no parent.

        Args:
            profile: Its profile.
            agents: The profiles of all agents.
            is_configured: Whether the model of an agent is configured.
            account: What it spends from.
        """
        by_id = {one.id: one for one in agents}
        return cls(profile, by_id, is_configured, profile.delegation.max_depth, account)

    def below(self, profile: Profile, account: Account) -> Delegator:
        """Return the delegator of a child, whose levels end where this one's do."""
        levels = max(0, min(profile.delegation.max_depth, self.levels - 1))
        return replace(self, profile=profile, levels=levels, account=account)

    def targets(self) -> Iterator[Profile]:
        """Yield the profiles that it may give work to, by id."""
        if self.objection() is None:
            for _, target in sorted(self.agents.items()):
                if self.target_objection(target) is None:
                    yield target

    def objection(self) -> str | None:
        """Return why the agent may give no work to others, or None."""
        if not self.profile.delegation.can_delegate:
            return f"the profile {self.profile.id!r} does not allow child tasks"
        if self.levels < 1:
            return "no further level of child tasks is allowed below this agent"
        return None

    def target_objection(self, target: Profile) -> str | None:
        """Return why the target takes no work from this agent, or None."""
        policy = target.delegation
        if not policy.callable or not policy.allow_as_subagent:
            return f"{target.id!r} takes no child tasks"
        if not {"*", self.profile.id} & {*policy.allowed_callers}:
            return f"{target.id!r} takes no child tasks of {self.profile.id!r}"
        if not self.is_configured(target.id):
            return f"the model of {target.id!r} is not configured"
        return None
