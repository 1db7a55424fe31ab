"""Opens SQLite files that only their owner can read; every function here blocks."""

from __future__ import annotations

import os
import sqlite3
import stat
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from msgspec import Struct

from agentscope_like.exception import DeveloperOrientedException

__all__ = ["Schema", "data_directory", "explain", "open_database", "snapshot", "transaction"]

BUSY_TIMEOUT = 10.0
"""Seconds to wait for another process that is writing."""


class Schema(Struct, frozen=True):
    """The tables of one kind of file.

    Attributes:
        holds: What is in it, for messages: `sessions`.
        application_id: The application id in SQLite's file header.
        version: The version of the tables.
        text: The statements that create them.
        error: The error that says what is wrong with a file.
    """

    holds: str
    application_id: int
    version: int
    text: str
    error: type[DeveloperOrientedException]


def data_directory() -> Path:
    """Return the user's data directory of this package."""
    from platformdirs import user_data_path

    return user_data_path("agentscope-like", appauthor=False)


def open_database(path: Path, schema: Schema, *, any_thread: bool = False) -> sqlite3.Connection:
    """Open the file; create it if missing, readable by its owner only.

    Args:
        path: The file.
        schema: Its tables.
        any_thread: Whether other threads may use the connection, one at a time.

    Raises:
        DeveloperOrientedException: The file belongs to another program, or was written by a newer
            version; it is the schema's own error.
        sqlite3.Error: It cannot be opened, or is damaged.
        OSError: It cannot be created.
    """
    _make_private(path)
    connection = sqlite3.connect(
        path, timeout=BUSY_TIMEOUT, isolation_level=None, check_same_thread=not any_thread
    )
    try:
        with snapshot(connection):  # another process may be creating the tables at this moment
            _check_owner(connection, path, schema)
        _use_write_ahead_log(connection)
        # A killed process loses nothing this way; a power cut may lose the last events, but keeps
        # their order (sqlite.org/wal.html, "Performance considerations").
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("PRAGMA foreign_keys = ON")
        with transaction(connection):
            if _check_owner(connection, path, schema) == 0:
                _create(connection, schema)
    except BaseException:
        connection.close()
        raise
    return connection


def transaction(connection: sqlite3.Connection) -> AbstractContextManager[None]:
    """Commit the writes of the block, all or nothing."""
    return _between(connection, "BEGIN IMMEDIATE")


def snapshot(connection: sqlite3.Connection) -> AbstractContextManager[None]:
    """Give the block a consistent snapshot for reading."""
    return _between(connection, "BEGIN")


@contextmanager
def _between(connection: sqlite3.Connection, begin: str) -> Iterator[None]:
    connection.execute(begin)
    try:
        yield
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def explain(error: Exception, path: Path, schema: Schema) -> DeveloperOrientedException:
    """Return the error that says what is wrong with the file and how to fix it."""
    if isinstance(error, schema.error):
        return error
    told = str(error)
    if "locked" in told or "busy" in told:
        mend = "another process keeps writing to it: end that one, and try again"
    elif "malformed" in told or "not a database" in told:
        mend = "it is damaged: move it away to start again, or restore a copy"
    else:
        mend = "check its permissions and the free space of its disk"
    return schema.error(f"the file of {schema.holds} {path} cannot be used ({told}); {mend}")


def _make_private(path: Path) -> None:
    if not path.parent.exists():
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        if stat.S_IMODE(os.fstat(file).st_mode) & 0o077:
            os.fchmod(file, 0o600)
    finally:
        os.close(file)


def _check_owner(connection: sqlite3.Connection, path: Path, schema: Schema) -> int:
    """Return the schema's version, 0 for an empty file."""
    owner = _pragma(connection, "application_id")
    version = _pragma(connection, "user_version")
    tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    if owner != schema.application_id and (owner or version or tables):
        raise schema.error(
            f"{path} is a database of another program: give the path of a file of {schema.holds}, "
            "or of none"
        )
    if version > schema.version:
        raise schema.error(
            f"{path} was written by a newer version of agentscope_like (schema {version}, this one "
            f"knows {schema.version}): upgrade, or use another file"
        )
    return version


def _pragma(connection: sqlite3.Connection, name: str) -> int:
    return int(connection.execute(f"PRAGMA {name}").fetchone()[0])


def _use_write_ahead_log(connection: sqlite3.Connection) -> None:
    """Switch to write-ahead logging; retry, since SQLite does not wait for other processes here."""
    deadline = time.monotonic() + BUSY_TIMEOUT
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > deadline:
                raise
            time.sleep(0.02)
        else:
            return


def _create(connection: sqlite3.Connection, schema: Schema) -> None:
    for statement in filter(str.strip, schema.text.split(";")):
        connection.execute(statement)
    connection.execute(f"PRAGMA application_id = {schema.application_id}")
    connection.execute(f"PRAGMA user_version = {schema.version}")
