"""Decides one tool call, grants it, and runs it."""

from typing import TYPE_CHECKING

from agentscope_like.lazy import on_first_use

if TYPE_CHECKING:
    from agentscope_like.tool.call.decided_call import (
        CallRequest,
        DecidedCall,
        DecisionLayer,
        refused,
    )
    from agentscope_like.tool.call.decision import (
        decided_within,
        failure_before_asking,
        within_label,
    )
    from agentscope_like.tool.call.execution import RunLayer, run_granted, says_something
    from agentscope_like.tool.call.grant import (
        Grant,
        same_places,
        same_subject,
    )
    from agentscope_like.tool.call.grant_check import check_changed, check_holds, digest_of
    from agentscope_like.tool.call.held_answer import (
        check_apply_answer,
        not_applied,
        park,
        refuse_held,
        run_apply,
    )
    from agentscope_like.tool.call.human_answer import (
        EDITED,
        Shown,
        as_decided,
        asked_anew,
        check_answer,
        edited_input,
        rejection,
        shown_arguments,
        was_shown,
        what_was_shown,
    )
    from agentscope_like.tool.call.registered_tool import RegisteredTool
    from agentscope_like.tool.call.resource_run import claim_of, within_resources

__all__ = [
    "EDITED",
    "CallRequest",
    "DecidedCall",
    "DecisionLayer",
    "Grant",
    "RegisteredTool",
    "RunLayer",
    "Shown",
    "as_decided",
    "asked_anew",
    "check_answer",
    "check_apply_answer",
    "check_changed",
    "check_holds",
    "claim_of",
    "decided_within",
    "digest_of",
    "edited_input",
    "failure_before_asking",
    "not_applied",
    "park",
    "refuse_held",
    "refused",
    "rejection",
    "run_apply",
    "run_granted",
    "same_places",
    "same_subject",
    "says_something",
    "shown_arguments",
    "was_shown",
    "what_was_shown",
    "within_label",
    "within_resources",
]

__getattr__ = on_first_use(
    __name__,
    {
        "CallRequest": "decided_call",
        "DecidedCall": "decided_call",
        "DecisionLayer": "decided_call",
        "EDITED": "human_answer",
        "Grant": "grant",
        "RegisteredTool": "registered_tool",
        "RunLayer": "execution",
        "Shown": "human_answer",
        "as_decided": "human_answer",
        "asked_anew": "human_answer",
        "check_answer": "human_answer",
        "check_apply_answer": "held_answer",
        "check_changed": "grant_check",
        "check_holds": "grant_check",
        "claim_of": "resource_run",
        "decided_within": "decision",
        "digest_of": "grant_check",
        "failure_before_asking": "decision",
        "edited_input": "human_answer",
        "not_applied": "held_answer",
        "park": "held_answer",
        "refuse_held": "held_answer",
        "refused": "decided_call",
        "rejection": "human_answer",
        "run_apply": "held_answer",
        "run_granted": "execution",
        "same_places": "grant",
        "same_subject": "grant",
        "says_something": "execution",
        "shown_arguments": "human_answer",
        "was_shown": "human_answer",
        "what_was_shown": "human_answer",
        "within_label": "decision",
        "within_resources": "resource_run",
    },
)
