"""An action with its effects, each prepared once for one decision."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from typing_extensions import override

from agentscope_like.permission import (
    PermissionBehavior,
    PermissionContext,
    PermissionDecision,
    PermissionRule,
    PreparedCall,
)
from agentscope_like.typed.action import Action
from agentscope_like.typed.effects import Effects
from agentscope_like.typed.judging.judged_tool import JudgedTool
from agentscope_like.typed.judging.parts import ActionPart, PartKind, PathPart
from agentscope_like.typed.judging.suggestions import own_suggestions

__all__ = ["PreparedAction"]

_UNKNOWN = "{name} does not say what this call would do, and no rule allows it."
_UNTRUSTED = "{name} says that it would touch nothing, and nobody said that it is to be trusted."


class PreparedAction(PreparedCall):
    """A typed tool's call, its effects judged as Bash, Read and Write judge them.

    Args:
        tool: The tool.
        tool_input: The arguments.
        context: What is permitted.
        action: The action of the arguments.
        effects: What the tool says that the action would do; None for unknown.
        parts: The effects, located and read.
        failure: Why the effects are not known, where the tool could not say.
    """

    tool: JudgedTool

    def __init__(
        self,
        tool: JudgedTool,
        tool_input: dict[str, Any],
        context: PermissionContext,
        *,
        action: Action,
        effects: Effects | None,
        parts: Sequence[ActionPart] = (),
        failure: str | None = None,
    ) -> None:
        super().__init__(tool, tool_input, context)
        self.action = action
        self.effects = effects
        self.parts = tuple(parts)
        self.failure = failure

    @override
    async def check(self) -> PermissionDecision:
        """Return DENY or a safety ASK if an effect is one; ALLOW only of a trusted tool."""
        if self.failure is not None:
            return PermissionDecision(PermissionBehavior.ASK, self.failure, bypass_immune=True)
        said = [await part.call.check() for part in self.parts]
        strict = next((one for one in said if one.behavior is PermissionBehavior.DENY), None)
        strict = strict or next((one for one in said if one.bypass_immune), None)
        if strict is not None:
            return strict
        question = await self._question(said)
        if question is not None:
            return PermissionDecision(PermissionBehavior.PASSTHROUGH, question)
        message = f"{self.tool.name} does only what needs no approval."
        return PermissionDecision(PermissionBehavior.ALLOW, message)

    async def _question(self, said: Sequence[PermissionDecision]) -> str | None:
        """Return why what the action does is not allowed; None where it is."""
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
            if isinstance(part, PathPart) and part.reads_all_below:
                return f"{name} asks, since {part.told} and all below, which may hold credentials."
            if not await self._is_allowed(part, one):
                return one.message
        return None

    async def _is_allowed(self, part: ActionPart, said: PermissionDecision) -> bool:
        """Return whether Bash, Read or Write would do the part without asking."""
        if said.behavior is PermissionBehavior.ALLOW and self._is_proof(part):
            return True
        if self.context.mode.properties.reads_run and await self._only_reads(part):
            return True
        rules = self.tool.allow_rules(self.context)
        return rules is not None and rules.cover(part)

    def _is_proof(self, part: ActionPart) -> bool:
        """Return whether what is proven of a part holds as the tool does it."""
        return isinstance(part, PathPart) or self.tool.runs_like_bash

    async def _only_reads(self, part: ActionPart) -> bool:
        if isinstance(part, PathPart) and (part.reads_all_below or part.kind is PartKind.WRITE):
            return False
        return self._is_proof(part) and await part.call.only_reads()

    @override
    async def only_reads(self) -> bool:
        """Return whether a trusted tool says, and the judges find, that it changes nothing."""
        tool, effects = self.tool, self.effects
        if not tool.trust:
            return False
        if effects is None:
            return tool.is_read_only and self.failure is None
        if effects.hosts:
            return False
        for part in self.parts:
            if not await self._only_reads(part):
                return False
        return True

    @override
    async def suggestions(self) -> list[PermissionRule]:
        """Return rules for what a trusted tool would do; none for an untrusted one."""
        if not self.tool.trust:
            return []
        return [rule for part in self.parts for rule in await own_suggestions(self.tool.name, part)]

    @override
    async def fallback_suggestions(self) -> list[PermissionRule]:
        """Return a rule for the tool as a whole."""
        return [PermissionRule(tool_name=self.tool.name, behavior=PermissionBehavior.ALLOW)]

    @override
    def basis(self, *, now: bool = False) -> str | None:
        """Return what holds for any arguments: who is believed, and where paths start."""
        del now
        return json.dumps([self.tool.trust, self.tool.cwd])

    @override
    def places(self, *, now: bool = False) -> tuple[str, ...]:
        """Return the effects, where their paths led, and where their commands would run."""
        found = [repr(self.effects)]
        for part in self.parts:
            found += (part.call.basis(now=now) or "", *part.call.places(now=now))
        return tuple(found)
