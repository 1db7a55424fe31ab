"""Lets blocking code use async code, and async code use blocking code."""

from typing import TYPE_CHECKING

from agentscope_like.lazy import on_first_use

if TYPE_CHECKING:
    from agentscope_like.bridge.background_loop import BackgroundLoop
    from agentscope_like.bridge.cancel import Cancellation, cancellation
    from agentscope_like.bridge.loops import iterate, run, shared_loop
    from agentscope_like.bridge.worker_threads import call_in_thread, iterate_in_thread

__all__ = [
    "BackgroundLoop",
    "Cancellation",
    "call_in_thread",
    "cancellation",
    "iterate",
    "iterate_in_thread",
    "run",
    "shared_loop",
]

__getattr__ = on_first_use(
    __name__,
    {
        "BackgroundLoop": "background_loop",
        "Cancellation": "cancel",
        "call_in_thread": "worker_threads",
        "cancellation": "cancel",
        "iterate": "loops",
        "iterate_in_thread": "worker_threads",
        "run": "loops",
        "shared_loop": "loops",
    },
)
