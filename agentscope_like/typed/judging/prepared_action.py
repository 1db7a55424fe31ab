"""An action with its effects, each prepared once for one decision."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from typing_extensions import override

from agentscope_like.paths import PathError
from agentscope_like.permission import (
    PermissionBehavior,
    PermissionContext,
    PermissionDecision,
    PreparedCall,
)
from agentscope_like.permission.command import PreparedCommand
from agentscope_like.tool.builtin.file_system import PreparedPath
from agentscope_like.typed.action import Action
from agentscope_like.typed.effects import Effects
from agentscope_like.typed.judging.judges import Judges

if TYPE_CHECKING:
    from agentscope_like.typed.definition import ToolDefinition

__all__ = ["PreparedAction", "PreparedCommand", "PreparedPath", "prepare_action"]

_UNKNOWN = "{name} does not say what this call would do, and no rule allows it."
_UNTRUSTED = "{name} says what this call would do, but nobody said that it is to be trusted."


class PreparedAction(PreparedCall):
    """A typed tool's call, its effects judged as Bash, Read and Write judge them.

    Attributes:
        action: The validated arguments.
        effects: What the tool says that the action would do; None for unknown.
        reads: The paths that it reads, located.
        writes: The paths that it writes, located.
        commands: The commands that it runs, read.
    """

    tool: ToolDefinition[Any, Any]

    def __init__(
        self,
        tool: ToolDefinition[Any, Any],
        tool_input: dict[str, Any],
        context: PermissionContext,
        *,
        action: Action,
        effects: Effects | None,
        reads: Sequence[PreparedPath] = (),
        writes: Sequence[PreparedPath] = (),
        commands: Sequence[PreparedCommand] = (),
    ) -> None:
        super().__init__(tool, tool_input, context)
        self.action = action
        self.effects = effects
        self.reads = tuple(reads)
        self.writes = tuple(writes)
        self.commands = tuple(commands)

    @property
    def parts(self) -> tuple[PreparedPath | PreparedCommand, ...]:
        """Return the paths and commands of the effects."""
        return (*self.reads, *self.writes, *self.commands)

    @override
    async def check(self) -> PermissionDecision:
        """Return DENY or a safety ASK if an effect is one; ALLOW only of a trusted tool."""
        said = [await part.check() for part in self.parts]
        strict = next((one for one in said if one.behavior is PermissionBehavior.DENY), None)
        strict = strict or next((one for one in said if one.bypass_immune), None)
        if strict is not None:
            return strict
        question = self._question(said)
        if question is not None:
            return PermissionDecision(PermissionBehavior.PASSTHROUGH, question)
        message = f"{self.tool.name} does only what needs no approval."
        return PermissionDecision(PermissionBehavior.ALLOW, message)

    def _question(self, said: Sequence[PermissionDecision]) -> str | None:
        """Return why the call is not allowed by what its effects are; None where it is."""
        name, effects = self.tool.name, self.effects
        if effects is None:
            return _UNKNOWN.format(name=name)
        if effects.hosts:
            hosts = ", ".join(effects.hosts)
            return f"{name} would reach {hosts}. It asks because no rule allows it."
        if not self.tool.trust:
            found = next((one.message for one in said if one.message), "")
            return found or _UNTRUSTED.format(name=name)
        for part, one in zip(self.parts, said, strict=True):
            if one.behavior is not PermissionBehavior.ALLOW or not self._counts(part):
                return one.message
        return None

    def _counts(self, part: PreparedPath | PreparedCommand) -> bool:
        """Return whether what is proven of a part holds as the tool runs it."""
        return isinstance(part, PreparedPath) or self.tool.runs_like_bash

    @override
    async def only_reads(self) -> bool:
        """Return whether a trusted tool says, and the judges find, that it changes nothing."""
        tool, effects = self.tool, self.effects
        if not tool.trust:
            return False
        if effects is None:
            return tool.annotations is not None and tool.annotations.readOnlyHint
        if effects.writes or effects.hosts:
            return False
        for part in self.parts:
            if not self._counts(part) or not await part.only_reads():
                return False
        return True

    @override
    def basis(self) -> str | None:
        """Return what the decision rests on: the effects, and where their paths led."""
        return self._basis([part.basis() for part in self.parts])

    @override
    def basis_now(self) -> str | None:
        """Return the same as things are now."""
        return self._basis([part.basis_now() for part in self.parts])

    def _basis(self, parts: list[str | None]) -> str:
        return json.dumps([self.tool.trust, repr(self.effects), parts])

    @override
    def places(self) -> tuple[str, ...]:
        """Return where the paths led that the action changes."""
        written = (
            "" if isinstance(path.location, PathError) else path.location.resolved
            for path in self.writes
        )
        return (*written, *(place for command in self.commands for place in command.places()))

    @override
    def places_now(self) -> tuple[str, ...]:
        """Return the same as things are now."""
        written = (path.basis_now() or "" for path in self.writes)
        return (*written, *(place for command in self.commands for place in command.places_now()))


async def prepare_action(
    tool: ToolDefinition[Any, Any],
    tool_input: dict[str, Any],
    context: PermissionContext,
    session: object,
    judges: Judges,
    action: Action,
    effects: Effects | None,
) -> PreparedAction:
    """Return the action, its effects located and read by the judges."""
    if effects is None:
        return PreparedAction(tool, tool_input, context, action=action, effects=None)
    reads = [
        await judges.read.prepare_call({"file_path": path}, context, session)
        for path in effects.reads
    ]
    writes = [
        await judges.write.prepare_call({"file_path": path, "content": ""}, context, session)
        for path in effects.writes
    ]
    commands = [
        await judges.bash.prepare_call({"command": command}, context, session)
        for command in effects.commands
    ]
    return PreparedAction(
        tool,
        tool_input,
        context,
        action=action,
        effects=effects,
        reads=reads,
        writes=writes,
        commands=commands,
    )
