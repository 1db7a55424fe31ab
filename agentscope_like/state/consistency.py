"""Refuses stored calls that say of themselves what nothing on record bears out."""

from __future__ import annotations

from collections.abc import Container, Iterable

from agentscope_like.message import Msg, ToolCallBlock, ToolCallState, ToolResultBlock
from agentscope_like.permission import PermissionBehavior

__all__ = ["refuse_unapproved"]

_MAY_RUN = (ToolCallState.ALLOWED, ToolCallState.SUBMITTED)


def refuse_unapproved(messages: Iterable[Msg]) -> None:
    """Refuse a call that is allowed, or submitted, without a decision or an answer that says so.

    Raises:
        ValueError: There is one.
    """
    for message in messages:
        begun = {block.id for block in message.content if isinstance(block, ToolResultBlock)}
        for call in message.content:
            if isinstance(call, ToolCallBlock) and (problem := _problem(call, begun)):
                raise ValueError(
                    f"the stored call {call.id!r} of {call.name} is {call.state.value!r}, but "
                    f"{problem}: the state was changed since it was stored, or put together by "
                    "hand. Set the call to 'pending' to have it decided, or restore the state"
                )


def _problem(call: ToolCallBlock, begun: Container[str]) -> str | None:
    decision = call.decision
    if call.state not in _MAY_RUN or call.approved:
        return None
    if decision is None:
        return None if call.id in begun else "no decision is on record"
    if decision.behavior is PermissionBehavior.ALLOW or decision.can_be_held:
        return None
    return f"the decision is {decision.behavior.value!r} and no person's yes is on record"
