"""Defines what a checkpoint records: files before and after a change."""

from __future__ import annotations

from hashlib import sha256
from typing import Literal

from msgspec import Struct

__all__ = [
    "Checkpoint",
    "CheckpointState",
    "FileChange",
    "FileState",
    "FileVersion",
    "Restoration",
]

CheckpointState = str
"""`done`, `begun` (the change may have been made or not) or `unknown` (it was neither)."""


FileState = Literal["old", "new", "other"]
"""What a file of a checkpoint is now: as before the change, as after it, or neither."""


class FileVersion(Struct, frozen=True):
    """What a file is at one moment.

    Attributes:
        data: Its content.
        mode: Its permission bits, such as 0o644.
    """

    data: bytes
    mode: int = 0o644

    @property
    def digest(self) -> str:
        """Return the SHA-256 of the content, in hexadecimal."""
        return sha256(self.data).hexdigest()


class FileChange(Struct, frozen=True):
    """One file of a checkpoint.

    Attributes:
        path: Its absolute, resolved path.
        before: What it was; None where it did not exist, or was too large to be kept.
        after: What it became; None where it was removed.
        is_kept: Whether `before` is all that is needed to undo the change.
        is_after_known: Whether `after` is what the file will be; a command's is known once it ran.
    """

    path: str
    before: FileVersion | None
    after: FileVersion | None
    is_kept: bool = True
    is_after_known: bool = True


class Checkpoint(Struct, frozen=True):
    """One recorded change of files.

    Attributes:
        id: Its number; later ones are greater.
        made_at: When it began, ISO 8601 in UTC.
        session_id: The session whose call made it.
        call_id: The call.
        summary: What was done, in a sentence.
        state: `done`; `begun` while its files may be old or new; `unknown` where they were neither.
        paths: The files.
    """

    id: int
    made_at: str
    session_id: str
    call_id: str
    summary: str
    state: CheckpointState
    paths: tuple[str, ...]


class Restoration(Struct, frozen=True):
    """What restoring makes of one file.

    Attributes:
        path: The file.
        last: What the latest checkpoint left there, as a digest; None where it left no file, and
            empty where that is not known. A file that is anything else was changed by others since.
        wanted: What it is to be; None to remove it.
    """

    path: str
    last: str | None
    wanted: FileVersion | None
