"""Runs one command on a layer, kept by the kernel to the working directories and to itself."""

from typing import TYPE_CHECKING

from agentscope_like.lazy import on_first_use

if TYPE_CHECKING:
    from agentscope_like.sandbox.held.credentials import HeldCredentials
    from agentscope_like.sandbox.held.held_run import TEMPORARY_PLACES, HeldRun
    from agentscope_like.sandbox.held.objection import held_objection
    from agentscope_like.sandbox.held.refusals import HeldEnd, Refusal, RefusalKind, find_refusal
    from agentscope_like.sandbox.held.watch import HeldLimits

__all__ = [
    "TEMPORARY_PLACES",
    "HeldCredentials",
    "HeldEnd",
    "HeldLimits",
    "HeldRun",
    "Refusal",
    "RefusalKind",
    "find_refusal",
    "held_objection",
]

__getattr__ = on_first_use(
    __name__,
    {
        "HeldCredentials": "credentials",
        "HeldEnd": "refusals",
        "HeldLimits": "watch",
        "HeldRun": "held_run",
        "TEMPORARY_PLACES": "held_run",
        "Refusal": "refusals",
        "RefusalKind": "refusals",
        "find_refusal": "refusals",
        "held_objection": "objection",
    },
)
