"""Watches a connection for its end, and for clues to failures."""

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
    """The status of one HTTP request and its answer.

    Attributes:
        is_sent: Whether sending has begun.
        is_forgotten: Whether the server refused the request since it no longer knows the session.
        is_too_large: Whether more came than is read.
    """

    def __init__(self) -> None:
        self.is_sent = False
        self.is_forgotten = False
        self.is_too_large = False

    async def trace(self, event: str, info: Mapping[str, Any]) -> None:
        """Record a trace event of the HTTP library."""
        del info
        self.is_sent = self.is_sent or event.endswith(_SENDING)


ANSWER: ContextVar[Answer | None] = ContextVar("ANSWER", default=None)
"""The answer to the current request; the library passes the context to the sending code."""


class Watch:
    """Records the end of a connection and clues to its cause.

    Attributes:
        ended: Set once no further answer can arrive.
    """

    def __init__(self) -> None:
        self.ended = asyncio.Event()
        self._error_output = b""
        self._noise = b""
        self._http_status: int | None = None

    def printed(self, data: bytes) -> None:
        """Record output of the server's program on stderr; only the end is kept."""
        self._error_output = (self._error_output + data)[-_KEPT_BYTES:]

    def noticed(self, line: bytes) -> None:
        """Record a line on stdout that is no message, such as a banner; the beginning is kept."""
        self._noise = (self._noise + line + b"\n")[:_KEPT_BYTES]

    def overflowed(self, answer: Answer | None) -> None:
        """Record that an answer is too large to be read, which ends the connection."""
        if answer is not None:
            answer.is_too_large = True
        self.ended.set()

    def answered(self, status: int) -> None:
        """Record the status of an HTTP answer if it is an error."""
        if status >= _FIRST_ERROR_STATUS:
            self._http_status = status

    @property
    def clues(self) -> str:
        """Return the clues as the end of a sentence, or an empty string."""
        found = f" (HTTP status {self._http_status})" if self._http_status is not None else ""
        if output := self._error_output.decode(errors="replace").strip():
            found += f". Its program printed: {visible(output)}"
        if noise := self._noise.decode(errors="replace").strip():
            found += f". On stdout, where messages go, it printed: {visible(noise)}"
        return found
