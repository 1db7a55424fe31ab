"""Carries the messages of a connection; loads the MCP library, when a client first connects."""

from agentscope_like.mcp.transport.opening import open_transport
from agentscope_like.mcp.transport.oversized import MAX_MESSAGE_BYTES
from agentscope_like.mcp.transport.watch import ANSWER, Answer, Watch

__all__ = ["ANSWER", "MAX_MESSAGE_BYTES", "Answer", "Watch", "open_transport"]
