"""Defines `ToolSpec`, the description of a tool for a model."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from agentscope_like.tool.base import ToolBase
from agentscope_like.tool.risk_label import with_label
from agentscope_like.tool.tool_names import shown_name

__all__ = ["ToolSpec"]


class ToolSpec(Struct, frozen=True):
    """The description of a tool for a model (seed 000, 1.1).

    Attributes:
        name: Its name.
        description: What it does.
        input_schema: JSON Schema of its arguments.
    """

    name: str
    description: str
    input_schema: dict[str, Any]

    @classmethod
    def of(cls, tool: ToolBase) -> ToolSpec:
        """Return the description of the tool, with the label of risk if it asks for one."""
        schema = with_label(tool.input_schema) if tool.asks_for_risk else tool.input_schema
        return cls(tool.name, tool.description, schema)

    def to_openai(self) -> dict[str, Any]:
        """Return it as a function of OpenAI's API, by the name that a model sees."""
        return {
            "type": "function",
            "function": {
                "name": shown_name(self.name),
                "description": self.description,
                "parameters": self.input_schema,
            },
        }
