"""Where an MCP server is, and how to reach it."""

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
    """How messages travel."""

    STDIO = "stdio"
    STREAMABLE_HTTP = "streamable_http"
    SSE = "sse"


class MCPConfig(BaseModel):
    """What every configuration has in common: unknown fields are refused, with the nearest one."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def _known_fields(cls, data: Any) -> Any:
        known = cls.model_fields
        if isinstance(data, dict) and (unknown := [name for name in data if name not in known]):
            raise ValueError(f"unknown field {unknown[0]!r}{nearest(str(unknown[0]), known)}")
        return data


class StdioMCPConfig(MCPConfig):
    """A server that is a program of its own, started by the client.

    It gets `HOME`, `LOGNAME`, `PATH`, `SHELL`, `TERM` and `USER` of this process's environment, and
    nothing else that is not in `env`: no credentials by accident.

    Attributes:
        command: The program; found on `PATH` if it is a bare name.
        args: Its arguments; no shell reads them.
        env: Further environment variables.
        cwd: The directory that it runs in; by default this process's.
        encoding_error_handler: What becomes of bytes from the server that are not UTF-8.
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
        url: The server's address. A path that ends in `/sse` or `/messages` means the older
            transport of server-sent events; any other, streamable HTTP.
        headers: Sent with every request, such as `Authorization`.
        timeout: Seconds to connect and to send; None sets no limit. How long an answer may take is
            `connection_timeout` and `execution_timeout` of the client.
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
