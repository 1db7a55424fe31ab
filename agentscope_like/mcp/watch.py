"""What is seen of a connection besides its messages."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextvars import ContextVar
from typing import Any

from agentscope_like.permission.explain import visible

__all__ = ["ANSWER", "Answer", "Watch"]

_KEPT_BYTES = 2000
_FIRST_ERROR_STATUS = 400
_SENDING = ".send_request_headers.started"


class Answer:
    """What is seen of one request over HTTP, and of its answer.

    Attributes:
        is_sent: Whether it was begun to be sent.
        is_forgotten: Whether the server no longer knows the session, and so refused the request.
    """

    def __init__(self) -> None:
        self.is_sent = False
        self.is_forgotten = False

    async def trace(self, event: str, info: Mapping[str, Any]) -> None:
        """Take what the HTTP library tells of its progress."""
        del info
        self.is_sent = self.is_sent or event.endswith(_SENDING)


ANSWER: ContextVar[Answer | None] = ContextVar("ANSWER", default=None)
"""Of the request that is being sent; the library carries the context to where it is sent."""


class Watch:
    """Notes that a connection has ended, and what may explain it.

    Attributes:
        ended: Set once no further answer can come.
    """

    def __init__(self) -> None:
        self.ended = asyncio.Event()
        self._error_output = b""
        self._http_status: int | None = None

    def printed(self, data: bytes) -> None:
        """Note what the server's program wrote to its standard error; the last of it is kept."""
        self._error_output = (self._error_output + data)[-_KEPT_BYTES:]

    def answered(self, status: int) -> None:
        """Note the status of an HTTP answer, where it is an error."""
        if status >= _FIRST_ERROR_STATUS:
            self._http_status = status

    @property
    def clues(self) -> str:
        """Return what was noted, as the end of a sentence; an empty string for nothing."""
        found = f" (HTTP status {self._http_status})" if self._http_status is not None else ""
        if output := self._error_output.decode(errors="replace").strip():
            found += f". Its program printed: {visible(output)}"
        return found
