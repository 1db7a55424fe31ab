"""Decides and runs the tool calls of a reply, in batches and with hooks."""

from typing import TYPE_CHECKING

from agentscope_like.lazy import on_first_use

if TYPE_CHECKING:
    from agentscope_like.agent.calls.answer_checks import (
        check_confirmations,
        check_results,
        new_rules,
    )
    from agentscope_like.agent.calls.call_batches import Acting
    from agentscope_like.agent.calls.call_runner import CallRunner
    from agentscope_like.agent.calls.middleware_hooks import checked_middlewares, decision_layers

__all__ = [
    "Acting",
    "CallRunner",
    "check_confirmations",
    "check_results",
    "checked_middlewares",
    "decision_layers",
    "new_rules",
]

__getattr__ = on_first_use(
    __name__,
    {
        "Acting": "call_batches",
        "CallRunner": "call_runner",
        "check_confirmations": "answer_checks",
        "check_results": "answer_checks",
        "checked_middlewares": "middleware_hooks",
        "decision_layers": "middleware_hooks",
        "new_rules": "answer_checks",
    },
)
