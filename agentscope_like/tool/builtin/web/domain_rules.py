"""Matches the domains of rules for `WebFetch`: `domain:docs.python.org`."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator, Sequence
from typing import Any, Self

from msgspec import Struct

from agentscope_like.exception import ToolArgumentError
from agentscope_like.permission import PermissionBehavior, RuleError
from agentscope_like.tool.builtin.web.web_address import (
    WebAddress,
    host_objection,
    read_address,
    read_host,
)

__all__ = ["Domain", "DomainRules", "domain_content", "read_domain"]

_PREFIX = "domain:"
_BELOW = "*."
_LAST_PORT = 65535


class Domain(Struct, frozen=True):
    """The domain of a rule.

    Attributes:
        host: The host.
        port: The port; None if the rule names none.
        is_below: Whether it stands for the hosts below `host` only: `*.python.org`.
    """

    host: str
    port: int | None
    is_below: bool


class DomainRules:
    """The domains of many rules; matching takes the same time for any number of them.

    An allow rule for `domain:python.org` matches this host alone, on the port of the scheme, and
    `domain:*.python.org` the hosts below it. A deny or ask rule also matches the hosts below, and
    any port, because it can only tighten.

    Args:
        contents: The contents of the rules.
        behavior: Their behaviour.

    Raises:
        RuleError: One of them is no domain.
    """

    def __init__(self, contents: Sequence[str], behavior: PermissionBehavior) -> None:
        self._contents = list(contents)
        self._behavior = behavior
        self._positions: dict[Domain, int] = {}
        for position, content in enumerate(contents):
            self._positions.setdefault(read_domain(content), position)

    def extended(self, content: str) -> Self:
        """Return a matcher for these contents and one more."""
        return type(self)([*self._contents, content], self._behavior)

    def match(self, call: Any) -> int | None:
        """Return the position of the first content that matches the call, or None."""
        try:
            address = read_address(call.tool_input["url"])
        except ToolArgumentError:
            return None  # the tool's own check refuses it
        found = [self._positions[one] for one in self._wanted(address) if one in self._positions]
        return min(found, default=None)

    def _wanted(self, address: WebAddress) -> Iterator[Domain]:
        """Return the domains that a matching rule may have."""
        tightens = self._behavior is not PermissionBehavior.ALLOW
        ports: list[int | None] = [address.port]
        if tightens or address.has_default_port:
            ports.append(None)
        for port in ports:
            yield Domain(address.host, port, is_below=False)
            for parent in _parents(address.host):
                yield Domain(parent, port, is_below=True)
                if tightens:
                    yield Domain(parent, port, is_below=False)


def read_domain(content: str) -> Domain:
    """Return the domain of a rule's content.

    Raises:
        RuleError: It is none.
    """
    rest = content.removeprefix(_PREFIX)
    if rest == content:
        raise _unreadable(content, "it has to begin with `domain:`")
    is_below = rest.startswith(_BELOW)
    name, port = _split_port(content, rest.removeprefix(_BELOW))
    host = read_host(name)
    objection = host_objection(host)
    if objection is None and is_below and _is_address(host):
        objection = "there are no hosts below an address"
    if objection is not None:
        raise _unreadable(content, objection)
    return Domain(host, port, is_below)


def domain_content(address: WebAddress) -> str:
    """Return the content of a rule for the host and port of an address."""
    return f"{_PREFIX}{address.authority}"


def _split_port(content: str, text: str) -> tuple[str, int | None]:
    if text.startswith("["):
        name, closed, after = text[1:].partition("]")
        if not closed or (after and not after.startswith(":")):
            raise _unreadable(content, "an IPv6 address is written in brackets")
        colon, port = after[:1], after[1:]
    else:
        name, colon, port = text.partition(":")
    if not colon:
        return name, None
    if not (port.isascii() and port.isdecimal() and 0 < int(port[:6]) <= _LAST_PORT):
        raise _unreadable(content, f"{port!r} is no port")
    return name, int(port)


def _parents(host: str) -> Iterator[str]:
    if _is_address(host):
        return
    while host := host.partition(".")[2]:
        yield host


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def _unreadable(content: str, reason: str) -> RuleError:
    return RuleError(
        f"the rule content {content!r} is no domain: {reason}. Write a host, such as "
        "`domain:docs.python.org` or `domain:*.python.org`; without content, the rule is for all "
        "pages"
    )
