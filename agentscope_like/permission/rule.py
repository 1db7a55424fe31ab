"""A rule: what to do with the calls of one tool that it matches."""

from __future__ import annotations

from typing import Any, Self

from pydantic import BaseModel, ConfigDict, field_validator, model_validator

from agentscope_like.nearest import nearest, refuse_unknown_fields
from agentscope_like.paths import PermissionConfigError
from agentscope_like.permission.mode import PermissionBehavior
from agentscope_like.permission.text import Text

__all__ = ["PermissionRule", "RuleError"]


class RuleError(PermissionConfigError):
    """A rule in the wrong list, for an unknown tool, or with a content that its tool refuses."""


_BEHAVIORS = [
    each.value for each in PermissionBehavior if each is not PermissionBehavior.PASSTHROUGH
]


class PermissionRule(BaseModel):
    """An immutable rule; where pydantic validates one, its text will do: `allow Bash(npm run:*)`.

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

    @classmethod
    def parse(
        cls, text: str, behavior: PermissionBehavior | None = None, *, source: str = "user"
    ) -> Self:
        """Return the rule that `text` spells: `allow Bash(npm run:*)` or `deny Read(secrets/**)`.

        Args:
            text: The behaviour, the tool's name, and in parentheses what its calls look like; a
                name alone matches every call of the tool.
            behavior: The rule's behaviour; the text may then leave it out: `Bash(npm run:*)`.
            source: Where the rule comes from, for explanations.

        Raises:
            RuleError: The text is not a rule, or names another behaviour than `behavior`.
        """
        behavior, rest = _split_behavior(text.strip(), behavior)
        name, opened, content = rest.partition("(")
        name = name.strip()
        if not name or " " in name or (opened and not content.endswith(")")):
            raise RuleError(
                f"{text!r} is not a rule: write the tool, and in parentheses what its calls look "
                "like, for example `Bash(npm run:*)`"
            )
        return cls(
            tool_name=name,
            rule_content=content[:-1] if opened else None,
            behavior=behavior,
            source=source,
        )

    @model_validator(mode="before")
    @classmethod
    def _read(cls, data: Any) -> Any:
        if isinstance(data, str):
            return dict(cls.parse(data))
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


def _split_behavior(text: str, given: PermissionBehavior | None) -> tuple[PermissionBehavior, str]:
    word, _, rest = text.partition(" ")
    if word in _BEHAVIORS:
        said = PermissionBehavior(word)
        if given is not None and given is not said:
            raise RuleError(
                f"`{text}` stands where {given.value} rules are taken: leave out {word!r}, or move "
                "the rule"
            )
        return said, rest
    if given is None:
        raise RuleError(
            f"a rule begins with one of {', '.join(_BEHAVIORS)}, as `allow Bash(npm run:*)` does; "
            f"{text!r} begins with {word!r}{nearest(word, _BEHAVIORS)}"
        )
    return given, text
