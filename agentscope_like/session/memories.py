"""Stores memories of agents in an SQLite file beside the sessions, with an index of their words."""

from __future__ import annotations

import asyncio
import re
import sqlite3
from collections.abc import Callable
from contextlib import closing
from os import PathLike
from pathlib import Path
from typing import TypeVar

from agentscope_like.exception import ToolArgumentError
from agentscope_like.message.block import now
from agentscope_like.session.storage import SessionError
from agentscope_like.sqlite_file import (
    Schema,
    data_directory,
    explain,
    open_database,
    snapshot,
    transaction,
)
from agentscope_like.tool.builtin.memory import Memory

__all__ = ["SQLiteMemoryStore"]

ResultT = TypeVar("ResultT")

MAX_MEMORIES = 10_000
"""How many memories an owner may have."""

_SCHEMA = Schema(
    holds="memories",
    application_id=0x41534C4D,  # "ASLM"
    version=1,
    text="""
CREATE VIRTUAL TABLE memories USING fts5 (
    owner UNINDEXED, saved_at UNINDEXED, title, text,
    tokenize = 'unicode61 remove_diacritics 2'
);
""",
    error=SessionError,
)

_WORD = re.compile(r"\w+")
_MOST_WORDS = 32
_COLUMNS = "rowid, title, text, saved_at"


class SQLiteMemoryStore:
    """Stores memories in one SQLite file, which several processes may use at once.

    Args:
        path: The file; by default `memories.db` beside the sessions in the user's data directory.
            Only its owner can read it.
    """

    def __init__(self, path: str | PathLike[str] | None = None) -> None:
        self.path = data_directory() / "memories.db" if path is None else Path(path)

    async def save(self, owner: str, title: str, text: str) -> Memory:
        """Keep a memory; it replaces the owner's memory of the same title.

        Raises:
            ToolArgumentError: The owner has as many as the store takes.
            SessionError: Storing failed.
        """
        owner, title, text = map(_storable, (owner, title, text))

        def work(connection: sqlite3.Connection) -> Memory:
            saved_at = now()
            with transaction(connection):
                connection.execute(
                    "DELETE FROM memories WHERE owner = ? AND title = ?", (owner, title)
                )
                count = connection.execute(
                    "SELECT count(*) FROM memories WHERE owner = ?", (owner,)
                ).fetchone()[0]
                if count >= MAX_MEMORIES:
                    raise ToolArgumentError(
                        f"There are {count:,} memories, and no more are kept: delete one first."
                    )
                cursor = connection.execute(
                    "INSERT INTO memories (owner, saved_at, title, text) VALUES (?, ?, ?, ?)",
                    (owner, saved_at, title, text),
                )
            return Memory(cursor.lastrowid or 0, title, text, saved_at)

        return await self._run(work)

    async def search(self, owner: str, words: str, *, limit: int) -> list[Memory]:
        """Return the memories with any of these words or beginnings of words, the best first.

        Raises:
            SessionError: What was stored cannot be read.
        """
        wanted = _WORD.findall(_storable(words))[:_MOST_WORDS]
        if not wanted:
            return []
        query = " OR ".join(f'"{word}"*' for word in wanted)
        return await self._select(
            "memories MATCH ? AND owner = ? ORDER BY rank LIMIT ?", query, owner, limit
        )

    async def index(self, owner: str) -> list[Memory]:
        """Return all memories of the owner, the latest first.

        Raises:
            SessionError: What was stored cannot be read.
        """
        return await self._select("owner = ? ORDER BY rowid DESC", owner)

    async def delete(self, owner: str, memory_id: int) -> bool:
        """Forget a memory of the owner; return whether there was one.

        Raises:
            SessionError: Storing failed.
        """

        def work(connection: sqlite3.Connection) -> bool:
            with transaction(connection):
                cursor = connection.execute(
                    "DELETE FROM memories WHERE rowid = ? AND owner = ?",
                    (memory_id, _storable(owner)),
                )
            return cursor.rowcount > 0

        return await self._run(work)

    async def _select(self, condition: str, *values: object) -> list[Memory]:
        values = tuple(_storable(one) if isinstance(one, str) else one for one in values)

        def work(connection: sqlite3.Connection) -> list[Memory]:
            with snapshot(connection):
                rows = connection.execute(
                    f"SELECT {_COLUMNS} FROM memories WHERE {condition}",  # noqa: S608 - constants
                    values,
                )
                return [Memory(*row) for row in rows]

        return await self._run(work)

    async def _run(self, work: Callable[[sqlite3.Connection], ResultT]) -> ResultT:
        return await asyncio.to_thread(self._connected, work)

    def _connected(self, work: Callable[[sqlite3.Connection], ResultT]) -> ResultT:
        try:
            with closing(open_database(self.path, _SCHEMA)) as connection:
                return work(connection)
        except (sqlite3.Error, OSError, UnicodeError) as error:
            raise explain(error, self.path, _SCHEMA) from error


def _storable(text: str) -> str:
    return text.encode("utf-8", "replace").decode()
