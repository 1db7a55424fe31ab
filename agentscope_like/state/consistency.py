"""Refuses stored calls that say of themselves what nothing on record bears out."""

from __future__ import annotations

from collections.abc import Iterable

from agentscope_like.message import Msg, ToolCallBlock, ToolCallState
from agentscope_like.permission.mode import PermissionBehavior

__all__ = ["refuse_unapproved"]

_MAY_RUN = (ToolCallState.ALLOWED, ToolCallState.SUBMITTED)


def refuse_unapproved(messages: Iterable[Msg]) -> None:
    """Refuse a call that is allowed, or submitted, without a decision or an answer that says so.

    Raises:
        ValueError: There is one.
    """
    for message in messages:
        for call in message.content:
            if isinstance(call, ToolCallBlock) and (problem := _problem(call)):
                raise ValueError(
                    f"the stored call {call.id!r} of {call.name} is {call.state.value!r}, but "
                    f"{problem}: the state was changed since it was stored, or put together by "
                    "hand. Set the call to 'pending' to have it decided, or restore the state"
                )


def _problem(call: ToolCallBlock) -> str | None:
    decision = call.decision
    if call.state is ToolCallState.ASKING:
        return "it has its answer" if call.approved else None
    if call.state not in _MAY_RUN or call.approved:
        return None
    if decision is None:
        return "no decision is on record"
    if decision.behavior is PermissionBehavior.ALLOW:
        return None
    return f"the decision is {decision.behavior.value!r} and no person's yes is on record"
