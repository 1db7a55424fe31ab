"""Defines `Action`, the validated arguments of a typed tool's call."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentscope_like.typed.schema import Schema
from agentscope_like.typed.secret_fields import without_values

if TYPE_CHECKING:
    from rich.text import Text

__all__ = ["Action"]

_MOST_SHOWN = 500


class Action(Schema):
    """What a model wants a typed tool to do; its fields are the tool's arguments (seed 004)."""

    @property
    def visualize(self) -> Text:
        """Return the action for a terminal: its class, then what was given, without secrets."""
        from rich.text import Text

        text = Text()
        text.append(type(self).__name__, style="bold")
        hidden = self.__secrets__()
        for name, value in self.__given__().items():
            shown = without_values(value if isinstance(value, str) else repr(value), hidden)
            text.append(f"\n{name}: ", style="dim")
            text.append(shown if len(shown) <= _MOST_SHOWN else f"{shown[:_MOST_SHOWN]}...")
        return text
