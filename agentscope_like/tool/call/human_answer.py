"""Applies a person's answer to a call, and checks that an approval still fits the call."""

from __future__ import annotations

import json
from dataclasses import replace
from enum import Enum
from typing import Any

from agentscope_like.event import ConfirmResult
from agentscope_like.exception import ResumeError, ToolJSONDecodeError
from agentscope_like.message import ToolCallBlock, ToolCallState, ToolResponse, ToolResultState
from agentscope_like.permission import PermissionDecision
from agentscope_like.tool.arguments import parse_arguments, same_json
from agentscope_like.tool.call.decided_call import refused
from agentscope_like.tool.call.grant import arguments_digest, same_arguments

__all__ = [
    "EDITED",
    "Shown",
    "as_decided",
    "asked_anew",
    "check_answer",
    "edited_input",
    "rejection",
    "shown_arguments",
    "was_shown",
    "what_was_shown",
]

EDITED = "(The user edited the arguments before approving this call.)\n"
REJECTED = "The user rejected this call. Do not repeat it; ask what they want instead."
SOMETHING_CHANGED = "the tool, or what the call is about, has changed since it was asked"
EDIT_NOT_SHOWN = "the effect of the edit was not shown before"
DANGER_NOT_SHOWN = "the current finding was not shown before"
REWRITTEN = "a layer changes the arguments to ones that were not shown before"


class Shown(Enum):
    """Which arguments a person saw who said yes."""

    AS_ASKED = "as asked"
    AS_EDITED = "as edited"
    OTHERS = "others"


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
    return refused(answer.tool_call.id, message, ToolResultState.DENIED)


def shown_arguments(call: ToolCallBlock) -> dict[str, Any]:
    """Return the arguments that a question about the call shows: they are what would run.

    Raises:
        ToolJSONDecodeError: They are no JSON object.
    """
    changed = None if call.decision is None else call.decision.updated_input
    return parse_arguments(call.name, call.input) if changed is None else changed


def as_decided(call: ToolCallBlock) -> ToolCallBlock:
    """Return a copy of the call whose input is what would run, also where a layer changed it."""
    copy = call.model_copy(deep=True)
    if copy.decision is not None and copy.decision.updated_input is not None:
        copy.input = json.dumps(copy.decision.updated_input, ensure_ascii=False)
    return copy


def edited_input(call: ToolCallBlock, answered: str) -> str:
    """Return the input of a call after an answer to it: as it was, unless the person edited it.

    An answer that repeats what was shown edits nothing, also where a layer had changed that.
    """
    if answered == call.input:
        return answered
    try:
        said = parse_arguments(call.name, answered)
        known = (parse_arguments(call.name, call.input), shown_arguments(call))
    except ToolJSONDecodeError:
        return answered
    return call.input if any(same_json(said, one) for one in known) else answered


def what_was_shown(asked: ToolCallBlock, now: ToolCallBlock, arguments: dict[str, Any]) -> Shown:
    """Return which arguments the person saw.

    Args:
        asked: The call as it asked.
        now: The call as it was decided again after the answer.
        arguments: The arguments that would run now.
    """
    if asked.input != now.input:
        typed = parse_arguments(now.name, now.input)
        return Shown.AS_EDITED if same_json(typed, arguments) else Shown.OTHERS
    shown = arguments_digest(shown_arguments(asked))
    is_same = shown == arguments_digest(arguments) and same_arguments(asked.digest, now.digest)
    return Shown.AS_ASKED if is_same else Shown.OTHERS


def asked_anew(
    decision: PermissionDecision, shown: Shown, *, unchanged: bool
) -> PermissionDecision:
    """Return the question with the reason why the approval was not enough.

    Args:
        decision: The current decision, an ASK.
        shown: Which arguments the person saw.
        unchanged: Whether tool and basis are the same as in the question.
    """
    why = DANGER_NOT_SHOWN if unchanged else SOMETHING_CHANGED
    if shown is Shown.AS_EDITED:
        why = EDIT_NOT_SHOWN
    elif shown is Shown.OTHERS and unchanged:
        why = REWRITTEN
    told = filter(None, [decision.decision_reason, why])
    return replace(decision, decision_reason="; ".join(told))


def was_shown(asked: PermissionDecision | None, now: PermissionDecision, shown: Shown) -> bool:
    """Return whether an approval of the earlier question also covers the current one.

    Args:
        asked: The decision that the person saw; None if it was lost.
        now: The current decision, an ASK.
        shown: Which arguments the person saw.
    """
    if asked is None or shown is Shown.OTHERS:
        return False
    if not now.bypass_immune:
        return True
    is_same = asked.bypass_immune and asked.message == now.message
    return is_same and shown is Shown.AS_ASKED
