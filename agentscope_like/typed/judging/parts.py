"""The parts of what an action would do, each prepared by the tool that judges it."""

from __future__ import annotations

from enum import StrEnum
from typing import TypeAlias

from msgspec import Struct

from agentscope_like.paths import FileKind, Location, PathError
from agentscope_like.permission import PermissionContext
from agentscope_like.permission.command import PreparedCommand
from agentscope_like.tool.builtin.file_system import PreparedPath
from agentscope_like.typed.effects import Effects
from agentscope_like.typed.judging.judges import Judges

__all__ = ["ActionPart", "CommandPart", "PartKind", "PathPart", "parts_of"]


_MOST_PARTS = 200
"""Paths and commands of one action that are judged; each takes a tenth of a millisecond."""


class PartKind(StrEnum):
    """What an action does with a path; its values end the words "it ..."."""

    READ = "reads"
    LIST = "lists"
    SEARCH = "searches"
    WRITE = "writes"


class PathPart(Struct, frozen=True):
    """A path that an action touches.

    Attributes:
        kind: What it does with it.
        call: The call of Read or Write that judges it.
    """

    kind: PartKind
    call: PreparedPath

    @property
    def location(self) -> Location | None:
        """Return where the path leads; None where it is none, which the check refuses."""
        location = self.call.location
        return None if isinstance(location, PathError) else location

    @property
    def reads_all_below(self) -> bool:
        """Return whether it reads what is below a directory, which may hold credentials."""
        location = self.location
        is_read = self.kind is PartKind.READ
        return is_read and location is not None and location.kind is FileKind.DIRECTORY

    @property
    def told(self) -> str:
        """Return what the action does with the path."""
        location = self.location
        return f"it {self.kind.value} `{'' if location is None else location.absolute}`"


class CommandPart(Struct, frozen=True):
    """A command that an action runs.

    Attributes:
        call: The call of Bash that judges it.
    """

    call: PreparedCommand

    @property
    def told(self) -> str:
        """Return what the action does."""
        return f"it runs `{self.call.read.command}`"


ActionPart: TypeAlias = PathPart | CommandPart


async def parts_of(
    effects: Effects, judges: Judges, context: PermissionContext, session: object, *, trust: bool
) -> tuple[ActionPart, ...]:
    """Return the parts of the effects, located and read for one decision.

    Args:
        effects: The effects.
        judges: The tools that judge them.
        context: What is permitted.
        session: The session.
        trust: Whether it is believed that a search leaves out what it should.

    Raises:
        ValueError: They are too many to judge.
    """
    paths = [
        (PartKind.READ, effects.reads),
        (PartKind.LIST, effects.lists),
        (PartKind.SEARCH if trust else PartKind.READ, effects.searches),
        (PartKind.WRITE, effects.writes),
    ]
    parts: list[ActionPart] = []
    count = sum(len(given) for _, given in paths) + len(effects.commands)
    if count > _MOST_PARTS:
        raise ValueError(f"it names {count:,} paths and commands; at most {_MOST_PARTS} are judged")
    for kind, given in paths:
        judge = judges.write if kind is PartKind.WRITE else judges.read
        for path in given:
            arguments = {"file_path": path, "content": ""}
            parts.append(PathPart(kind, await judge.prepare_call(arguments, context, session)))
    for command in effects.commands:
        prepared = await judges.bash.prepare_call({"command": command}, context, session)
        parts.append(CommandPart(prepared))
    return tuple(parts)
