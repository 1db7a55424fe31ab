"""Reads a web address strictly, so that the host that is decided about is the one connected to."""

from __future__ import annotations

import ipaddress
import re
from urllib.parse import quote, urljoin, urlsplit

from msgspec import Struct

from agentscope_like.exception import ToolArgumentError

__all__ = ["WebAddress", "host_objection", "read_address", "read_host", "redirect_target"]

DEFAULT_PORTS = {"http": 80, "https": 443}

_MOST_CHARACTERS = 8192
_MOST_HOST_CHARACTERS = 253
_LAST_PORT = 65535
_NOT_READ_ALIKE = re.compile(r"[\x00-\x20\x7f\\]")
"""Programs disagree about which host an address with these names."""

_HOST = re.compile(r"(?:[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?\.)*[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?")
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")
_SENT_AS_IS = "!$%&'()*+,-./:;=?@_~[]"


class WebAddress(Struct, frozen=True):
    """A web address without user, password and fragment.

    Attributes:
        scheme: `http` or `https`.
        host: In lower case and ASCII, without a final dot; an IPv6 address without brackets.
        port: The port to connect to.
        target: The path and query.
    """

    scheme: str
    host: str
    port: int
    target: str

    @property
    def authority(self) -> str:
        """Return the host, with the port unless it is the scheme's own."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.has_default_port else f"{host}:{self.port}"

    @property
    def has_default_port(self) -> bool:
        """Return whether the port is the scheme's own."""
        return self.port == DEFAULT_PORTS[self.scheme]

    @property
    def url(self) -> str:
        """Return the address as text."""
        return f"{self.scheme}://{self.authority}{self.target}"

    def is_reached_from(self, before: WebAddress) -> bool:
        """Return whether a redirect from `before` stays with the same server.

        The same host by https instead of http, both on their own ports, is the same server.
        """
        if self.host != before.host:
            return False
        if (self.scheme, self.port) == (before.scheme, before.port):
            return True
        is_upgrade = (before.scheme, self.scheme) == ("http", "https")
        return is_upgrade and before.has_default_port and self.has_default_port


def read_address(url: str) -> WebAddress:
    """Return the parts of an address.

    Raises:
        ToolArgumentError: It is no http or https address, or programs disagree about its host.
    """
    if len(url) > _MOST_CHARACTERS:
        raise _refused(url, f"it has more than {_MOST_CHARACTERS:,} characters")
    if _NOT_READ_ALIKE.search(url):
        raise _refused(url, "it contains a space, a control character or a backslash")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise _refused(url, str(error)) from error
    scheme = parts.scheme.lower()
    if scheme not in DEFAULT_PORTS:
        raise _refused(url, "it has to begin with https:// or http://")
    if "@" in parts.netloc:
        raise _refused(url, "a user or password in front of the host is not sent")
    if port is not None and not 0 < port <= _LAST_PORT:
        raise _refused(url, "its port is not one")
    host = read_host(parts.hostname or "")
    if (objection := host_objection(host)) is not None:
        raise _refused(url, objection)
    path = quote(parts.path or "/", safe=_SENT_AS_IS)
    query = f"?{quote(parts.query, safe=_SENT_AS_IS)}" if parts.query else ""
    return WebAddress(scheme, host, port or DEFAULT_PORTS[scheme], path + query)


def redirect_target(location: str, before: WebAddress) -> WebAddress:
    """Return where a redirect leads.

    Raises:
        ToolArgumentError: As `read_address`.
    """
    try:
        joined = urljoin(before.url, location.strip())
    except ValueError as error:
        raise _refused(location, str(error)) from error
    return read_address(joined)


def read_host(text: str) -> str:
    """Return a host in the one form that hosts are compared in."""
    host = text.lower().removesuffix(".")
    if host.isascii():
        return host
    try:
        return host.encode("idna").decode("ascii").lower()
    except UnicodeError:
        return host


def host_objection(host: str) -> str | None:
    """Return why a host is not one, or None."""
    if ":" in host:
        return None if _is_address(host) else f"{host!r} is no IPv6 address"
    if len(host) > _MOST_HOST_CHARACTERS or not _HOST.fullmatch(host):
        return f"{host!r} is not the name of a host"
    if _NUMBER.fullmatch(host.rpartition(".")[2]) and not _is_address(host):
        return f"{host!r} may be another spelling of an address; write four decimal numbers"
    return None


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return "%" not in text


def _refused(url: str, reason: str) -> ToolArgumentError:
    return ToolArgumentError(f"{url[:200]!r} is no address that can be fetched: {reason}.")
