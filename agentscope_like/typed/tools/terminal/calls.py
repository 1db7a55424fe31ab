"""Calls of the terminal, prepared for their decisions as Bash prepares commands."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from typing_extensions import override

from agentscope_like.permission import (
    PermissionBehavior,
    PermissionDecision,
    PermissionRule,
    PreparedCall,
    RuleMatch,
)
from agentscope_like.permission.command import CommandRules, FileRules, PreparedCommand

if TYPE_CHECKING:
    from agentscope_like.typed.tools.terminal.action import TerminalAction

__all__ = ["KeyCall", "TerminalCall", "TerminalCommands", "TerminalFiles", "TypedText"]

_HARMLESS = PermissionDecision(
    PermissionBehavior.ALLOW, "It only shows, interrupts or ends what was allowed to run."
)
_READS_INPUT = (
    "This is typed into a program that is running (`{program}`). What it does with it cannot be "
    "told beforehand, so a person has to see it."
)


class TerminalCall(PreparedCommand):
    """A command for a terminal; its decision rests on the variables that are carried to it.

    Attributes:
        action: The arguments.
    """

    action: TerminalAction
    _state: str
    _state_now: Callable[[], str]

    def bind(self, action: TerminalAction, state_now: Callable[[], str]) -> None:
        """Bind the decision to the state of the terminal."""
        self.action = action
        self._state, self._state_now = state_now(), state_now

    @override
    def basis(self, *, now: bool = False) -> str | None:
        """Return the directory, and the state of the terminal that the decision rests on."""
        return f"{super().basis(now=now)} {self._state_now() if now else self._state}"


class TypedText(TerminalCall):
    """Text for a program that runs: always asked about, and held against the rules for commands."""

    program: str = ""

    @override
    async def opinion(self) -> PermissionDecision:
        """Return a safety ASK."""
        return PermissionDecision(
            PermissionBehavior.ASK,
            _READS_INPUT.format(program=self.program),
            decision_reason="input to a running program",
            bypass_immune=True,
        )

    @override
    async def only_reads(self) -> bool:
        """Return False."""
        return False

    @override
    def own_suggestions(self) -> list[PermissionRule]:
        """Return no rule: none would prevent the question."""
        return []

    @override
    def wider_rules(self) -> list[PermissionRule]:
        """Return no rule."""
        return []


class KeyCall(PreparedCall):
    """A look at the output, an interruption, an end of input, or a new beginning."""

    action: TerminalAction

    @override
    async def check(self) -> PermissionDecision:
        """Return ALLOW."""
        return _HARMLESS

    @override
    async def only_reads(self) -> bool:
        """Return True: nothing is begun by it."""
        return True

    @override
    async def matches(self, content: str) -> bool:
        """Return False: rules with a content are about commands."""
        del content
        return False

    @override
    async def suggestions(self) -> list[PermissionRule]:
        """Return no rule."""
        return []


class TerminalCommands(CommandRules):
    """Rules about commands; no key is one."""

    @override
    def match(self, call: Any) -> int | None:
        """Return the position of a pattern that matches the command, or None."""
        return super().match(call) if isinstance(call, PreparedCommand) else None


class TerminalFiles(FileRules):
    """Rules about files; no key touches one."""

    @override
    def match(self, call: Any) -> RuleMatch | None:
        """Return the rule that matches what the command touches, else one that may, else None."""
        return super().match(call) if isinstance(call, PreparedCommand) else None
