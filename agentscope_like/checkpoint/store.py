"""Stores the contents of files before and after each change, in an SQLite file."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from os import PathLike
from pathlib import Path

from agentscope_like.checkpoint.records import (
    DIRECTORY_DIGEST,
    LINK_DIGEST,
    Checkpoint,
    FileChange,
    FileDigest,
    FileState,
    FileVersion,
    KnownChange,
    Restoration,
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

__all__ = ["CheckpointError", "CheckpointStore"]

_ABOVE_ALL = 1 << 62
_PRUNED_AT_ONCE = 256
_PRUNED_EVERY = 64
_IGNORED = "*\n"
Look = Callable[[str], FileVersion | FileDigest | None]
"""Returns what a file is now; None where there is none."""

_UNKNOWN = ""
"""The digest of what a file will be where that is not known; no content has it."""


class CheckpointError(DeveloperOrientedException):
    """Checkpoints cannot be stored or read."""


_SCHEMA = Schema(
    holds="checkpoints",
    application_id=0x41534C43,  # "ASLC"
    version=1,
    text="""
CREATE TABLE contents (digest TEXT PRIMARY KEY, data BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE size (bytes INTEGER NOT NULL);
INSERT INTO size VALUES (0);
CREATE TABLE checkpoints (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    made_at TEXT NOT NULL,
    session_id TEXT NOT NULL,
    call_id TEXT NOT NULL,
    summary TEXT NOT NULL,
    state TEXT NOT NULL
);
CREATE INDEX checkpoints_of_session ON checkpoints (session_id, id);
CREATE INDEX checkpoints_begun ON checkpoints (session_id) WHERE state = 'begun';
CREATE TABLE changes (
    path TEXT NOT NULL,
    checkpoint_id INTEGER NOT NULL REFERENCES checkpoints (id) ON DELETE CASCADE,
    before TEXT, before_mode INTEGER,
    after TEXT, after_mode INTEGER,
    is_kept INTEGER NOT NULL,
    PRIMARY KEY (path, checkpoint_id)
) WITHOUT ROWID;
CREATE INDEX changes_of_checkpoint ON changes (checkpoint_id);
CREATE INDEX changes_before ON changes (before);
CREATE INDEX changes_after ON changes (after);
""",
    error=CheckpointError,
)


class CheckpointStore:
    """Keeps what files were, so that each change can be undone.

    A change is begun, then made, then finished; what a killed process began is settled by looking
    at the files. The cost of one more checkpoint, of a page of the list and of restoring one file
    does not grow with their number. Every method blocks; they may be called from any thread.

    Args:
        path: The SQLite file; by default `checkpoints.db` in the user's data directory. Only its
            owner can read it, and git ignores its directory if this class makes it.
        most_bytes: How much content is kept; the oldest checkpoints go first.
        most_days: How long checkpoints are kept.
        most_file_bytes: The size of the largest content that is kept; a change of a larger one is
            recorded, and cannot be undone.
    """

    def __init__(
        self,
        path: str | PathLike[str] | None = None,
        *,
        most_bytes: int = 1_000_000_000,
        most_days: float = 30,
        most_file_bytes: int = 64_000_000,
    ) -> None:
        self.path = data_directory() / "checkpoints.db" if path is None else Path(path)
        self.most_file_bytes = most_file_bytes
        self.most_bytes = most_bytes
        self._most_days = most_days
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None
        self._until_pruned = 0

    # Recording

    def begin(
        self,
        changes: Iterable[FileChange],
        *,
        session_id: str = "",
        call_id: str = "",
        summary: str = "",
    ) -> int:
        """Record a change that is about to be made, and return the number of its checkpoint.

        Args:
            changes: The files; each is taken when the one before it is stored.
            session_id: The session.
            call_id: The call.
            summary: What is done, in a sentence.

        Raises:
            CheckpointError: It cannot be stored.
        """
        with self._writing() as connection:
            cursor = connection.execute(
                "INSERT INTO checkpoints (made_at, session_id, call_id, summary, state) "
                "VALUES (?, ?, ?, ?, 'begun')",
                (_now(), session_id, call_id, summary),
            )
            checkpoint_id = int(cursor.lastrowid or 0)
            for change in changes:
                self._insert(connection, checkpoint_id, change)
            self._until_pruned -= 1
            if self._until_pruned <= 0:
                self._until_pruned = _PRUNED_EVERY
                self._prune(connection, newest=checkpoint_id)
        return checkpoint_id

    def hold(self, checkpoint_id: int) -> None:
        """Leave a change that was begun to whoever makes it: `settle` does not look at it.

        It is for changes that are taken back or finished after a crash by what is noted elsewhere;
        `finish`, `abandon` or `conclude` settles it.
        """
        with self._writing() as connection:
            _set_state(connection, checkpoint_id, "held")

    def finish(
        self, checkpoint_id: int, afters: Mapping[str, FileVersion | None] | None = None
    ) -> None:
        """Record that a change was made.

        Args:
            checkpoint_id: The checkpoint.
            afters: What files became of which it was not known when the change began. Of a file
                that did not change, nothing is kept; one that the checkpoint does not name was
                made by the change.
        """
        with self._writing() as connection:
            for path, after in (afters or {}).items():
                self._complete(connection, checkpoint_id, path, after)
            _set_state(connection, checkpoint_id, "done")

    def abandon(self, checkpoint_id: int) -> None:
        """Forget a change that was not made."""
        with self._writing() as connection:
            self._delete(connection, checkpoint_id)

    def settle(self, session_id: str, look: Look) -> list[Checkpoint]:
        """Find out what became of the changes that a session began and did not finish.

        Args:
            session_id: The session; no other process may be using it.
            look: Returns what a file is now; None where there is none.

        Returns:
            Those that were made, or of which it is not known; one that was not made is forgotten.
        """
        found = (self.conclude(each, look) for each in self.begun(session_id))
        return [each for each in found if each is not None]

    def begun(self, session_id: str) -> list[int]:
        """Return the numbers of the changes that a session began and did not finish."""
        with self._reading() as connection:
            rows = connection.execute(
                "SELECT id FROM checkpoints WHERE session_id = ? AND state = 'begun' ORDER BY id",
                (session_id,),
            ).fetchall()
        return [checkpoint_id for (checkpoint_id,) in rows]

    def conclude(self, checkpoint_id: int, look: Look) -> Checkpoint | None:
        """Find out whether a change was made, and record it; one that was not made is forgotten.

        Args:
            checkpoint_id: The checkpoint of a change that nobody is making any more.
            look: Returns what a file is now; None where there is none.
        """
        states = set(self.files(checkpoint_id, look).values())
        if states <= {"old"}:
            self.abandon(checkpoint_id)
            return None
        with self._writing() as connection:
            _set_state(connection, checkpoint_id, "done" if states == {"new"} else "unknown")
        return self.get(checkpoint_id)

    def files(self, checkpoint_id: int, look: Look) -> dict[str, FileState]:
        """Return whether each file of a checkpoint is as it was before the change, or after it.

        Args:
            checkpoint_id: The checkpoint.
            look: Returns what a file is now; None where there is none.
        """
        with self._reading() as connection:
            rows = connection.execute(
                "SELECT path, before, before_mode, after, after_mode FROM changes "
                "WHERE checkpoint_id = ? ORDER BY path",
                (checkpoint_id,),
            ).fetchall()
        return {path: _file_state(look(path), *row) for path, *row in rows}

    def known_changes(self, checkpoint_id: int) -> list[KnownChange] | None:
        """Return the changes of a checkpoint; None where what a file was to become is not kept."""
        with self._reading() as connection:
            rows = connection.execute(
                "SELECT path, before, before_mode, after, after_mode FROM changes "
                "WHERE checkpoint_id = ? ORDER BY path",
                (checkpoint_id,),
            ).fetchall()
            found = []
            for path, before, before_mode, after, after_mode in rows:
                wanted = _version(connection, after, after_mode)
                if wanted is None and after is not None:
                    return None
                was = None if before is None else FileDigest(before, before_mode)
                found.append(KnownChange(path, was, wanted))
        return found

    # Reading

    def get(self, checkpoint_id: int) -> Checkpoint | None:
        """Return a checkpoint, or None if there is none of this number, or none any more."""
        found = self._select("WHERE id = ?", (checkpoint_id,))
        return found[0] if found else None

    def page(
        self,
        *,
        before: int | None = None,
        limit: int = 50,
        path: str | None = None,
        session_id: str | None = None,
    ) -> list[Checkpoint]:
        """Return some checkpoints, the latest first.

        Args:
            before: Only those of smaller numbers; for the next page, the last number of this one.
            limit: The most to return.
            path: Only those that changed this file, in any session.
            session_id: Only those of this session, where no `path` is given.
        """
        bound = before if before is not None else _ABOVE_ALL
        if path is None and session_id is not None:
            return self._select(
                "WHERE session_id = ? AND id < ? ORDER BY id DESC LIMIT ?",
                (session_id, bound, limit),
            )
        if path is None:
            return self._select("WHERE id < ? ORDER BY id DESC LIMIT ?", (bound, limit))
        return self._select(
            "JOIN (SELECT checkpoint_id FROM changes WHERE path = ? AND checkpoint_id < ? "
            "ORDER BY checkpoint_id DESC LIMIT ?) ON id = checkpoint_id ORDER BY id DESC",
            (path, bound, limit),
        )

    def restoration(
        self,
        checkpoint_id: int,
        paths: Sequence[str] | None = None,
        *,
        session_id: str | None = None,
    ) -> list[Restoration]:
        """Return what makes files what they were right after a checkpoint; nothing is changed.

        Args:
            checkpoint_id: The checkpoint; 0 is before the first.
            paths: The files; by default, all that were changed after it.
            session_id: Only files that this session changed after it; what other sessions did to
                them since counts as done by others.

        Raises:
            CheckpointError: What one of them was is not kept.
        """
        with self._reading() as connection:
            if paths is None:
                paths = _changed_after(connection, checkpoint_id, session_id)
            found = (_restoration(connection, checkpoint_id, path, session_id) for path in paths)
            return [each for each in found if each is not None]

    def changed_after(self, checkpoint_id: int, session_id: str | None = None) -> dict[str, bool]:
        """Return the files that were changed after a checkpoint, and whether each can be restored.

        Args:
            checkpoint_id: The checkpoint; 0 is before the first.
            session_id: Only files that this session changed.
        """
        with self._reading() as connection:
            paths = _changed_after(connection, checkpoint_id, session_id)
            return {path: _is_restorable(connection, checkpoint_id, path) for path in paths}

    def close(self) -> None:
        """Close the file; it is opened again when it is needed."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    # Below, the lock is held

    def _complete(
        self,
        connection: sqlite3.Connection,
        checkpoint_id: int,
        path: str,
        after: FileVersion | None,
    ) -> None:
        """Record what a file became."""
        key = (path, checkpoint_id)
        row = connection.execute(
            "SELECT before, is_kept FROM changes WHERE path = ? AND checkpoint_id = ?", key
        ).fetchone()
        if row is None:
            self._insert(connection, checkpoint_id, FileChange(path, None, after))
        elif row == (_digest(after), True):
            connection.execute("DELETE FROM changes WHERE path = ? AND checkpoint_id = ?", key)
            _discard_unused(connection, {row[0]} - {None})
        else:
            mode = None if after is None else after.mode
            connection.execute(
                "UPDATE changes SET after = ?, after_mode = ? WHERE path = ? AND checkpoint_id = ?",
                (self._store(connection, after), mode, *key),
            )

    def _insert(
        self, connection: sqlite3.Connection, checkpoint_id: int, change: FileChange
    ) -> None:
        before, after = change.before, change.after
        is_kept = change.is_kept and (before is None or self._is_kept(before))
        connection.execute(
            "INSERT INTO changes VALUES (?, ?, ?, ?, ?, ?, ?)",
            (
                change.path,
                checkpoint_id,
                self._store(connection, before),
                None if before is None else before.mode,
                self._store(connection, after) if change.is_after_known else _UNKNOWN,
                None if after is None else after.mode,
                is_kept,
            ),
        )

    def _is_kept(self, version: FileVersion | FileDigest) -> bool:
        return isinstance(version, FileVersion) and len(version.data) <= self.most_file_bytes

    def _store(
        self, connection: sqlite3.Connection, version: FileVersion | FileDigest | None
    ) -> str | None:
        """Store a content once, if it is given and not too large, and return its digest."""
        if version is None:
            return None
        digest = version.digest
        if isinstance(version, FileDigest) or not self._is_kept(version):
            return digest
        if version.kind == "directory":
            return digest
        added = connection.execute(
            "INSERT OR IGNORE INTO contents VALUES (?, ?)", (digest, version.data)
        ).rowcount
        if added:
            connection.execute("UPDATE size SET bytes = bytes + ?", (len(version.data),))
        return digest

    def _prune(self, connection: sqlite3.Connection, *, newest: int) -> None:
        """Remove the oldest checkpoints while they are too old or too large; never the newest."""
        oldest_kept = _now(timedelta(days=self._most_days))
        rows = connection.execute(
            "SELECT id, made_at FROM checkpoints WHERE id < ? ORDER BY id LIMIT ?",
            (newest, _PRUNED_AT_ONCE),
        ).fetchall()
        for checkpoint_id, made_at in rows:
            (size,) = connection.execute("SELECT bytes FROM size").fetchone()
            if made_at >= oldest_kept and size <= self.most_bytes:
                return
            self._delete(connection, checkpoint_id)

    def _delete(self, connection: sqlite3.Connection, checkpoint_id: int) -> None:
        """Remove a checkpoint, and the contents that no other one needs."""
        rows = connection.execute(
            "SELECT before, after FROM changes WHERE checkpoint_id = ?", (checkpoint_id,)
        ).fetchall()
        connection.execute("DELETE FROM checkpoints WHERE id = ?", (checkpoint_id,))
        digests = {digest for row in rows for digest in row if digest is not None}
        _discard_unused(connection, digests)

    def _select(self, where: str, values: tuple[object, ...]) -> list[Checkpoint]:
        with self._reading() as connection:
            rows = connection.execute(
                "SELECT id, made_at, session_id, call_id, summary, state "  # noqa: S608 - constants
                f"FROM checkpoints {where}",
                values,
            ).fetchall()
            return [_checkpoint(connection, *row) for row in rows]

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        with self._open() as connection, transaction(connection):
            yield connection

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        with self._open() as connection, snapshot(connection):
            yield connection

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        with self._lock:
            try:
                if self._connection is None:
                    _make_directory(self.path.parent)
                    self._connection = open_database(self.path, _SCHEMA, any_thread=True)
                yield self._connection
            except (sqlite3.Error, OSError) as error:
                raise explain(error, self.path, _SCHEMA) from error


def _discard_unused(connection: sqlite3.Connection, digests: Iterable[str]) -> None:
    """Remove those of some contents that no change needs any more."""
    for digest in digests:
        row = connection.execute(
            "SELECT length(data) FROM contents WHERE digest = ?1 "
            "AND NOT EXISTS (SELECT 1 FROM changes WHERE before = ?1) "
            "AND NOT EXISTS (SELECT 1 FROM changes WHERE after = ?1)",
            (digest,),
        ).fetchone()
        if row is not None:
            connection.execute("DELETE FROM contents WHERE digest = ?", (digest,))
            connection.execute("UPDATE size SET bytes = bytes - ?", row)


def _set_state(connection: sqlite3.Connection, checkpoint_id: int, state: str) -> None:
    connection.execute("UPDATE checkpoints SET state = ? WHERE id = ?", (state, checkpoint_id))


def _file_state(
    now: FileVersion | FileDigest | None,
    before: str | None,
    before_mode: int | None,
    after: str | None,
    after_mode: int | None,
) -> FileState:
    digest = _digest(now)
    if before == after == digest and now is not None:  # only its mode changed
        return "old" if now.mode == before_mode != after_mode else "new"
    if digest == after:
        return "new"
    return "old" if digest == before else "other"


def _make_directory(directory: Path) -> None:
    """Make a directory of which git tracks nothing, unless it exists."""
    if directory.exists():
        return
    directory.mkdir(mode=0o700, parents=True)
    (directory / ".gitignore").write_text(_IGNORED, "utf-8")


def _changed_after(
    connection: sqlite3.Connection, checkpoint_id: int, session_id: str | None
) -> list[str]:
    """Return the files that were changed after a checkpoint, by any session or by one."""
    if session_id is None:
        rows = connection.execute(
            "SELECT DISTINCT path FROM changes WHERE checkpoint_id > ? ORDER BY path",
            (checkpoint_id,),
        )
    else:
        rows = connection.execute(
            "SELECT DISTINCT path FROM checkpoints JOIN changes ON checkpoint_id = id "
            "WHERE session_id = ? AND id > ? ORDER BY path",
            (session_id, checkpoint_id),
        )
    return [path for (path,) in rows]


def _restoration(
    connection: sqlite3.Connection, checkpoint_id: int, path: str, session_id: str | None
) -> Restoration | None:
    """Return what restores a file; None if it was not changed after the checkpoint."""
    changed = connection.execute(
        "SELECT before, before_mode, is_kept FROM changes WHERE path = ? AND checkpoint_id > ? "
        "ORDER BY checkpoint_id LIMIT 1",
        (path, checkpoint_id),
    ).fetchone()
    last = connection.execute(
        "SELECT after, after_mode FROM changes JOIN checkpoints ON id = checkpoint_id "
        "WHERE path = ?1 "
        "AND checkpoint_id > ?2 AND (?3 IS NULL OR session_id = ?3) "
        "ORDER BY checkpoint_id DESC LIMIT 1",
        (path, checkpoint_id, session_id),
    ).fetchone()
    if changed is None or last is None:
        return None
    before, mode, is_kept = changed
    if not is_kept:
        raise CheckpointError(
            f"{path} cannot be restored: it was too large to be kept when it was changed"
        )
    wanted = _version(connection, before, mode)
    if wanted is None and before is not None:
        raise CheckpointError(f"{path} cannot be restored: what it was is lost")
    return Restoration(path, last[0], wanted, last[1])


def _is_restorable(connection: sqlite3.Connection, checkpoint_id: int, path: str) -> bool:
    row = connection.execute(
        "SELECT is_kept FROM changes WHERE path = ? AND checkpoint_id > ? "
        "ORDER BY checkpoint_id LIMIT 1",
        (path, checkpoint_id),
    ).fetchone()
    return row is not None and bool(row[0])


def _version(
    connection: sqlite3.Connection, digest: str | None, mode: int | None
) -> FileVersion | None:
    """Return what a file was, or None: there was none, or its content is not kept."""
    if digest is None:
        return None
    bits = 0o644 if mode is None else mode
    if digest == DIRECTORY_DIGEST:
        return FileVersion(b"", bits, "directory")
    row = connection.execute("SELECT data FROM contents WHERE digest = ?", (digest,)).fetchone()
    if row is None:
        return None
    return FileVersion(row[0], bits, "link" if digest.startswith(LINK_DIGEST) else "file")


def _checkpoint(connection: sqlite3.Connection, checkpoint_id: int, *row: str) -> Checkpoint:
    made_at, session_id, call_id, summary, state = row
    paths = _paths(connection, checkpoint_id)
    return Checkpoint(checkpoint_id, made_at, session_id, call_id, summary, state, paths)


def _paths(connection: sqlite3.Connection, checkpoint_id: int) -> tuple[str, ...]:
    rows = connection.execute(
        "SELECT path FROM changes WHERE checkpoint_id = ? ORDER BY path", (checkpoint_id,)
    )
    return tuple(path for (path,) in rows)


def _digest(version: FileVersion | FileDigest | None) -> str | None:
    return None if version is None else version.digest


def _now(ago: timedelta = timedelta()) -> str:
    return (datetime.now(UTC) - ago).isoformat()
