"""Defines `ToolChoice`, the tools that a model may or must call."""

from __future__ import annotations

from typing import Self

from pydantic import BaseModel, ConfigDict, model_validator

from agentscope_like.tool.tool_names import shown_name

__all__ = ["ToolChoice"]

_MODES = ("auto", "none", "required")


class ToolChoice(BaseModel):
    """The tools that a model may or must call in one round.

    Attributes:
        mode: `"auto"` (the model chooses), `"none"` (no tool), `"required"` (at least one), or the
            name of the one tool that it must call.
        tools: The names it may choose from; None means every tool in the request.

    Raises:
        pydantic.ValidationError: A name is blank, a list is empty or names a tool twice, or the
            tool in `mode` is not in `tools`.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    mode: str
    tools: list[str] | None = None

    @property
    def tool_name(self) -> str | None:
        """Return the one tool that must be called, or None if `mode` names none."""
        return None if self.mode in _MODES else self.mode

    def for_model(self) -> ToolChoice:
        """Return the choice by the names that a model sees."""
        tools = None if self.tools is None else [shown_name(name) for name in self.tools]
        return ToolChoice(mode=shown_name(self.mode), tools=tools)

    @model_validator(mode="after")
    def _refuse_contradictions(self) -> Self:
        names = [self.mode, *(self.tools or [])]
        if any(not name or name != name.strip() for name in names):
            raise ValueError(f"a tool's name cannot be blank or padded with blanks: {names!r}")
        if self.tools is None:
            return self
        if not self.tools:
            raise ValueError("`tools` is empty: leave it out, or use the mode 'none' for no tool")
        if len(set(self.tools)) < len(self.tools):
            raise ValueError(f"`tools` names a tool twice: {self.tools!r}")
        if self.tool_name is not None and self.tool_name not in self.tools:
            raise ValueError(
                f"`mode` demands {self.tool_name!r}, which is not in `tools` {self.tools!r}: "
                "add it there, or choose 'auto', 'none' or 'required'"
            )
        return self
