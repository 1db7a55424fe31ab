"""Defines `ToolAnnotations`, what a tool claims about itself."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

__all__ = ["ToolAnnotations"]


class ToolAnnotations(BaseModel):
    """Hints about a tool, as MCP names them (seed 004).

    They are claims: without `trust` they count only where they make a call ask.

    Attributes:
        title: Its name for people.
        readOnlyHint: Whether it changes nothing.
        destructiveHint: Whether it may destroy data, if it changes something.
        idempotentHint: Whether it is harmless to run a call again.
        openWorldHint: Whether it reaches outside, such as into the network.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    title: str | None = None
    readOnlyHint: bool = False  # noqa: N815 - the names of the protocol
    destructiveHint: bool = True  # noqa: N815
    idempotentHint: bool = False  # noqa: N815
    openWorldHint: bool = True  # noqa: N815
