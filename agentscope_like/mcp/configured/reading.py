"""Reads the servers of a configuration, and refuses what it does not understand."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping
from types import MappingProxyType
from typing import Any

from msgspec import Struct
from pydantic import ValidationError

from agentscope_like.exception import ConfigurationError
from agentscope_like.mcp.config import HttpMCPConfig, StdioMCPConfig
from agentscope_like.mcp.configured.variables import Variables
from agentscope_like.mcp.parameters import SseServerParameters, StreamableHttpServerParameters
from agentscope_like.nearest import nearest

__all__ = ["ConfiguredServer", "read_servers"]

_SERVERS = "mcpServers"
_PROGRAM = ("command", "args", "env", "cwd")
_ADDRESS = ("url", "headers")
_EITHER = ("type", "transport", "timeout", "disabled")
_KNOWN = (*_PROGRAM, *_ADDRESS, *_EITHER)
_APPROVALS = ("alwaysAllow", "autoApprove")
_LONGEST = 3600

_PROGRAM_TYPE = "stdio"
_ADDRESS_TYPES: Mapping[str, type[HttpMCPConfig]] = MappingProxyType(
    {
        "http": StreamableHttpServerParameters,
        "streamable-http": StreamableHttpServerParameters,
        "streamable_http": StreamableHttpServerParameters,
        "streamableHttp": StreamableHttpServerParameters,
        "sse": SseServerParameters,
    }
)


class ConfiguredServer(Struct, frozen=True):
    """A server of a configuration.

    Attributes:
        name: Its name in this program.
        config: How to reach it; None if it is disabled, since its variables need not be set then.
        timeout: The timeout of a call in seconds; None for the default.
    """

    name: str
    config: StdioMCPConfig | HttpMCPConfig | None
    timeout: float | None = None

    @property
    def is_disabled(self) -> bool:
        """Return whether it is not to be used."""
        return self.config is None


def read_servers(
    config: Mapping[str, Any],
    variables: Collection[str] = (),
    environ: Mapping[str, str] | None = None,
) -> tuple[ConfiguredServer, ...]:
    """Return the servers of a configuration in the form that clients share (seed 004).

    A server has a `command` with `args`, `env` and `cwd`, or a `url` with `headers`; and either may
    have `type` (or `transport`), `timeout` in seconds, and `disabled`.

    Args:
        config: `{"mcpServers": {NAME: SERVER}}`.
        variables: The environment variables that `${NAME}` in its texts may stand for.
        environ: Their values; by default, those of this process.

    Raises:
        ConfigurationError: A key is unknown, a value does not fit, or a variable is not named or
            not set. The message shows no value of a variable.
    """
    put = Variables(variables, os.environ if environ is None else environ)
    return tuple(_server(name, entry, put) for name, entry in _entries(config).items())


def _entries(config: object) -> Mapping[str, Any]:
    if not isinstance(config, Mapping):
        raise ConfigurationError(
            f"a configuration of MCP servers is {type(config).__name__}: give "
            f'{{"{_SERVERS}": {{NAME: {{"command": ...}}}}}}'
        )
    for key in config:
        if key != _SERVERS:
            raise ConfigurationError(
                f"unknown key {key!r} of a configuration of MCP servers"
                f"{nearest(str(key), [_SERVERS])}; the servers are below {_SERVERS!r}"
            )
    servers = config.get(_SERVERS)
    if not isinstance(servers, Mapping):
        raise ConfigurationError(
            f"{_SERVERS!r} of a configuration of MCP servers is {type(servers).__name__}: give an "
            "object of servers by name"
        )
    return servers


def _server(name: str, entry: object, put: Variables) -> ConfiguredServer:
    where = f"the MCP server {name!r}"
    if not isinstance(entry, Mapping):
        raise ConfigurationError(
            f"{where} is {type(entry).__name__}: give an object with `command` or `url`"
        )
    _check_keys(entry, where)
    kind = _kind(entry, where)
    timeout = _timeout(entry.get("timeout"), where)
    disabled = entry.get("disabled", False)
    if not isinstance(disabled, bool):
        raise ConfigurationError(f"`disabled` of {where} is {disabled!r}: give true or false")
    if disabled:
        return ConfiguredServer(name, None, timeout)
    fields = {key: value for key, value in entry.items() if key not in _EITHER}
    fields = {key: put.expanded(value, key, where) for key, value in fields.items()}
    try:
        return ConfiguredServer(name, kind(**fields), timeout)
    except ValidationError as error:
        told = "; ".join(_described(one) for one in error.errors(include_input=False))
    raise ConfigurationError(f"{where} is not valid: {told}")


def _check_keys(entry: Mapping[str, Any], where: str) -> None:
    for key in entry:
        if key in _APPROVALS:
            raise ConfigurationError(
                f"{where} has {key!r}: a configuration approves no calls. Give allow rules for its "
                "tools, such as `mcp__SERVER__TOOL`"
            )
        if key not in _KNOWN:
            raise ConfigurationError(f"unknown key {key!r} of {where}{nearest(str(key), _KNOWN)}")
    if ("command" in entry) == ("url" in entry):
        raise ConfigurationError(f"{where} needs a `command` or a `url`, one of the two")
    one, strange = ("command", _ADDRESS) if "command" in entry else ("url", _PROGRAM)
    for key in strange:
        if key in entry:
            raise ConfigurationError(f"{where} has a `{one}`, with which `{key}` means nothing")


def _kind(entry: Mapping[str, Any], where: str) -> type[StdioMCPConfig | HttpMCPConfig]:
    """Return the class of its configuration."""
    given = {entry[key] for key in ("type", "transport") if isinstance(entry.get(key), str)}
    strange = [key for key in ("type", "transport") if not isinstance(entry.get(key, ""), str)]
    if strange or len(given) > 1:
        raise ConfigurationError(f"`type` and `transport` of {where} are one: give one text")
    named = given.pop() if given else None
    if "command" in entry:
        if named in (None, _PROGRAM_TYPE):
            return StdioMCPConfig
        known: tuple[str, ...] = (_PROGRAM_TYPE,)
    else:
        if named is None:
            return HttpMCPConfig
        if named in _ADDRESS_TYPES:
            return _ADDRESS_TYPES[named]
        known = tuple(_ADDRESS_TYPES)
    raise ConfigurationError(
        f"{where} has the type {named!r}{nearest(named, known)}; with its `command` or `url` it "
        f"may be {', '.join(known)}"
    )


def _timeout(value: object, where: str) -> float | None:
    if value is None:
        return None
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not 0 < float(str(value)) <= _LONGEST:
        raise ConfigurationError(
            f"`timeout` of {where} is {value!r}: give seconds, more than 0 and at most {_LONGEST}"
        )
    return float(str(value))


def _described(error: Any) -> str:
    """Return what is wrong with a field; it shows no value, which may be secret."""
    where = ".".join(map(str, error["loc"]))
    if where == "url":
        return "`url` is no address of a server: give http://... or https://..."
    return f"`{where}`: {error['msg']}"
