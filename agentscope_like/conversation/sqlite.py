"""Keeps chats, and the entries that were activated for runs, in an SQLite file."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from os import PathLike
from pathlib import Path
from typing import TypeVar

import msgspec

from agentscope_like.conversation.activation import ContextEntry, checked_entries
from agentscope_like.conversation.commit import Commit, CommitMode
from agentscope_like.conversation.history import search_messages
from agentscope_like.conversation.messages import (
    ChatMessage,
    ChatRole,
    FoundMessages,
    MessageSearch,
    storable,
)
from agentscope_like.exception import DeveloperOrientedException
from agentscope_like.sqlite_file import (
    Schema,
    data_directory,
    explain,
    open_database,
    snapshot,
    transaction,
)

__all__ = ["ConversationError", "SQLiteActivations", "SQLiteChat"]

ResultT = TypeVar("ResultT")

_NO_LIMIT = 1 << 62
_COLUMNS = "position, role, text, name, run_id"


class ConversationError(DeveloperOrientedException):
    """A chat, or what was activated for a run, cannot be stored or read."""


_SCHEMA = Schema(
    holds="chats",
    application_id=0x41534C48,  # "ASLH"
    version=1,
    text="""
CREATE TABLE messages (
    chat_id TEXT NOT NULL,
    position INTEGER NOT NULL,
    role TEXT NOT NULL,
    text TEXT NOT NULL,
    name TEXT NOT NULL,
    run_id TEXT,
    PRIMARY KEY (chat_id, position)
) WITHOUT ROWID;
CREATE UNIQUE INDEX messages_of_run ON messages (chat_id, run_id) WHERE run_id IS NOT NULL;
CREATE TABLE commits (
    id INTEGER PRIMARY KEY,
    chat_id TEXT NOT NULL,
    run_id TEXT NOT NULL,
    mode TEXT NOT NULL,
    reason TEXT
);
CREATE INDEX commits_of_run ON commits (chat_id, run_id);
CREATE TABLE activations (run_id TEXT PRIMARY KEY, entries TEXT NOT NULL) WITHOUT ROWID;
""",
    error=ConversationError,
)


class _Database:
    """The SQLite file, which several processes may use at once."""

    def __init__(self, path: str | PathLike[str] | None) -> None:
        self.path = data_directory() / "chats.db" if path is None else Path(path)

    async def write(self, work: Callable[[sqlite3.Connection], ResultT]) -> ResultT:
        """Run the work in a transaction."""

        def committed(connection: sqlite3.Connection) -> ResultT:
            with transaction(connection):
                return work(connection)

        return await asyncio.to_thread(self._connected, committed)

    async def read(self, work: Callable[[sqlite3.Connection], ResultT]) -> ResultT:
        """Run the work on the file as it is at one moment."""

        def consistent(connection: sqlite3.Connection) -> ResultT:
            with snapshot(connection):
                return work(connection)

        return await asyncio.to_thread(self._connected, consistent)

    def _connected(self, work: Callable[[sqlite3.Connection], ResultT]) -> ResultT:
        try:
            with closing(open_database(self.path, _SCHEMA)) as connection:
                return work(connection)
        except (sqlite3.Error, OSError) as error:
            raise explain(error, self.path, _SCHEMA) from error


class SQLiteChat:
    """A chat in an SQLite file: a `MessageHistoryStore`, and a `CommitSink` that adds to it.

    It finds what `InMemoryChat` finds. Each run has at most one message, of the assistant.

    Args:
        chat_id: Which chat of the file it is; others cannot be reached by it.
        path: The file; by default `chats.db` in the user's data directory. Only its owner can read
            it.
    """

    def __init__(self, chat_id: str, path: str | PathLike[str] | None = None) -> None:
        self.chat_id = storable(chat_id)
        self._database = _Database(path)

    async def add(self, role: ChatRole, text: str, *, name: str = "") -> int:
        """Add a message and return its index.

        Raises:
            ConfigurationError: There is no such role.
            ConversationError: It cannot be stored.
        """
        message = ChatMessage(0, role, storable(text), storable(name))
        return await self._database.write(lambda connection: self._add(connection, message))

    async def count(self) -> int:
        """Return the number of messages."""
        return await self._database.read(self._count)

    async def read(self, indexes: Sequence[int]) -> Mapping[int, ChatMessage]:
        """Return the messages at these places; places without a message are left out."""

        def work(connection: sqlite3.Connection) -> dict[int, ChatMessage]:
            found = {index: self._message(connection, index) for index in indexes}
            return {index: one for index, one in found.items() if one is not None}

        return await self._database.read(work)

    async def search(self, wanted: MessageSearch) -> FoundMessages:
        """Return the messages with any of the words.

        Raises:
            SearchQueryError: The search is blank, or has too many words.
            ConversationError: What was stored cannot be read.
        """

        def work(connection: sqlite3.Connection) -> FoundMessages:
            def text_at(index: int) -> str:
                found = self._message(connection, index)
                return "" if found is None else found.text

            return search_messages(wanted, self._newest_first(connection, wanted), text_at)

        return await self._database.read(work)

    async def commit(self, text: str, *, mode: CommitMode, reason: str | None, run_id: str) -> None:
        """Replace the message of the run, or add to it; create it where it is missing.

        Raises:
            ConversationError: It cannot be stored; nothing was changed.
        """
        made = Commit(storable(run_id), mode, None if reason is None else storable(reason))

        def work(connection: sqlite3.Connection) -> None:
            row = connection.execute(
                "SELECT position, text FROM messages WHERE chat_id = ? AND run_id = ?",
                (self.chat_id, made.run_id),
            ).fetchone()
            if row is None:
                message = ChatMessage(0, "assistant", storable(text), run_id=made.run_id)
                self._add(connection, message)
            else:
                before = row[1] if mode == "append" else ""
                connection.execute(
                    "UPDATE messages SET text = ? WHERE chat_id = ? AND position = ?",
                    (before + storable(text), self.chat_id, row[0]),
                )
            connection.execute(
                "INSERT INTO commits (chat_id, run_id, mode, reason) VALUES (?, ?, ?, ?)",
                (self.chat_id, made.run_id, mode, made.reason),
            )

        await self._database.write(work)

    async def commits(self, run_id: str) -> Sequence[Commit]:
        """Return the commits of a run, the first one first."""

        def work(connection: sqlite3.Connection) -> list[Commit]:
            rows = connection.execute(
                "SELECT run_id, mode, reason FROM commits WHERE chat_id = ? AND run_id = ? "
                "ORDER BY id",
                (self.chat_id, storable(run_id)),
            )
            return [Commit(*row) for row in rows]

        return await self._database.read(work)

    def _count(self, connection: sqlite3.Connection) -> int:
        row = connection.execute(
            "SELECT max(position) FROM messages WHERE chat_id = ?", (self.chat_id,)
        ).fetchone()
        return 0 if row[0] is None else int(row[0]) + 1

    def _add(self, connection: sqlite3.Connection, message: ChatMessage) -> int:
        index = self._count(connection)
        connection.execute(
            "INSERT INTO messages VALUES (?, ?, ?, ?, ?, ?)",
            (self.chat_id, index, message.role, message.text, message.name, message.run_id),
        )
        return index

    def _message(self, connection: sqlite3.Connection, index: int) -> ChatMessage | None:
        if not 0 <= index < _NO_LIMIT:
            return None
        row = connection.execute(
            f"SELECT {_COLUMNS} FROM messages WHERE chat_id = ? AND position = ?",  # noqa: S608
            (self.chat_id, index),
        ).fetchone()
        return None if row is None else ChatMessage(*row)

    def _newest_first(
        self, connection: sqlite3.Connection, wanted: MessageSearch
    ) -> Iterator[ChatMessage]:
        end = _NO_LIMIT if wanted.end is None else wanted.end
        rows = connection.execute(
            f"SELECT {_COLUMNS} FROM messages "  # noqa: S608 - constants
            "WHERE chat_id = ? AND position BETWEEN ? AND ? ORDER BY position DESC",
            (self.chat_id, min(wanted.start, _NO_LIMIT), min(end, _NO_LIMIT)),
        )
        return (ChatMessage(*row) for row in rows)


class SQLiteActivations:
    """Keeps the entries that were activated for runs in an SQLite file.

    Args:
        path: The file, which may be that of chats; by default it is.
    """

    def __init__(self, path: str | PathLike[str] | None = None) -> None:
        self._database = _Database(path)

    async def capture(self, run_id: str, entries: Iterable[ContextEntry]) -> Sequence[ContextEntry]:
        """Keep the entries of a run, and return those that are kept.

        A run's entries are captured once: a later capture changes nothing.

        Raises:
            ConfigurationError: Two entries have one ref, or one has none.
            ConversationError: They cannot be stored.
        """
        text = json.dumps([msgspec.to_builtins(one) for one in checked_entries(entries)])

        def work(connection: sqlite3.Connection) -> None:
            connection.execute(
                "INSERT OR IGNORE INTO activations VALUES (?, ?)", (storable(run_id), text)
            )

        await self._database.write(work)
        return await self.activated(run_id) or ()

    async def activated(self, run_id: str) -> Sequence[ContextEntry] | None:
        """Return the entries of a run, in their order; None if none were captured for it.

        Raises:
            ConversationError: What was stored cannot be read.
        """

        def work(connection: sqlite3.Connection) -> tuple[ContextEntry, ...] | None:
            row = connection.execute(
                "SELECT entries FROM activations WHERE run_id = ?", (storable(run_id),)
            ).fetchone()
            return None if row is None else msgspec.json.decode(row[0], type=_ENTRIES)

        return await self._database.read(work)


_ENTRIES = tuple[ContextEntry, ...]
