"""Defines `Action`, the validated arguments of a typed tool's call."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentscope_like.typed.schema import Schema
from agentscope_like.typed.secret_fields import shown_fields

if TYPE_CHECKING:
    from rich.text import Text

__all__ = ["Action"]


class Action(Schema):
    """What a model wants a typed tool to do; its fields are the tool's arguments (seed 004)."""

    @property
    def visualize(self) -> Text:
        """Return the action for a terminal: its class, then each field that was given."""
        from rich.text import Text

        text = Text()
        text.append(type(self).__name__, style="bold")
        for name, value in shown_fields(self).items():
            text.append(f"\n{name}: ", style="dim")
            text.append(value)
        return text
