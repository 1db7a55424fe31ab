"""Defines what a server asks a person, and the person's answer."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Literal

from msgspec import Struct

from agentscope_like.permission.explain import visible

__all__ = ["Elicitation", "ElicitationAnswer", "ElicitationHandler"]


class Elicitation(Struct, frozen=True):
    """A question of a server to a person, while a call of it runs.

    All of it but the server's name was written by the server, and is not trusted.

    Attributes:
        server: The server's name in this program.
        message: What the server asks.
        schema: The JSON Schema of the values to give; None if a page is to be visited.
        url: The page to visit; None if values are to be given.
    """

    server: str
    message: str
    schema: dict[str, Any] | None = None
    url: str | None = None

    def __str__(self) -> str:
        """Return the question, labelled with its server, and safe to print."""
        fields = ", ".join((self.schema or {}).get("properties", ()))
        asked = f" (values: {visible(fields, layout='')})" if fields else ""
        page = f" (page: {visible(self.url, layout='')})" if self.url is not None else ""
        return f"The MCP server {self.server!r} asks: {visible(self.message)}{asked}{page}"


class ElicitationAnswer(Struct, frozen=True):
    """A person's answer.

    Attributes:
        action: `accept`, `decline`, or `cancel` if the person did not choose.
        values: The values, if accepted.
    """

    action: Literal["accept", "decline", "cancel"]
    values: dict[str, Any] | None = None


ElicitationHandler = Callable[[Elicitation], Awaitable[ElicitationAnswer]]
"""Asks a person."""
