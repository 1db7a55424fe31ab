"""Copying from this host into a sandbox, over its own interface."""

from __future__ import annotations

import asyncio
import os
import posixpath
import stat
from collections.abc import Iterator
from typing import Protocol

__all__ = ["Writable", "copy_tree"]


class Writable(Protocol):
    """What takes files."""

    async def write_file(self, path: str, content: str | bytes, *, append: bool = False) -> None:
        """Write a file."""


async def copy_tree(target: Writable, host_path: str, path: str) -> None:
    """Copy a file, or the regular files below a directory, symlinks left out.

    Raises:
        OSError: `host_path` cannot be read.
    """
    for source, relative in await asyncio.to_thread(lambda: list(_files(host_path))):
        content = await asyncio.to_thread(_content, source)
        await target.write_file(posixpath.join(path, relative) if relative else path, content)


def _files(host_path: str) -> Iterator[tuple[str, str]]:
    if not stat.S_ISDIR(os.stat(host_path).st_mode):
        yield host_path, ""
        return

    def fail(error: OSError) -> None:
        raise error

    for directory, _, names in os.walk(host_path, onerror=fail):
        for name in sorted(names):
            source = os.path.join(directory, name)
            if stat.S_ISREG(os.lstat(source).st_mode):
                yield source, os.path.relpath(source, host_path)


def _content(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()
