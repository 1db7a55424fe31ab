"""What a storage of sessions is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from agentscope_like.event import AgentEvent
from agentscope_like.exception import DeveloperOrientedException
from agentscope_like.state import AgentState

__all__ = ["SessionError", "SessionInfo", "SessionStorage"]


class SessionError(DeveloperOrientedException):
    """A session that cannot be stored or taken up again."""


@dataclass(frozen=True, slots=True)
class SessionInfo:
    """What a list of sessions shows of one.

    Attributes:
        id: The session's id.
        title: The first line that the user said, shortened; empty where nothing was said.
        directory: Where the agent works, or None where that is not known.
        updated_at: When it was last written to, ISO 8601 in UTC.
    """

    id: str
    title: str
    directory: str | None
    updated_at: str


class SessionStorage(Protocol):
    """Keeps sessions so that another process can take them up.

    What was awaited is kept, whatever happens to the process: append an event before anyone sees
    it. A session belongs to whoever loaded or saved it last; a second writer is refused.
    """

    async def save(self, state: AgentState, *, directory: str | None = None) -> None:
        """Keep the whole state, which holds all that its session's events so far have told.

        Args:
            state: The state; its `session_id` names the session.
            directory: Where the agent works; None means as before, or the first working directory
                of the state.

        Raises:
            SessionError: Another process has written to the session since; or storing failed.
        """

    async def append(self, session_id: str, event: AgentEvent) -> None:
        """Keep an event that came after the state that was saved last.

        Raises:
            SessionError: The session was neither saved nor loaded by this storage, or another
                process has written to it since; or storing failed.
        """

    async def load(self, session_id: str) -> AgentState | None:
        """Return the state as it was when the last event was kept, or None if there is none.

        A call that was running when its process died has a result in the state RUNNING and counts
        as unfinished; the agent ends it as interrupted and never runs it again.

        Raises:
            SessionError: What was stored cannot be read.
        """

    async def list_sessions(self) -> list[SessionInfo]:
        """Return all sessions, the one written to last first.

        Raises:
            SessionError: What was stored cannot be read.
        """

    async def close(self) -> None:
        """Give back files and threads; nothing can be stored or loaded afterwards."""
