"""The record of a doubt: why a part of a command is not proven to be read-only."""

from __future__ import annotations

from msgspec import Struct

from agentscope_like.shell.syntax.tree import Span

__all__ = ["Doubt"]


class Doubt(Struct, frozen=True, gc=False):
    """Why a part is not proven to be read-only: a sentence for a person, and its span."""

    message: str
    span: Span
