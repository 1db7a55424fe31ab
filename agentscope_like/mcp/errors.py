"""Defines the errors of MCP servers.

::

    AgentOrientedException
    └── MCPCallError           a call that its server did not answer; the model is told
    DeveloperOrientedException
    └── MCPConnectionError     a server that cannot be reached, or was not connected to
    ConnectionLostError        a connection that ended first; becomes one of the two
"""

from __future__ import annotations

from agentscope_like.exception import AgentOrientedException, DeveloperOrientedException

__all__ = ["ConnectionLostError", "MCPCallError", "MCPConnectionError"]


class MCPCallError(AgentOrientedException):
    """A call that its server refused, did not answer in time, or could not be sent to."""


class MCPConnectionError(DeveloperOrientedException):
    """A server that cannot be reached, or that the program did not connect to."""


class ConnectionLostError(Exception):
    """The connection ended before the answer came.

    Args:
        may_have_run: Whether the server may have got the request.
    """

    def __init__(self, *, may_have_run: bool) -> None:
        super().__init__("the connection was lost")
        self.may_have_run = may_have_run
