"""Caches the data that a toolkit computes from a tool's definition."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from agentscope_like.tool.arguments import ArgumentValidator
from agentscope_like.tool.base import ToolBase
from agentscope_like.tool.call import definition_digest
from agentscope_like.tool.group import BASIC
from agentscope_like.tool.spec import ToolSpec

__all__ = ["RegisteredTool"]


@dataclass(slots=True)
class RegisteredTool:
    """A tool with its group and data computed once from its definition."""

    tool: ToolBase
    group: str = BASIC
    _validator: ArgumentValidator | None = field(default=None, repr=False)
    _definition: str | None = field(default=None, repr=False)

    @property
    def validator(self) -> ArgumentValidator:
        """Return the validator of its arguments."""
        if self._validator is None:
            tool = self.tool
            self._validator = ArgumentValidator(
                tool.name, tool.input_schema, closed=not tool.is_mcp
            )
        return self._validator

    @property
    def definition(self) -> str:
        """Return the digest of its definition."""
        if self._definition is None:
            self._definition = definition_digest(self.tool)
        return self._definition

    @property
    def schema(self) -> dict[str, Any]:
        """Return its schema for the model, in the chat-completions form."""
        return ToolSpec.of(self.tool).to_openai()
