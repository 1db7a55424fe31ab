"""Caches the data that a toolkit computes from a tool's definition."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from msgspec.json import Encoder

from agentscope_like.tool.arguments import ArgumentValidator
from agentscope_like.tool.base import ToolBase
from agentscope_like.tool.call.grant import definition_digest
from agentscope_like.tool.group import BASIC
from agentscope_like.tool.risk_label import label_name
from agentscope_like.tool.spec import ToolSpec

__all__ = ["RegisteredTool"]


_encoded = Encoder(enc_hook=repr).encode


@dataclass(slots=True)
class RegisteredTool:
    """A tool with its group and data computed once for each state of its definition."""

    tool: ToolBase
    group: str = BASIC
    _validator: ArgumentValidator | None = field(default=None, repr=False)
    _definition: str | None = field(default=None, repr=False)
    _label: str | None = field(default=None, repr=False)
    _said: bytes = field(default=b"", repr=False)

    @property
    def validator(self) -> ArgumentValidator:
        """Return the validator of its arguments."""
        self._forget_if_changed()
        if self._validator is None:
            self._validator = self.tool.argument_validator()
        return self._validator

    @property
    def definition(self) -> str:
        """Return the digest of its definition."""
        self._forget_if_changed()
        if self._definition is None:
            self._definition = definition_digest(self.tool)
        return self._definition

    def split(self, arguments: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the tool's own arguments, and the model's label of the risk, if it gave one."""
        if not self.tool.asks_for_risk:
            return arguments, {}
        self._forget_if_changed()
        if self._label is None:
            self._label = label_name(self.tool.input_schema)
        label = {key: value for key, value in arguments.items() if key == self._label}
        return {key: value for key, value in arguments.items() if key not in label}, label

    def _forget_if_changed(self) -> None:
        """Forget what was computed from a definition that was changed in place since."""
        tool = self.tool
        said = _encoded((tool.name, tool.description, tool.input_schema))
        if said != self._said:
            self._said, self._validator, self._definition, self._label = said, None, None, None

    @property
    def schema(self) -> dict[str, Any]:
        """Return its schema for the model, in the chat-completions form."""
        return ToolSpec.of(self.tool).to_openai()
