"""Defines what a checkpoint records: files before and after a change."""

from __future__ import annotations

from hashlib import sha256
from typing import Literal

from msgspec import Struct

__all__ = [
    "Checkpoint",
    "CheckpointState",
    "FileChange",
    "FileDigest",
    "FileState",
    "FileVersion",
    "KnownChange",
    "Restoration",
    "VersionKind",
]

DIRECTORY_DIGEST = "directory"
LINK_DIGEST = "link:"

CheckpointState = str
"""`done`, `begun` (the change may have been made or not), `held` (begun, and only whoever makes it
can tell whether it was) or `unknown` (it was neither)."""

VersionKind = Literal["file", "link", "directory"]
"""A regular file, a symlink or a directory."""

FileState = Literal["old", "new", "other"]
"""What a file of a checkpoint is now: as before the change, as after it, or neither."""


class FileVersion(Struct, frozen=True):
    """What a file, symlink or directory is at one moment.

    Attributes:
        data: The content of a file, or where a symlink leads; empty for a directory.
        mode: Its permission bits, such as 0o644.
        kind: Which of them it is.
    """

    data: bytes
    mode: int = 0o644
    kind: VersionKind = "file"

    @property
    def digest(self) -> str:
        """Return the SHA-256 of a file's content, in hexadecimal; for others, what they are."""
        if self.kind == "directory":
            return DIRECTORY_DIGEST
        digest = sha256(self.data).hexdigest()
        return f"{LINK_DIGEST}{digest}" if self.kind == "link" else digest


class FileDigest(Struct, frozen=True):
    """What a file, symlink or directory is at one moment, without its content.

    Attributes:
        digest: As that of `FileVersion`.
        mode: Its permission bits.
    """

    digest: str
    mode: int

    @property
    def kind(self) -> VersionKind:
        """Return which of them it is."""
        if self.digest == DIRECTORY_DIGEST:
            return "directory"
        return "link" if self.digest.startswith(LINK_DIGEST) else "file"


class FileChange(Struct, frozen=True):
    """One file of a checkpoint.

    Attributes:
        path: Its absolute, resolved path.
        before: What it was; None where it did not exist. Where only its digest is given, it is not
            kept, and the change cannot be undone.
        after: What it became, whose content is kept if it is given; None where it was removed.
        is_kept: Whether `before` is all that is needed to undo the change.
        is_after_known: Whether `after` is what the file will be; a command's is known once it ran.
    """

    path: str
    before: FileVersion | FileDigest | None
    after: FileVersion | FileDigest | None
    is_kept: bool = True
    is_after_known: bool = True


class KnownChange(Struct, frozen=True):
    """One file of a checkpoint whose change can be made again, as all that it needs is kept.

    Attributes:
        path: Its absolute, resolved path.
        before: What it was; None where it did not exist.
        after: What it is to become; None where it is removed.
    """

    path: str
    before: FileDigest | None
    after: FileVersion | None


class Checkpoint(Struct, frozen=True):
    """One recorded change of files.

    Attributes:
        id: Its number; later ones are greater.
        made_at: When it began, ISO 8601 in UTC.
        session_id: The session whose call made it.
        call_id: The call.
        summary: What was done, in a sentence.
        state: `done`; `begun` or `held` while its files may be old or new; `unknown` where they
            were neither.
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
    """What restoring makes of one file, symlink or directory.

    Attributes:
        path: Its path.
        last: What the latest checkpoint left there, as a digest; None where it left no file, and
            empty where that is not known. A file that is anything else was changed by others since.
        wanted: What it is to be; None to remove it.
        last_mode: The permission bits that the latest checkpoint left; None where that is not
            known. Bits that others changed since stay.
    """

    path: str
    last: str | None
    wanted: FileVersion | None
    last_mode: int | None = None
