"""A command that may run held instead of being asked about."""

from __future__ import annotations

from typing_extensions import override

from agentscope_like.permission.command import PreparedCommand
from agentscope_like.permission.explain import visible
from agentscope_like.tool.builtin.command_checkpoint import UndoableCommand

__all__ = ["HoldableCommand", "UndoableHoldableCommand"]

MOST_REASON_CHARACTERS = 300
"""How much of the model's reason for running a command on the host is shown."""


class HoldableCommand(PreparedCommand):
    """A command of a `Bash` whose commands can run held.

    Attributes:
        place_objection: Why no command can run held where this one runs; None if one can.
    """

    place_objection: str | None = None
    _objection: str | None = None

    @override
    async def can_be_held(self) -> bool:
        """Return whether the command runs held if nothing else allows it."""
        if self.tool_input.get("escalate"):
            return False
        self._objection = self.held_objection()
        return self._objection is None

    def held_objection(self) -> str | None:
        """Return why the command does not run held, or None."""
        if self.tool_input.get("run_in_background"):
            return "it goes on in the background"
        if self.place_objection is not None:
            return self.place_objection
        from agentscope_like.permission.command import hold_objection

        return hold_objection(self.analysis, self.surroundings)

    @override
    def warning(self) -> str | None:
        """Return the model's reason for the host, or why the command does not run held."""
        told = [super().warning()]
        if self.tool_input.get("escalate"):
            told.append(_escalation(self.tool_input.get("escalate_reason")))
        elif self._objection is not None:
            told.append(f"It does not run held: {self._objection}.")
        return " ".join(filter(None, told)) or None


class UndoableHoldableCommand(HoldableCommand, UndoableCommand):
    """A command that may run held, before which files are kept if it runs on the host."""


def _escalation(reason: object) -> str:
    """Return the model's words about why a command is to run on the host."""
    if not isinstance(reason, str) or not reason.strip():
        return "The model asks to run it on this machine itself, and gives no reason."
    shown = visible(reason[:MOST_REASON_CHARACTERS], layout="")
    return f"The model asks to run it on this machine itself, in its words: {shown}"
