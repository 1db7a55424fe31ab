"""Applies a person's answer to a call, and checks that an approval still fits the call."""

from __future__ import annotations

from dataclasses import replace

from agentscope_like.event import ConfirmResult
from agentscope_like.exception import ResumeError
from agentscope_like.message import ToolCallBlock, ToolCallState, ToolResponse, ToolResultState
from agentscope_like.permission import PermissionDecision
from agentscope_like.tool.call.decided_call import refused

__all__ = ["EDITED", "asked_anew", "check_answer", "rejection", "was_shown"]

EDITED = "(The user edited the arguments before approving this call.)\n"
REJECTED = "The user rejected this call. Do not repeat it; ask what they want instead."
SOMETHING_CHANGED = "the tool, or what the call is about, has changed since it was asked"
EDIT_NOT_SHOWN = "the effect of the edit was not shown before"
DANGER_NOT_SHOWN = "the current finding was not shown before"


def check_answer(call: ToolCallBlock, answer: ConfirmResult) -> None:
    """Refuse an answer that does not belong to this call.

    Raises:
        ResumeError: The call does not ask, or the answer belongs to another one.
    """
    if call.state is not ToolCallState.ASKING:
        raise ResumeError(f"call {call.id!r} does not wait for an answer: it is {call.state}")
    if answer.tool_call.id != call.id or answer.tool_call.name != call.name:
        raise ResumeError(
            f"the answer is about {answer.tool_call.name} {answer.tool_call.id!r}, the call is "
            f"{call.name} {call.id!r}: an answer cannot change which tool is called"
        )


def rejection(answer: ConfirmResult) -> ToolResponse:
    """Return the message for the model after a rejection."""
    message = f"{REJECTED} They said: {answer.message}" if answer.message else REJECTED
    return refused(message, ToolResultState.DENIED)


def asked_anew(
    decision: PermissionDecision, *, edited: bool, unchanged: bool
) -> PermissionDecision:
    """Return the question with the reason why the approval was not enough.

    Args:
        decision: The current decision, an ASK.
        edited: Whether the person edited the arguments.
        unchanged: Whether tool and basis are the same as in the question.
    """
    why = DANGER_NOT_SHOWN if unchanged else SOMETHING_CHANGED
    told = filter(None, [decision.decision_reason, EDIT_NOT_SHOWN if edited else why])
    return replace(decision, decision_reason="; ".join(told))


def was_shown(asked: PermissionDecision | None, now: PermissionDecision, *, edited: bool) -> bool:
    """Return whether an approval of the earlier question also covers the current one.

    Args:
        asked: The decision that the person saw; None if it was lost.
        now: The current decision, an ASK.
        edited: Whether the arguments were edited.
    """
    if asked is None or not now.bypass_immune:
        return asked is not None
    return asked.bypass_immune and asked.message == now.message and not edited
