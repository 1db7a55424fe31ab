"""Defines `agent.list`, the tool that finds agents to give work to."""

from __future__ import annotations

from typing import Any, ClassVar

from agentscope_like.delegation.delegation_tool import DelegationTool, told
from agentscope_like.message import ToolChunk
from agentscope_like.profile import Profile

__all__ = ["AgentList"]

DEFAULT_LIMIT = 8
MAX_LIMIT = 20


class AgentList(DelegationTool):
    """Lists the agents that this one may give work to (seed 001, "agent.list")."""

    name = "agent.list"
    description = (
        "List the agents that you can give a task to with agent.delegate: their ids, what they do "
        "and their limits. Nothing is started."
    )
    input_schema: ClassVar[dict[str, Any]] = {  # type: ignore[misc]
        "type": "object",
        "properties": {
            "purpose": {
                "type": "string",
                "enum": ["any", "delegate", "handoff"],
                "default": "any",
                "description": "What you need them for. handoff is reserved: nobody offers it.",
            },
            "query": {
                "type": "string",
                "description": "Only those whose id, name or description contains this text.",
            },
            "limit": {
                "type": "integer",
                "minimum": 1,
                "maximum": MAX_LIMIT,
                "default": DEFAULT_LIMIT,
                "description": "How many at most.",
            },
        },
    }

    async def call(
        self, purpose: str = "any", query: str = "", limit: int = DEFAULT_LIMIT
    ) -> ToolChunk:
        """Return the agents that match, in the order of their ids."""
        sought = query.casefold()
        found = [] if purpose == "handoff" else list(self._delegator.targets())
        found = [one for one in found if sought in _searched(one)]
        answer: dict[str, Any] = {
            "agents": [_shown(one) for one in found[:limit]],
            "truncated": len(found) > limit,
        }
        objection = self._delegator.objection()
        if objection is not None:
            answer["note"] = f"You cannot delegate: {objection}."
        return told(answer)


def _searched(profile: Profile) -> str:
    return "\n".join((profile.id, profile.display_name, profile.description)).casefold()


def _shown(profile: Profile) -> dict[str, Any]:
    return {
        "profileId": profile.id,
        "displayName": profile.display_name or profile.id,
        "description": profile.description,
        "operations": ["delegate"],
        "usage": f'agent.delegate with agentId "{profile.id}" and a task that states the result.',
        "limits": {
            "maxRounds": profile.tools.max_rounds,
            "maxToolCalls": profile.tools.max_calls_per_run,
        },
    }
