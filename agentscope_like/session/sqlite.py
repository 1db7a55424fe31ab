"""Stores sessions in an SQLite file."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from os import PathLike
from pathlib import Path
from types import TracebackType
from typing import Self, TypeVar

from agentscope_like.event import AgentEvent
from agentscope_like.message.block import now
from agentscope_like.session.encoding import decode_event, decode_state, encode, title_of
from agentscope_like.session.replay import replay
from agentscope_like.session.storage import SessionError, SessionInfo
from agentscope_like.sqlite_file import (
    Schema,
    data_directory,
    explain,
    open_database,
    snapshot,
    transaction,
)
from agentscope_like.state import AgentState

__all__ = ["SQLiteSessionStorage"]

ResultT = TypeVar("ResultT")

_SCHEMA = Schema(
    holds="sessions",
    application_id=0x41534C53,  # "ASLS"
    version=1,
    text="""
CREATE TABLE sessions (
    id TEXT PRIMARY KEY,
    state TEXT NOT NULL,
    title TEXT NOT NULL,
    directory TEXT,
    updated_at TEXT NOT NULL,
    revision INTEGER NOT NULL
);
CREATE TABLE events (
    position INTEGER PRIMARY KEY,
    session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    event TEXT NOT NULL
);
CREATE INDEX events_of_session ON events (session_id, position);
""",
    error=SessionError,
)


class SQLiteSessionStorage:
    """Stores sessions in one SQLite file, which several processes may use at once.

    One thread owns the connection, so that nothing blocks the event loop. Each write is committed
    before its call returns, so a killed process loses nothing that was stored. If two processes
    write to one session, the second gets an error.

    Args:
        path: The file; by default `sessions.db` in the user's data directory. Only the owner can
            read the file, and the directory if this class creates it.
    """

    def __init__(self, path: str | PathLike[str] | None = None) -> None:
        self.path = data_directory() / "sessions.db" if path is None else Path(path)
        self._connection: sqlite3.Connection | None = None
        self._revisions: dict[str, int] = {}
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="sessions")
        self._closed = False

    async def save(self, state: AgentState, *, directory: str | None = None) -> None:
        """Store the whole state, which includes all events of its session so far.

        Args:
            state: The state; its `session_id` names the session.
            directory: Where the agent works; None means as before, or the first working directory
                of the state.

        Raises:
            SessionError: Another process has written to the session; or storing failed.
        """
        session_id, text, title = state.session_id, encode(state), _storable(title_of(state))
        known = next(iter(state.permission_context.working_directories), None)
        place = None if directory is None else _storable(directory)
        default_place = None if known is None else _storable(known)

        def work(connection: sqlite3.Connection) -> None:
            with transaction(connection):
                revision = self._next_revision(connection, session_id)
                connection.execute(
                    "INSERT INTO sessions (id, state, title, directory, updated_at, revision) "
                    "VALUES (:id, :state, :title, coalesce(:place, :default), :now, :revision) "
                    "ON CONFLICT (id) DO UPDATE SET state = :state, title = :title, "
                    "directory = coalesce(:place, directory, :default), updated_at = :now, "
                    "revision = :revision",
                    {
                        "id": session_id,
                        "state": text,
                        "title": title,
                        "place": place,
                        "default": default_place,
                        "now": now(),
                        "revision": revision,
                    },
                )
                connection.execute("DELETE FROM events WHERE session_id = ?", (session_id,))
            self._revisions[session_id] = revision

        await self._run(work)

    async def append(self, session_id: str, event: AgentEvent) -> None:
        """Store an event that follows the last saved state.

        Raises:
            SessionError: The session was neither saved nor loaded by this storage, or another
                process has written to it since; or storing failed.
        """
        text = encode(event)

        def work(connection: sqlite3.Connection) -> None:
            if session_id not in self._revisions:
                raise SessionError(
                    f"session {session_id!r} was neither saved nor loaded here: save its state "
                    "before its first event"
                )
            with transaction(connection):
                revision = self._next_revision(connection, session_id)
                connection.execute(
                    "UPDATE sessions SET updated_at = ?, revision = ? WHERE id = ?",
                    (now(), revision, session_id),
                )
                connection.execute(
                    "INSERT INTO events (session_id, event) VALUES (?, ?)", (session_id, text)
                )
            self._revisions[session_id] = revision

        await self._run(work)

    async def load(self, session_id: str) -> AgentState | None:
        """Return the state after the last stored event, or None if there is none.

        A call that was running when its process died has a result in the state RUNNING; the agent
        ends it as interrupted and never runs it again.

        Raises:
            SessionError: What was stored cannot be read.
        """

        def work(connection: sqlite3.Connection) -> AgentState | None:
            with snapshot(connection):
                row = connection.execute(
                    "SELECT revision, state FROM sessions WHERE id = ?", (session_id,)
                ).fetchone()
                events = connection.execute(
                    "SELECT event FROM events WHERE session_id = ? ORDER BY position",
                    (session_id,),
                ).fetchall()
            if row is None:
                return None
            revision, text = row
            state = decode_state(text, session_id)
            for (event,) in events:
                replay(state, decode_event(event, session_id))
            self._revisions[session_id] = revision
            return state

        return await self._run(work)

    async def list_sessions(self) -> list[SessionInfo]:
        """Return all sessions, the most recently written first.

        Raises:
            SessionError: What was stored cannot be read.
        """

        def work(connection: sqlite3.Connection) -> list[SessionInfo]:
            rows = connection.execute(
                "SELECT id, title, directory, updated_at FROM sessions "
                "ORDER BY updated_at DESC, rowid DESC"
            )
            return [SessionInfo(*row) for row in rows]

        return await self._run(work)

    async def close(self) -> None:
        """Close the file and end the thread; nothing can be stored or loaded afterwards."""
        if self._closed:
            return
        self._closed = True
        loop = asyncio.get_running_loop()
        try:
            await loop.run_in_executor(self._thread, self._disconnect)
        finally:
            await asyncio.to_thread(self._thread.shutdown)

    async def __aenter__(self) -> Self:
        """Return the storage itself, which is closed when the block ends."""
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    async def _run(self, work: Callable[[sqlite3.Connection], ResultT]) -> ResultT:
        if self._closed:
            raise SessionError(f"the storage of {self.path} is closed: open another one")
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._thread, self._connected, work)

    # From here on, everything runs in the thread that owns the connection.

    def _connected(self, work: Callable[[sqlite3.Connection], ResultT]) -> ResultT:
        try:
            if self._connection is None:
                self._connection = open_database(self.path, _SCHEMA)
            return work(self._connection)
        except (sqlite3.Error, OSError, UnicodeError) as error:
            raise explain(error, self.path, _SCHEMA) from error

    def _disconnect(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _next_revision(self, connection: sqlite3.Connection, session_id: str) -> int:
        """Return the number of this write; it increases by one with each write of a session."""
        row = connection.execute(
            "SELECT revision FROM sessions WHERE id = ?", (session_id,)
        ).fetchone()
        current = 0 if row is None else int(row[0])
        if self._revisions.get(session_id, current) != current:
            raise SessionError(
                f"session {session_id!r} was written to by another process since: resume it again "
                "there or here, but use one of them only"
            )
        return current + 1


def _storable(text: str) -> str:
    return text.encode("utf-8", "replace").decode()
