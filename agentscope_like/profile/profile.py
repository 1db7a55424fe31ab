"""Defines `Profile`: what one agent sees, may use and may spend."""

from __future__ import annotations

import json
from collections.abc import Iterable
from os import PathLike
from pathlib import Path
from typing import Any, Literal, Self, TypeVar

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    NonNegativeInt,
    PositiveInt,
    ValidationError,
    field_validator,
    model_validator,
)
from pydantic.alias_generators import to_camel

from agentscope_like.exception import ConfigurationError
from agentscope_like.nearest import nearest, refuse_unknown_fields
from agentscope_like.tool import ToolNames

PartT = TypeVar("PartT", bound="_Part")

__all__ = [
    "REFERENCE_TOOLS",
    "DelegationPolicy",
    "Profile",
    "ProfileError",
    "SkillPolicy",
    "ToolPolicy",
    "WorkspacePolicy",
]

ROOTS = ("output", "scratch", "plan", "summaries", "persist")
"""The roots of a workspace (seed 001, "workspace.list_files")."""

REFERENCE_TOOLS = (
    *("agent.list", "agent.delegate", "agent.await", "task.return"),
    *("chat.search", "chat.read_messages", "worldinfo.read_activated"),
    *("skill.list", "skill.search", "skill.read"),
    *("workspace.list_files", "workspace.search_files", "workspace.read_file"),
    *("workspace.write_file", "workspace.apply_patch"),
    *("workspace.commit", "workspace.finish", "dice.roll"),
)
"""The canonical names of the tools of seed 001; a profile may name those that an agent lacks."""

_ANY = "*"
_DELEGATING = ("agent.list", "agent.delegate", "agent.await")
_ENDING = ("workspace.commit", "workspace.finish")
RETURN = "task.return"


class ProfileError(ConfigurationError):
    """A profile says something that does not fit together, or that does not exist."""


class _Part(BaseModel):
    """A part of a profile: read-only, in JSON with names such as `maxRounds`."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", alias_generator=to_camel, populate_by_name=True
    )

    @model_validator(mode="before")
    @classmethod
    def _refuse_unknown(cls, data: Any) -> Any:
        names = [field.alias or name for name, field in cls.model_fields.items()]
        known = [*names, *cls.model_fields] if isinstance(data, dict) else names
        refuse_unknown_fields(data, known, why="a typo cannot widen a profile")
        return data


class ToolPolicy(_Part):
    """Which tools an agent sees, and how often it may call them (seed 001, "Tool Configuration").

    Attributes:
        allow: The canonical names of those that it sees; it is no rule that allows a call.
        deny: Those that it does not see though they are in `allow`.
        max_rounds: Rounds of one invocation.
        max_calls_per_run: Calls of a run, those of its children included.
        max_calls_per_tool: Calls of single tools, likewise.
    """

    allow: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()
    max_rounds: PositiveInt = 80
    max_calls_per_run: NonNegativeInt = 80
    max_calls_per_tool: dict[str, NonNegativeInt] = Field(default_factory=dict)


class SkillPolicy(_Part):
    """Which skills an agent sees, and how much of them it may read.

    Attributes:
        visible: Their names; `*` for all.
        deny: Those that it does not see all the same; `*` hides all.
        max_read_chars_per_call: Characters of one `skill.read`, at most 80,000.
        max_read_chars_per_run: Characters of a run, its children included.
    """

    visible: tuple[str, ...] = (_ANY,)
    deny: tuple[str, ...] = ()
    max_read_chars_per_call: int = Field(default=20_000, ge=1, le=80_000)
    max_read_chars_per_run: NonNegativeInt = 80_000

    def shows(self, name: str) -> bool:
        """Return whether the agent sees a skill of this name."""
        if name in self.deny or _ANY in self.deny:
            return False
        return name in self.visible or _ANY in self.visible


class DelegationPolicy(_Part):
    """Whom an agent may give work to, and who may give it work.

    Attributes:
        can_delegate: Whether it may start child tasks.
        max_invocations_per_run: How many it may start.
        max_concurrent_invocations: How many may be queued or run at once.
        max_depth: How many agents may stand below one another.
        callable: Whether other agents see it.
        allow_as_subagent: Whether it may run as a child.
        allowed_callers: The profiles that may call it; `*` for all.
    """

    can_delegate: bool = False
    max_invocations_per_run: NonNegativeInt = 8
    max_concurrent_invocations: PositiveInt = 3
    max_depth: NonNegativeInt = 2
    callable: bool = False
    allow_as_subagent: bool = False
    allowed_callers: tuple[str, ...] = (_ANY,)


class WorkspacePolicy(_Part):
    """What an agent sees of its workspace, and where it may write.

    Attributes:
        visible_roots: Directories of the workspace, of `ROOTS`.
        writable_roots: Those of them in which it may write; by default, all.
    """

    visible_roots: tuple[str, ...] = ROOTS
    writable_roots: tuple[str, ...] | None = None

    @field_validator("visible_roots", "writable_roots")
    @classmethod
    def _check_roots(cls, roots: tuple[str, ...] | None) -> tuple[str, ...] | None:
        if roots is None:
            return None
        cleaned = tuple(root.rstrip("/") for root in roots)
        for root in cleaned:
            if root not in ROOTS:
                raise ValueError(f"there is no root {root!r}{nearest(root, ROOTS)}")
        return cleaned

    @model_validator(mode="after")
    def _check_writable(self) -> Self:
        hidden = set(self.writable_roots or ()) - set(self.visible_roots)
        if hidden:
            raise ValueError(f"{min(hidden)!r} is writable and not visible: make it visible")
        return self

    def takes_writes(self, root: str) -> bool:
        """Return whether the agent may write in a root."""
        writable = self.visible_roots if self.writable_roots is None else self.writable_roots
        return root in writable and root in self.visible_roots


class Profile(_Part):
    """What one agent sees, may use and may spend (seed 001).

    Attributes:
        id: Its name for other profiles and for records.
        display_name: Its name for people.
        description: What the agent does, for whoever chooses one.
        runs: `foreground`, where the agent has to commit before it finishes, or `background`.
        tools: The tools.
        skills: The skills.
        delegation: The child tasks.
        workspace: The workspace.
    """

    id: str = Field(pattern=r"^[\w.-]{1,64}$")
    display_name: str = ""
    description: str = ""
    runs: Literal["foreground", "background"] = "background"
    tools: ToolPolicy = ToolPolicy()
    skills: SkillPolicy = SkillPolicy()
    delegation: DelegationPolicy = DelegationPolicy()
    workspace: WorkspacePolicy = WorkspacePolicy()

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Self:
        """Return the profile of a JSON file.

        Raises:
            ProfileError: It cannot be read, or says something wrong; the message names the field.
        """
        try:
            text = Path(path).read_text("utf-8")
        except (OSError, UnicodeError) as error:
            raise ProfileError(f"the profile {path} cannot be read: {error}") from error
        try:
            return cls.model_validate(json.loads(text, object_pairs_hook=_without_repeats))
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            place = ".".join(map(str, first["loc"])) or "the profile"
            told = str(first["msg"]).removeprefix("Value error, ")
            raise ProfileError(f"{path}: {place}: {told}") from None
        except ValueError as error:
            raise ProfileError(f"{path} is not JSON: {error}") from None

    @classmethod
    def json_schema(cls) -> dict[str, Any]:
        """Return the JSON Schema of a profile's file."""
        schema = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
        return {**schema, **cls.model_json_schema(by_alias=True)}

    def sees(self, tool_name: str) -> bool:
        """Return whether the agent sees a tool of this canonical name."""
        return tool_name in self.tools.allow and tool_name not in self.tools.deny

    def check(self, tool_names: Iterable[str], skill_names: Iterable[str] | None = None) -> None:
        """Refuse a profile that does not fit the tools and skills that there are.

        Args:
            tool_names: The canonical names of all tools.
            skill_names: The names of the installed skills; None where they are not known.

        Raises:
            ProfileError: It names what does not exist, or lacks what it needs.
        """
        for objection in self._objections(ToolNames(tool_names), skill_names):
            raise ProfileError(f"profile {self.id!r}: {objection}")

    def tightened_by(self, other: Profile) -> Self:
        """Return this profile with whatever another one, as of a project, forbids or limits.

        What the other one would widen has no effect.
        """
        parts = ("tools", "skills", "delegation", "workspace")
        tightened = {name: _tightened(getattr(self, name), getattr(other, name)) for name in parts}
        return self.model_copy(update=tightened)

    def _objections(self, names: ToolNames, skill_names: Iterable[str] | None) -> Iterable[str]:
        tools = self.tools
        for field, listed in (
            ("tools.allow", tools.allow),
            ("tools.deny", tools.deny),
            ("tools.maxCallsPerTool", tools.max_calls_per_tool),
        ):
            for name in listed:
                if name == RETURN and field != "tools.deny":
                    yield f"{field}: {RETURN} is given to child tasks, and to no other agent"
                elif (objection := names.unknown(name)) is not None:
                    yield f"{field}: {objection}"
        for name in tools.max_calls_per_tool:
            if not self.sees(name):
                yield f"tools.maxCallsPerTool: the agent does not see {name!r}: allow it"
        yield from self._lacks("delegation.canDelegate", _DELEGATING, self.delegation.can_delegate)
        yield from self._lacks("runs: foreground", _ENDING, self.runs == "foreground")
        if skill_names is not None:
            installed = {*skill_names, _ANY}
            for name in self.skills.visible:
                if name not in installed:
                    hint = nearest(name, installed)
                    yield f"skills.visible: no skill {name!r} is installed{hint}"

    def _lacks(self, what: str, needed: Iterable[str], applies: bool) -> Iterable[str]:
        missing = [name for name in needed if not self.sees(name)]
        if applies and missing:
            yield f"{what} needs {', '.join(missing)} in tools.allow"


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object; one that says two things of one name is refused.

    Raises:
        ValueError: A name is there twice.
    """
    names = [name for name, _ in pairs]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"{name!r} is there twice")
    return dict(pairs)


def _tightened(own: PartT, other: PartT) -> PartT:
    """Return a part of a profile with whatever the same part of another one says to tighten it."""
    said = {name: _tighter(name, own, other) for name in other.model_fields_set}
    return own.model_copy(update=said)


def _tighter(name: str, own: _Part, other: _Part) -> Any:
    """Return the tighter one of two values of a field, or what both of them let through."""
    mine, theirs = getattr(own, name), getattr(other, name)
    if isinstance(mine, dict):
        both = {*mine, *theirs}
        return {key: min(part[key] for part in (mine, theirs) if key in part) for key in both}
    if mine is None or theirs is None:
        return theirs if mine is None else mine
    if not isinstance(mine, tuple):
        return min(mine, theirs)  # of two truth values, False
    if name == "deny":
        return tuple(dict.fromkeys((*mine, *theirs)))
    if _ANY in mine:
        return theirs
    return mine if _ANY in theirs else tuple(each for each in mine if each in theirs)
