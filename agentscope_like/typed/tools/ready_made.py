"""Defines the base classes of ready-made typed tools, which are judged without `trust`."""

from __future__ import annotations

from typing import Any, TypeVar

from typing_extensions import override

from agentscope_like.typed.action import Action
from agentscope_like.typed.definition import ToolDefinition
from agentscope_like.typed.effects import Effects
from agentscope_like.typed.observation import Observation

__all__ = ["OwnStateTool", "ReadyMadeTool"]

ActionT = TypeVar("ActionT", bound=Action)
ObservationT = TypeVar("ObservationT", bound=Observation)

_HOME = f"{__name__.rpartition('.')[0]}."


class ReadyMadeTool(ToolDefinition[ActionT, ObservationT]):
    """A typed tool of this package, whose effects are known.

    A class that extends one, or one with another executor, is judged as any other typed tool.
    """

    @property
    def is_ready_made(self) -> bool:
        """Return whether both the class and its executor are this package's own."""
        room = type(self).__module__.rpartition(".")[0]
        return room.startswith(_HOME) and type(self.executor).__module__ == f"{room}.impl"

    @property
    @override
    def trust(self) -> bool:
        """Return whether its effects are believed: a ready-made tool's are."""
        return super().trust or self.is_ready_made


class OwnStateTool(ReadyMadeTool[ActionT, ObservationT]):
    """A ready-made tool that changes nothing but the agent's own state."""

    is_concurrency_safe = True

    @property
    def touches_only_agent_state(self) -> bool:  # type: ignore[override]
        """Return whether only a deny rule stops its calls."""
        return self.is_ready_made

    @override
    def effects(self, action: Any) -> Effects:
        """Return that nothing outside of the agent is read or changed."""
        del action
        return Effects()
