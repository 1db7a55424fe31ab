"""Limits the size of a server's messages.

This module loads the MCP library; it is imported when a client first connects.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from typing import Any

import httpx2
from mcp_types import INTERNAL_ERROR, ErrorData, JSONRPCError
from msgspec import json

__all__ = ["MAX_MESSAGE_BYTES", "LimitedStream", "refusal_of"]

MAX_MESSAGE_BYTES = 64 * 1024 * 1024
"""The maximum size of one message of a server; what is larger is not read."""

_ID = re.compile(rb'"id"\s*:\s*("(?:[^"\\]|\\.)*"|\d+)')
_LOOKED_AT = 500


def refusal_of(beginning: bytes, size: int) -> JSONRPCError | None:
    """Return the error that stands for an answer that is too large; None if it answers nobody.

    Args:
        beginning: How the message begins.
        size: How many bytes it has.
    """
    found = _ID.search(beginning[:_LOOKED_AT])
    if found is None:
        return None
    told = (
        f"the answer has {size:,} bytes, of which at most {MAX_MESSAGE_BYTES:,} are read; the call "
        "may have had its effect"
    )
    error = ErrorData(code=INTERNAL_ERROR, message=told)
    return JSONRPCError(jsonrpc="2.0", id=json.decode(found[1]), error=error)


class LimitedStream(httpx2.AsyncByteStream):
    """The body of an HTTP answer, of which no event is larger than the limit.

    Args:
        inner: The body.
        on_excess: Called once there is more.
    """

    def __init__(self, inner: Any, on_excess: Any) -> None:
        self._inner = inner
        self._on_excess = on_excess

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for piece in self._inner:
            _, end, rest = piece.rpartition(b"\n\n")
            if not end:
                _, end, rest = piece.rpartition(b"\r\n\r\n")
            size = len(rest) if end else size + len(piece)
            if size > MAX_MESSAGE_BYTES:
                self._on_excess()
                raise httpx2.ReadError(f"an answer has more than {MAX_MESSAGE_BYTES:,} bytes")
            yield piece

    async def aclose(self) -> None:
        """Close the body."""
        await self._inner.aclose()
