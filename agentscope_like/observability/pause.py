"""Stores trace data in the state while a reply waits, so that its resume can be linked."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

__all__ = ["PausedCall", "PausedReply", "forget", "paused_reply", "remember"]


class PausedCall(BaseModel):
    """A call that waits.

    Attributes:
        name: Its tool.
        carrier: The link to the run that ended when the call began to wait.
    """

    model_config = ConfigDict(defer_build=True)

    name: str = ""
    carrier: dict[str, str] = Field(default_factory=dict)


class PausedReply(BaseModel):
    """A reply that waits, with its calls by id.

    Attributes:
        reply_id: The reply.
        carrier: The link to the agent's run that ended when the reply began to wait.
    """

    model_config = ConfigDict(defer_build=True)

    reply_id: str = ""
    carrier: dict[str, str] = Field(default_factory=dict)
    calls: dict[str, PausedCall] = Field(default_factory=dict)


def paused_reply(middle_context: dict[str, Any], key: str, agent_name: str) -> PausedReply:
    """Return the stored data; an empty record if there is none or it is invalid."""
    try:
        return PausedReply.model_validate(middle_context[key][agent_name])
    except (KeyError, TypeError, ValidationError):
        return PausedReply()


def remember(
    middle_context: dict[str, Any], key: str, agent_name: str, paused: PausedReply
) -> None:
    """Store it in the state, as JSON."""
    kept = middle_context.get(key)
    known = kept if isinstance(kept, dict) else {}
    middle_context[key] = {**known, agent_name: paused.model_dump(mode="json")}


def forget(middle_context: dict[str, Any], key: str, agent_name: str) -> None:
    """Remove the stored data, if any."""
    kept = middle_context.get(key)
    if not isinstance(kept, dict):
        return
    rest = {name: entry for name, entry in kept.items() if name != agent_name}
    if rest:
        middle_context[key] = rest
    else:
        del middle_context[key]
