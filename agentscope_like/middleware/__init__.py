"""Layers around calls."""

from agentscope_like.middleware.base import NextHandler, ToolLike, ToolMiddlewareBase
from agentscope_like.middleware.onion import wrap_call, wrap_stream

__all__ = ["NextHandler", "ToolLike", "ToolMiddlewareBase", "wrap_call", "wrap_stream"]
