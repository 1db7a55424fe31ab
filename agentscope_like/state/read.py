"""What the agent has read: by digest, never by content."""

from __future__ import annotations

import asyncio
import hashlib
import os
from heapq import nlargest

from pydantic import BaseModel, ConfigDict, Field

from agentscope_like.message.block import now
from agentscope_like.permission.text import Text, printable

__all__ = ["ReadCacheEntry", "ReadState", "ToolContext", "describe_file"]

MAX_RANGES = 200
"""How many ranges of lines are remembered of one file; beyond, the shortest are forgotten."""


class ReadCacheEntry(BaseModel):
    """One file as it was when the agent last saw it.

    Attributes:
        file_path: Its resolved path, as text that can be stored.
        digest: SHA-256 of its bytes, in hexadecimal.
        bytes: Its size, in bytes.
        updated_at: Its modification time, in seconds since the epoch.
        seen: The lines shown, as 1-based inclusive ranges; empty where the agent wrote it itself.
    """

    model_config = ConfigDict(defer_build=True, extra="forbid", frozen=True)

    file_path: Text
    digest: str
    bytes: int
    updated_at: float
    seen: tuple[tuple[int, int], ...] = ()
    recorded_at: str = Field(default_factory=now)


def describe_file(file_path: str, seen: tuple[tuple[int, int], ...] = ()) -> ReadCacheEntry:
    """Return the file as it is now; blocks while it reads.

    Args:
        file_path: A regular file; the caller has made sure of that.
        seen: The lines shown to the agent, as 1-based inclusive ranges.

    Raises:
        OSError: The file cannot be read.
    """
    path = os.path.realpath(file_path)
    with open(path, "rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
        status = os.fstat(file.fileno())
    return ReadCacheEntry(
        file_path=path,
        digest=digest,
        bytes=status.st_size,
        updated_at=status.st_mtime,
        seen=seen,
    )


class ReadState(BaseModel):
    """The files that the agent has read, least recently read first; bounded in number.

    Attributes:
        max_files: How many files are remembered; the oldest is forgotten beyond (default 100).
    """

    model_config = ConfigDict(defer_build=True, extra="forbid")

    max_files: int = Field(default=100, ge=1)
    entries: dict[str, ReadCacheEntry] = Field(default_factory=dict)

    def get(self, file_path: str) -> ReadCacheEntry | None:
        """Return what is known of the file of this resolved path, or None where it was not read."""
        return self.entries.get(printable(file_path))

    def record(self, entry: ReadCacheEntry) -> None:
        """Remember the file as `entry` describes it, joining what was seen of the same bytes."""
        known = self.entries.pop(entry.file_path, None)
        if known is not None and known.digest == entry.digest:
            entry = entry.model_copy(update={"seen": _merged(known.seen + entry.seen)})
        self.entries[entry.file_path] = entry
        while len(self.entries) > self.max_files:
            del self.entries[next(iter(self.entries))]

    def forget(self, file_path: str) -> None:
        """Forget the file of this resolved path."""
        self.entries.pop(printable(file_path), None)


class ToolContext(BaseModel):
    """What the tools of one session remember.

    Attributes:
        max_cache_files: How many read files are remembered (default 100).
        max_cache_bytes: Kept for compatibility; no file content is ever stored.
        read_state: The files read.
        activated_groups: The tool groups that are active besides `basic`.
        directories: The directory that the next command starts in, by the name of the shell tool.
        outputs: The files of whole outputs that results of this session name; reading them is not
            asked about.
    """

    model_config = ConfigDict(defer_build=True, extra="forbid")

    max_cache_files: int = Field(default=100, ge=1)
    max_cache_bytes: float = 25000
    read_state: ReadState = Field(default_factory=ReadState)
    activated_groups: list[str] = Field(default_factory=list)
    directories: dict[str, str] = Field(default_factory=dict)
    outputs: list[str] = Field(default_factory=list)

    @property
    def read_file_cache(self) -> list[ReadCacheEntry]:
        """Return what is remembered, least recently read first."""
        return list(self.read_state.entries.values())

    async def get_cache(self, file_path: str) -> ReadCacheEntry | None:
        """Return what was read of this file, or None where it was not, or has changed since."""
        try:
            now_there = await asyncio.to_thread(describe_file, file_path)
        except OSError:
            return None
        entry = self.read_state.get(now_there.file_path)
        return entry if entry is not None and entry.digest == now_there.digest else None

    async def cache_file(self, file_path: str, lines: list[str]) -> None:
        """Remember that these lines, the file's first, were shown to the agent."""
        seen = ((1, len(lines)),) if lines else ()
        entry = await asyncio.to_thread(describe_file, file_path, seen)
        self.read_state.max_files = self.max_cache_files
        self.read_state.record(entry)

    async def clean_file_cache(self, reserved_file_paths: set[str] | None = None) -> None:
        """Forget every file but the reserved ones."""
        keep = await asyncio.to_thread(_resolved, reserved_file_paths or set())
        for path in list(self.read_state.entries):
            if path not in keep:
                self.read_state.forget(path)


def _merged(ranges: tuple[tuple[int, int], ...]) -> tuple[tuple[int, int], ...]:
    """Return the ranges in order, those that touch or overlap as one, as many as are kept."""
    merged: list[tuple[int, int]] = []
    for first, last in sorted(ranges):
        if merged and first <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(last, merged[-1][1]))
        else:
            merged.append((first, last))
    if len(merged) > MAX_RANGES:
        merged = sorted(nlargest(MAX_RANGES, merged, key=lambda seen: seen[1] - seen[0]))
    return tuple(merged)


def _resolved(paths: set[str]) -> set[str]:
    return {os.path.realpath(path) for path in paths}
