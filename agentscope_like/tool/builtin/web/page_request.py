"""Sends one GET request to an address that was resolved before, within limits."""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import socket
import ssl
import zlib
from collections.abc import Sequence

from msgspec import Struct

from agentscope_like.exception import ToolArgumentError
from agentscope_like.tool.builtin.web.web_address import WebAddress

__all__ = ["Page", "get_page"]

_PIECE = 65536
_ZLIB_WITH_ANY_HEADER = zlib.MAX_WBITS | 32
_HEADERS = {
    "Accept": "text/html, text/*, application/json, application/xml;q=0.9, */*;q=0.5",
    "Accept-Encoding": "identity",
    "Connection": "close",
    "User-Agent": "agentscope-like",
}


class Page(Struct, frozen=True):
    """The answer to a request.

    Attributes:
        status: The HTTP status.
        reason: The words beside it.
        content_type: The media type in lower case, without parameters; empty if not said.
        charset: The character set that the server names; None if it names none.
        location: Where a redirect leads; None without one.
        body: The content, without its transport encoding.
        is_cut: Whether there was more content than the limit.
    """

    status: int
    reason: str
    content_type: str
    charset: str | None
    location: str | None
    body: bytes
    is_cut: bool


async def get_page(
    address: WebAddress, ip_addresses: Sequence[str], *, max_bytes: int, seconds: float
) -> Page:
    """Request a page from the first of the IP addresses that can be connected to.

    The name of the host is not resolved again: what was checked is what is connected to. Proxies of
    the environment are not used, as they would resolve it themselves.

    Args:
        address: The page.
        ip_addresses: Where its host is.
        max_bytes: Most bytes of content to read.
        seconds: Most seconds of silence.

    Raises:
        ToolArgumentError: The server cannot be reached, is not who it says it is, or did not answer
            with HTTP.
    """
    try:
        connection = await _connected(ip_addresses, address.port)
        return await _exchanged(connection, address, max_bytes, seconds)
    except (OSError, http.client.HTTPException, zlib.error, ValueError) as error:
        raise _failed(address, f"{type(error).__name__}: {error}") from error


async def _connected(ip_addresses: Sequence[str], port: int) -> socket.socket:
    loop = asyncio.get_running_loop()
    problem: OSError = OSError("it has no address")
    for ip_address in ip_addresses:
        family = socket.AF_INET6 if ":" in ip_address else socket.AF_INET
        connection = socket.socket(family, socket.SOCK_STREAM)
        connection.setblocking(False)
        try:
            await loop.sock_connect(connection, (ip_address, port))
        except OSError as error:
            problem = error
            connection.close()
        except BaseException:
            connection.close()
            raise
        else:
            return connection
    raise problem


async def _exchanged(
    connection: socket.socket, address: WebAddress, max_bytes: int, seconds: float
) -> Page:
    """Do the exchange in a thread; a cancellation ends it by ending the connection."""
    with connection.dup() as waker:
        work = asyncio.to_thread(_exchange, connection, address, max_bytes, seconds)
        running = asyncio.ensure_future(work)
        try:
            return await asyncio.shield(running)
        except asyncio.CancelledError:
            with contextlib.suppress(OSError):
                waker.shutdown(socket.SHUT_RDWR)
            with contextlib.suppress(Exception):
                await running
            raise


def _exchange(
    connection: socket.socket, address: WebAddress, max_bytes: int, seconds: float
) -> Page:
    connection.settimeout(seconds)
    stream = connection
    try:
        if address.scheme == "https":
            context = ssl.create_default_context()
            stream = context.wrap_socket(connection, server_hostname=address.host)
        exchange = http.client.HTTPConnection(address.host, address.port)
        exchange.sock = stream  # so that it does not connect by itself
        headers = {"Host": address.authority, **_HEADERS}
        with contextlib.closing(exchange):
            exchange.request("GET", address.target, headers=headers)
            with exchange.getresponse() as response:
                return _page(response, max_bytes)
    finally:
        stream.close()
        connection.close()


def _page(response: http.client.HTTPResponse, max_bytes: int) -> Page:
    body = bytearray()
    unpacker = _unpacker(response.getheader("Content-Encoding", ""))
    while len(body) <= max_bytes and (piece := response.read(_PIECE)):
        room = max_bytes + 1 - len(body)
        body += piece if unpacker is None else unpacker.decompress(piece, room)
    return Page(
        status=response.status,
        reason=response.reason,
        content_type=response.headers.get_content_type()
        if "Content-Type" in response.headers
        else "",
        charset=response.headers.get_content_charset(),
        location=response.getheader("Location"),
        body=bytes(body[:max_bytes]),
        is_cut=len(body) > max_bytes,
    )


def _unpacker(encoding: str) -> zlib._Decompress | None:
    """Return what unpacks content that a server packs although it was asked not to."""
    name = encoding.strip().lower()
    if name in ("", "identity"):
        return None
    if name in ("gzip", "x-gzip", "deflate"):
        return zlib.decompressobj(_ZLIB_WITH_ANY_HEADER)
    raise ValueError(f"the content is packed by {name[:40]!r}, which was not asked for")


def _failed(address: WebAddress, reason: str) -> ToolArgumentError:
    return ToolArgumentError(f"{address.url} could not be fetched: {reason}.")
