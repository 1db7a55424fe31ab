"""Holds a session to a profile: that of `--profile`, tightened by the project's own."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Collection
from contextlib import aclosing
from pathlib import Path
from typing import Any

from agentscope_like.agent import Agent
from agentscope_like.message import ToolChunk, ToolResponse
from agentscope_like.profile import (
    REFERENCE_TOOLS,
    Account,
    Profile,
    ToolPolicy,
    add_deny_rules,
    limited_toolkit,
)
from agentscope_like.state import AgentState
from agentscope_like.tool import Grant

__all__ = ["PROJECT_PROFILE", "SessionProfile"]

PROJECT_PROFILE = Path(".agentscope-like", "profile.json")
"""Where a project's profile is, in its directory."""

_NOTES = "cli_profile"
_UNLIMITED = 1 << 31


class SessionProfile:
    """The profile that a session is held to.

    Args:
        profile: The profile.
        spent: The calls that the session has made, by tool.
    """

    def __init__(self, profile: Profile, spent: dict[str, int]) -> None:
        self._profile = profile
        tools = profile.tools
        self._account = Account(tools.max_calls_per_run, tools.max_calls_per_tool)
        self._account.resume(spent)

    @classmethod
    def of(
        cls, file: Path | None, directory: Path, state: AgentState, tool_names: Collection[str]
    ) -> SessionProfile | None:
        """Return the profile of a session; None if nothing limits it.

        Args:
            file: The file of `--profile`; None for the profile that the session had.
            directory: The project.
            state: The session.
            tool_names: The tools of the program.

        Raises:
            ProfileError: A profile cannot be read, or names what does not exist.
        """
        kept: dict[str, Any] = state.middle_context.get(_NOTES, {})
        chosen = Profile.load(file) if file is not None else _kept(kept)
        brought = directory / PROJECT_PROFILE
        theirs = Profile.load(brought) if brought.is_file() else None
        if chosen is None and theirs is None:
            return None
        profile = chosen or _everything(tool_names)
        profile = profile if theirs is None else profile.tightened_by(theirs)
        profile.check({*tool_names, *REFERENCE_TOOLS})
        notes = None if chosen is None else chosen.model_dump(mode="json", by_alias=True)
        spent = dict(kept.get("spent", {}))
        state.middle_context[_NOTES] = {"profile": notes, "spent": spent}
        return cls(profile, spent)

    def apply(self, agent: Agent, tool_names: Collection[str]) -> None:
        """Hold an agent to the profile."""
        add_deny_rules(self._profile, agent.state.permission_context, tool_names)
        toolkit = agent.toolkit.limited(run_layers=[self._noted])
        agent.toolkit = limited_toolkit(toolkit, self._profile, self._account)
        rounds = min(self._profile.tools.max_rounds, agent.react_config.max_iters)
        agent.react_config = agent.react_config.model_copy(update={"max_iters": rounds})

    async def _noted(
        self, grant: Grant, state: AgentState, run: AsyncGenerator[ToolChunk | ToolResponse, None]
    ) -> AsyncGenerator[ToolChunk | ToolResponse, None]:
        """Keep in the session what was spent, so that it counts when the session is resumed."""
        del grant
        state.middle_context[_NOTES]["spent"] = self._account.spent
        async with aclosing(run) as items:
            async for item in items:
                yield item


def _kept(notes: dict[str, Any]) -> Profile | None:
    kept = notes.get("profile")
    return None if kept is None else Profile.model_validate(kept)


def _everything(tool_names: Collection[str]) -> Profile:
    """Return the profile that a project's own tightens where no other was chosen."""
    tools = ToolPolicy(allow=tuple(tool_names), max_rounds=_UNLIMITED, max_calls_per_run=_UNLIMITED)
    return Profile(id="program", tools=tools)
