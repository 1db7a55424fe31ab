"""Defines how to reach an MCP server."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, PositiveFloat, field_validator, model_validator

from agentscope_like.nearest import nearest

__all__ = ["HttpMCPConfig", "MCPConfig", "StdioMCPConfig", "Transport"]

_SSE_ENDINGS = ("/sse", "/messages")


class Transport(StrEnum):
    """The transport of messages."""

    STDIO = "stdio"
    STREAMABLE_HTTP = "streamable_http"
    SSE = "sse"


class MCPConfig(BaseModel):
    """The base of configurations; refuses unknown fields and suggests the nearest known one."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def _known_fields(cls, data: Any) -> Any:
        known = cls.model_fields
        if isinstance(data, dict) and (unknown := [name for name in data if name not in known]):
            raise ValueError(f"unknown field {unknown[0]!r}{nearest(str(unknown[0]), known)}")
        return data


class StdioMCPConfig(MCPConfig):
    """A server that the client starts as a child process.

    Its environment has `HOME`, `LOGNAME`, `PATH`, `SHELL`, `TERM` and `USER` of this process and
    the variables in `env`, but nothing else, so that credentials do not leak.

    Attributes:
        command: The program; a bare name is looked up on `PATH`.
        args: Its arguments; not interpreted by a shell.
        env: Further environment variables.
        cwd: Its working directory; by default this process's.
        encoding_error_handler: How to decode bytes from the server that are not UTF-8.
    """

    type: Literal["stdio_mcp"] = "stdio_mcp"
    command: str = Field(min_length=1)
    args: list[str] | None = None
    env: dict[str, str] | None = Field(default=None, repr=False)
    cwd: str | Path | None = None
    encoding_error_handler: Literal["strict", "ignore", "replace"] = "strict"

    @property
    def transport(self) -> Transport:
        """Return how messages travel."""
        return Transport.STDIO


class HttpMCPConfig(MCPConfig):
    """A server that is reached over HTTP.

    Attributes:
        url: The server's address. A path that ends in `/sse` or `/messages` selects the older
            transport of server-sent events; any other, streamable HTTP.
        headers: Sent with every request, such as `Authorization`.
        timeout: The timeout for connecting and sending, in seconds; None for no limit. For answers,
            see `connection_timeout` and `execution_timeout` of the client.
    """

    type: Literal["http_mcp"] = "http_mcp"
    url: str
    headers: dict[str, str] | None = Field(default=None, repr=False)
    timeout: PositiveFloat | None = 30.0

    @field_validator("url")
    @classmethod
    def _is_http(cls, url: str) -> str:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(
                f"{url!r} is not the address of a server: give http://... or https://..."
            )
        return url

    @property
    def transport(self) -> Transport:
        """Return how messages travel."""
        path = urlsplit(self.url).path.rstrip("/")
        return Transport.SSE if path.endswith(_SSE_ENDINGS) else Transport.STREAMABLE_HTTP
