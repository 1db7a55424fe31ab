"""Defines the interface of session storages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from agentscope_like.event import AgentEvent
from agentscope_like.exception import DeveloperOrientedException
from agentscope_like.state import AgentState

__all__ = ["SessionError", "SessionInfo", "SessionStorage"]


class SessionError(DeveloperOrientedException):
    """A session cannot be stored or resumed."""


@dataclass(frozen=True, slots=True)
class SessionInfo:
    """The entry of a session in a list.

    Attributes:
        id: The session's id.
        title: The first line of the user's first message, shortened; empty if there is none.
        directory: Where the agent works, or None if unknown.
        updated_at: When it was last written to, ISO 8601 in UTC.
    """

    id: str
    title: str
    directory: str | None
    updated_at: str


class SessionStorage(Protocol):
    """Stores sessions, so that another process can resume them.

    After an awaited call, the data is safe even if the process dies: append an event before showing
    it. A session belongs to the process that loaded or saved it last; a second writer gets an
    error.
    """

    async def save(self, state: AgentState, *, directory: str | None = None) -> None:
        """Store the whole state, which includes all events of its session so far.

        Args:
            state: The state; its `session_id` names the session.
            directory: Where the agent works; None means as before, or the first working directory
                of the state.

        Raises:
            SessionError: Another process has written to the session; or storing failed.
        """

    async def append(self, session_id: str, event: AgentEvent) -> None:
        """Store an event that follows the last saved state.

        Raises:
            SessionError: The session was neither saved nor loaded by this storage, or another
                process has written to it since; or storing failed.
        """

    async def load(self, session_id: str) -> AgentState | None:
        """Return the state after the last stored event, or None if there is none.

        A call that was running when its process died has a result in the state RUNNING; the agent
        ends it as interrupted and never runs it again.

        Raises:
            SessionError: What was stored cannot be read.
        """

    async def list_sessions(self) -> list[SessionInfo]:
        """Return all sessions, the most recently written first.

        Raises:
            SessionError: What was stored cannot be read.
        """

    async def close(self) -> None:
        """Release files and threads; nothing can be stored or loaded afterwards."""
