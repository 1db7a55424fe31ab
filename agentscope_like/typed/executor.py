"""Defines `ToolExecutor`, which does the work of a typed tool."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar, Generic, TypeVar

from msgspec import Struct

from agentscope_like.typed.action import Action
from agentscope_like.typed.observation import Observation

if TYPE_CHECKING:
    from agentscope_like.state import AgentState
    from agentscope_like.typed.judging import PreparedAction

__all__ = ["ToolConversation", "ToolExecutor"]

ActionT = TypeVar("ActionT", bound=Action)
ObservationT = TypeVar("ObservationT", bound=Observation)


class ToolConversation(Struct, frozen=True):
    """The session in which an action runs.

    Attributes:
        state: The state of the agent that calls.
        prepared: The call as it was decided: where paths led, and how commands were read.
    """

    state: AgentState
    prepared: PreparedAction


class ToolExecutor(ABC, Generic[ActionT, ObservationT]):
    """Does the work of a typed tool (seed 004).

    `__call__` may be a plain function, which runs in a worker thread, or a coroutine function,
    which runs on the event loop. Only a `Toolkit` runs it for a model, after its decision.

    Attributes:
        inline: Whether a plain `__call__` never blocks, so that it may run on the event loop.
    """

    inline: ClassVar[bool] = False

    @abstractmethod
    def __call__(
        self, action: ActionT, conversation: ToolConversation | None = None
    ) -> ObservationT:
        """Do what the action says.

        Args:
            action: The validated arguments.
            conversation: The session; None if it is called outside of one.

        Returns:
            What came of it. What it raises becomes an error that the model reads.
        """

    def close(self) -> None:
        """Free what it holds; called once, when the toolkit is closed."""

    def interrupt(self) -> None:
        """Make a running `__call__` end soon; called from another thread, maybe several times."""
