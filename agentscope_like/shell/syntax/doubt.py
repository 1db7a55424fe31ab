"""A doubt about a place in the text of a command."""

from __future__ import annotations

from msgspec import Struct

from agentscope_like.shell.syntax.tree import Span

__all__ = ["Doubt"]


class Doubt(Struct, frozen=True, gc=False):
    """Why a part is not proven to be read-only: a sentence fit for a person, and its place."""

    message: str
    span: Span
