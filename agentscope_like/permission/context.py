"""The policy of a session: its mode, its working directories and its rules."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from operator import attrgetter
from os import PathLike, fspath
from typing import Annotated, Any, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ModelWrapValidatorHandler,
    model_validator,
)

from agentscope_like.nearest import refuse_unknown_fields
from agentscope_like.permission.mode import PermissionBehavior, PermissionMode
from agentscope_like.permission.rule import PermissionRule, RuleError
from agentscope_like.permission.rule_table import RuleTable

__all__ = ["AdditionalWorkingDirectory", "PermissionContext"]

_PATH = attrgetter("path")
_ALLOW, _DENY, _ASK = PermissionBehavior.ALLOW, PermissionBehavior.DENY, PermissionBehavior.ASK


def _by_tool(behavior: PermissionBehavior) -> BeforeValidator:
    """Take a list of rules, or of their texts, as a table by tool name."""

    def read(rules: Any) -> Any:
        if not isinstance(rules, list | tuple):
            return rules
        table: dict[str, list[Any]] = {}
        for given in rules:
            rule = PermissionRule.parse(given, behavior) if isinstance(given, str) else given
            if isinstance(rule, Mapping):
                rule = PermissionRule.model_validate(rule)
            if not isinstance(rule, PermissionRule):
                raise RuleError(f"{given!r} is not a rule: give its text, as `Bash(npm run:*)`")
            table.setdefault(rule.tool_name, []).append(rule)
        return table

    return BeforeValidator(read)


def _watched(behavior: PermissionBehavior) -> AfterValidator:
    return AfterValidator(partial(RuleTable, behavior))


def _table(behavior: PermissionBehavior) -> Any:
    return Field(default_factory=partial(RuleTable, behavior))


class AdditionalWorkingDirectory(BaseModel):
    """A directory in which edits are part of the work.

    Attributes:
        path: The directory, absolute or relative to the process's own.
        source: Where the entry came from, for explanations.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    path: str
    source: str = "user"


class PermissionContext(BaseModel):
    """Everything a decision depends on besides the call; changes are seen by the next decision.

    Attributes:
        mode: How much may be done without asking; DEFAULT unless said otherwise.
        working_directories: Directories that edits may stay inside, by path. Where there is none,
            the file tools and Bash use their own directory as the only one.
        allow_rules: ALLOW rules by tool name; a list of rules or of their texts is taken too.
        deny_rules: DENY rules, likewise.
        ask_rules: ASK rules, likewise.

    Raises:
        pydantic.ValidationError: A field is unknown, or a rule is in the wrong list.
    """

    model_config = ConfigDict(validate_assignment=True, extra="forbid")

    mode: PermissionMode = PermissionMode.DEFAULT
    working_directories: dict[str, AdditionalWorkingDirectory] = Field(default_factory=dict)
    allow_rules: Annotated[dict[str, list[PermissionRule]], _by_tool(_ALLOW), _watched(_ALLOW)] = (
        _table(_ALLOW)
    )
    deny_rules: Annotated[dict[str, list[PermissionRule]], _by_tool(_DENY), _watched(_DENY)] = (
        _table(_DENY)
    )
    ask_rules: Annotated[dict[str, list[PermissionRule]], _by_tool(_ASK), _watched(_ASK)] = _table(
        _ASK
    )

    @model_validator(mode="wrap")
    @classmethod
    def _known_fields(
        cls, data: Any, build: ModelWrapValidatorHandler[PermissionContext]
    ) -> PermissionContext:
        refuse_unknown_fields(data, cls.model_fields)
        return build(data)

    @classmethod
    def from_rules(
        cls,
        *,
        allow: Iterable[PermissionRule | str] = (),
        deny: Iterable[PermissionRule | str] = (),
        ask: Iterable[PermissionRule | str] = (),
        mode: PermissionMode = PermissionMode.DEFAULT,
        working_directories: Iterable[str | PathLike[str]] = (),
    ) -> Self:
        """Return a policy from rules as a person writes them.

        Args:
            allow: Rules that allow, such as `Bash(npm run:*)`; texts or rules, here and below.
            deny: Rules that deny, such as `Read(secrets/**)`.
            ask: Rules that ask, such as `Bash(git push:*)`.
            mode: How much may be done without asking.
            working_directories: Directories in which edits are part of the work.

        Raises:
            pydantic.ValidationError: A text is not a rule, or a rule is in the wrong list.
        """
        paths = [fspath(path) for path in working_directories]
        return cls.model_validate(
            {
                "mode": mode,
                "working_directories": {p: AdditionalWorkingDirectory(path=p) for p in paths},
                "allow_rules": list(allow),
                "deny_rules": list(deny),
                "ask_rules": list(ask),
            }
        )

    def table(self, behavior: PermissionBehavior) -> RuleTable:
        """Return the watched table of the rules that say `behavior`."""
        if behavior is _ALLOW:
            table = self.allow_rules
        elif behavior is _DENY:
            table = self.deny_rules
        else:
            table = self.ask_rules
        if isinstance(table, RuleTable) and table.behavior is behavior:
            return table
        raise RuleError(
            f"the {behavior.value} rules were replaced without validation: assign them instead"
        )

    @property
    def directories(self) -> tuple[str, ...]:
        """Return the working directories' paths."""
        return tuple(map(_PATH, self.working_directories.values()))

    @property
    def policy_key(self) -> tuple[Any, ...]:
        """Return a value that is equal exactly while this policy is unchanged in this process."""
        return (
            self.mode,
            tuple(self.working_directories.values()),
            self.table(_ALLOW).version,
            self.table(_DENY).version,
            self.table(_ASK).version,
        )
