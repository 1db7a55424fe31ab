"""Layers around calls."""

from agentscope_like.middleware.base import NextHandler, ToolLike, ToolMiddlewareBase
from agentscope_like.middleware.hooks import MiddlewareBase, hook_onion, system_prompt
from agentscope_like.middleware.log import LoggingMiddleware
from agentscope_like.middleware.onion import wrap_call, wrap_stream
from agentscope_like.middleware.output_store import DirectoryOutputStore, OutputStore
from agentscope_like.middleware.retry import RetryMiddleware
from agentscope_like.middleware.timeout import TimeoutMiddleware
from agentscope_like.middleware.tokens import TokenCounter, TokenEstimator
from agentscope_like.middleware.truncate import TruncateMiddleware, truncate_response

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
    "ToolLike",
    "ToolMiddlewareBase",
    "TruncateMiddleware",
    "hook_onion",
    "system_prompt",
    "truncate_response",
    "wrap_call",
    "wrap_stream",
]
