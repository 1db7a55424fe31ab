"""Resolves hosts, and refuses addresses that are not of the public internet."""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from collections.abc import Awaitable, Callable, Collection, Sequence
from typing import TypeAlias

from agentscope_like.exception import ToolArgumentError

__all__ = ["Resolver", "address_objection", "literal_objection", "resolve", "resolved_addresses"]

Resolver: TypeAlias = Callable[[str, int], Awaitable[Sequence[str]]]
"""`async (host, port) -> addresses`."""

_IPAddress: TypeAlias = ipaddress.IPv4Address | ipaddress.IPv6Address

_TRANSLATED = ipaddress.ip_network("64:ff9b::/96")
"""IPv6 addresses that gateways translate to the IPv4 address in their last 32 bits (RFC 6052)."""

_IPV4_BITS = 0xFFFFFFFF


async def resolve(host: str, port: int) -> list[str]:
    """Return the addresses that the system's resolver gives a host.

    Raises:
        OSError: There is no such host.
    """
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [str(entry[4][0]) for entry in found]


async def resolved_addresses(
    host: str, port: int, resolver: Resolver, private_hosts: Collection[str]
) -> list[str]:
    """Return the addresses to connect to.

    Args:
        host: The host.
        port: The port.
        resolver: Looks the host up.
        private_hosts: The hosts that may have any address.

    Raises:
        ToolArgumentError: It has no address, or one that is not public.
    """
    try:
        addresses = list(dict.fromkeys(await resolver(host, port)))
    except (OSError, UnicodeError) as error:
        raise ToolArgumentError(f"The host {host} was not found ({error}).") from error
    if not addresses:
        raise ToolArgumentError(f"The host {host} was not found.")
    if host in private_hosts:
        return addresses
    for address in addresses:
        if (objection := address_objection(address)) is not None:
            raise ToolArgumentError(
                f"{host} was not connected to: it resolves to {address}, {objection}. Only the "
                "user can make that host known."
            )
    return addresses


def literal_objection(host: str) -> str | None:
    """Return why a host is refused before it is resolved, or None: it has to be resolved."""
    if host == "localhost" or host.endswith(".localhost"):
        return "this machine itself"
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return None
    return address_objection(host)


def address_objection(text: str) -> str | None:
    """Return what an address is if it is not one of the public internet, or None."""
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return "which is not an address"
    return next((found for one in _meant(address) if (found := _objection(one))), None)


def _objection(address: _IPAddress) -> str | None:
    if address.is_loopback or address.is_unspecified:
        return "this machine itself"
    if address.is_link_local:
        return "a link-local address, which may be this machine's own metadata service"
    if address.is_multicast:
        return "a multicast address"
    if not address.is_global or address.is_reserved or getattr(address, "is_site_local", False):
        return "a private or reserved address"
    return None


def _meant(address: _IPAddress) -> list[_IPAddress]:
    """Return the address and the IPv4 addresses that it stands for."""
    if isinstance(address, ipaddress.IPv4Address):
        return [address]
    if address.ipv4_mapped is not None:
        return [address.ipv4_mapped]
    embedded: list[_IPAddress] = []
    if address.sixtofour is not None:
        embedded.append(address.sixtofour)
    if address.teredo is not None:
        embedded.extend(address.teredo)
    if address in _TRANSLATED:
        return [ipaddress.IPv4Address(int(address) & _IPV4_BITS)]
    return [address, *embedded]
