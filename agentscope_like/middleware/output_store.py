"""Stores the full text of outputs that were truncated for the model."""

from __future__ import annotations

import asyncio
import errno
import os
import re
import shutil
import stat
import tempfile
import threading
import weakref
from pathlib import Path
from typing import Protocol

from agentscope_like.exception import ConfigurationError

__all__ = ["DirectoryOutputStore", "OutputStore"]

_KEY = re.compile(r"[A-Za-z0-9_-]{1,128}")


class OutputStore(Protocol):
    """Stores outputs by key."""

    async def append(self, key: str, text: str) -> str:
        """Add the text to the output of this key.

        Args:
            key: Letters, digits, `_` and `-`.
            text: The next part of the text.

        Returns:
            The location of the output, as shown to the model.

        Raises:
            OSError: It cannot be stored in full.
        """


class DirectoryOutputStore:
    """Stores each output as a file, in a directory that only this user can enter.

    Args:
        directory: The directory, created if missing. By default a temporary one, which is removed
            with the store.
        max_bytes: The maximum number of bytes stored of one output (default 100 MB).
        max_total_bytes: The maximum number of bytes stored of all (default 2 GB); the oldest
            outputs are removed.

    Raises:
        ConfigurationError: Others can enter the directory, or another user owns it.
    """

    def __init__(
        self,
        directory: str | os.PathLike[str] | None = None,
        *,
        max_bytes: int = 100_000_000,
        max_total_bytes: int = 2_000_000_000,
    ) -> None:
        self._max_bytes = max_bytes
        self._max_total_bytes = max_total_bytes
        self._lock = threading.Lock()
        self._directory: Path | None = None
        if directory is not None:
            self._directory = Path(directory).absolute()
            self._directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            _check_private(self._directory)

    async def append(self, key: str, text: str) -> str:
        """Add the text to the file of this key and return the file's path.

        Raises:
            ConfigurationError: The key cannot be a file name.
            OSError: The file cannot be written, or holds `max_bytes` already.
        """
        if not _KEY.fullmatch(key):
            raise ConfigurationError(f"the key {key!r} cannot name a file")
        return await asyncio.to_thread(self._append, key, text)

    def _append(self, key: str, text: str) -> str:
        directory = self._private_directory()
        path = directory / f"{key}.txt"
        if not path.exists():
            self._make_room(directory)
        data = text.encode(errors="backslashreplace")
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
        with open(os.open(path, flags, 0o600), "ab") as file:
            room = self._max_bytes - file.tell()
            file.write(data[:room] if room > 0 else b"")
        if len(data) > room:
            raise OSError(errno.EFBIG, f"an output may have {self._max_bytes:,} bytes", str(path))
        return str(path)

    def _make_room(self, directory: Path) -> None:
        """Remove the oldest outputs until the rest is within the limit."""
        with self._lock:
            stored = sorted(directory.glob("*.txt"), key=lambda each: each.lstat().st_mtime_ns)
            total = sum(each.lstat().st_size for each in stored)
            for each in stored:
                if total <= self._max_total_bytes:
                    return
                total -= each.lstat().st_size
                each.unlink()

    def _private_directory(self) -> Path:
        with self._lock:
            if self._directory is None:
                self._directory = Path(tempfile.mkdtemp(prefix="agentscope-like-"))
                weakref.finalize(self, shutil.rmtree, self._directory, ignore_errors=True)
            return self._directory


def _check_private(directory: Path) -> None:
    status = directory.stat()
    if status.st_uid != os.geteuid() or stat.S_IMODE(status.st_mode) & 0o077:
        raise ConfigurationError(
            f"others may enter {directory}, and outputs can hold secrets: make it yours alone "
            "(`chmod 700`), or name another directory"
        )
