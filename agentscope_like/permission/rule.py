"""A rule: what to do with the calls of one tool that it matches."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, field_validator, model_validator

from agentscope_like.nearest import refuse_unknown_fields
from agentscope_like.permission.mode import PermissionBehavior
from agentscope_like.permission.text import Text

__all__ = ["PermissionRule"]


class PermissionRule(BaseModel):
    """An immutable rule.

    Attributes:
        tool_name: The tool's name, such as `Bash`.
        rule_content: What the tool's calls must look like, in the tool's own pattern language
            (`npm run:*` for Bash, `src/**` for the file tools); None matches every call.
        behavior: ALLOW, DENY or ASK.
        source: Where the rule came from, for explanations.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    tool_name: Text
    rule_content: Text | None = None
    behavior: PermissionBehavior
    source: Text = "user"

    @model_validator(mode="before")
    @classmethod
    def _known_fields(cls, data: Any) -> Any:
        refuse_unknown_fields(data, cls.model_fields)
        return data

    @field_validator("tool_name")
    @classmethod
    def _names_a_tool(cls, name: str) -> str:
        if not name.strip():
            raise ValueError("a rule names a tool, such as `Bash`; this one names none")
        return name

    @field_validator("behavior")
    @classmethod
    def _decides(cls, behavior: PermissionBehavior) -> PermissionBehavior:
        if behavior is PermissionBehavior.PASSTHROUGH:
            raise ValueError("a rule must allow, deny or ask; `passthrough` decides nothing")
        return behavior

    def __str__(self) -> str:
        """Return the rule as a person writes it: `allow Bash(npm run:*)`."""
        content = "" if self.rule_content is None else f"({self.rule_content})"
        return f"{self.behavior.value} {self.tool_name}{content}"
