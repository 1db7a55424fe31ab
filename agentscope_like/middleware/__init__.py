"""Wraps layers around tool calls and the parts of an agent's work.

Modules that a tool declaration does not need are imported on first use.
"""

from typing import TYPE_CHECKING

from agentscope_like.lazy import on_first_use
from agentscope_like.middleware.base import NextHandler, ToolMiddlewareBase
from agentscope_like.middleware.onion import wrap_call, wrap_stream

if TYPE_CHECKING:
    from agentscope_like.middleware.hooks import MiddlewareBase, hook_onion, system_prompt
    from agentscope_like.middleware.log import LoggingMiddleware
    from agentscope_like.middleware.output_store import DirectoryOutputStore, OutputStore
    from agentscope_like.middleware.retry import RetryMiddleware
    from agentscope_like.middleware.timeout import TimeoutMiddleware
    from agentscope_like.middleware.tokens import TokenCounter, TokenEstimator
    from agentscope_like.middleware.truncate import TruncateMiddleware, truncate_response
    from agentscope_like.middleware.turn import Turn

__all__ = [
    "DirectoryOutputStore",
    "LoggingMiddleware",
    "MiddlewareBase",
    "NextHandler",
    "OutputStore",
    "RetryMiddleware",
    "TimeoutMiddleware",
    "TokenCounter",
    "TokenEstimator",
    "ToolMiddlewareBase",
    "TruncateMiddleware",
    "Turn",
    "hook_onion",
    "system_prompt",
    "truncate_response",
    "wrap_call",
    "wrap_stream",
]

__getattr__ = on_first_use(
    __name__,
    {
        "DirectoryOutputStore": "output_store",
        "LoggingMiddleware": "log",
        "MiddlewareBase": "hooks",
        "OutputStore": "output_store",
        "RetryMiddleware": "retry",
        "TimeoutMiddleware": "timeout",
        "TokenCounter": "tokens",
        "TokenEstimator": "tokens",
        "TruncateMiddleware": "truncate",
        "Turn": "turn",
        "hook_onion": "hooks",
        "system_prompt": "hooks",
        "truncate_response": "truncate",
    },
)
