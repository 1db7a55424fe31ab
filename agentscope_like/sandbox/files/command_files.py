"""Reads and writes files of a sandbox by running commands."""

from __future__ import annotations

import base64
import posixpath
import shlex
import uuid
from typing import Protocol

from agentscope_like.exception import SandboxPathError
from agentscope_like.sandbox.result import CommandResult, FileInfo

__all__ = ["MAX_FILE_BYTES", "CommandFiles", "CommandRunner"]

MAX_FILE_BYTES = 64 << 20
"""The largest file that is read as a whole."""

_READ_BYTES = 256 << 10
_WRITE_BYTES = 48 << 10
_SECONDS = 60

_NO_FILE = 66
_NO_REGULAR_FILE = 67
_NO_DIRECTORY = 68

_REQUIRE_FILE = f"""\
[ -e "$path" ] || exit {_NO_FILE}
[ -f "$path" ] || exit {_NO_REGULAR_FILE}
"""

_PUT = f"""\
if [ -d "$path" ]; then rm -f -- "$new"; exit {_NO_REGULAR_FILE}; fi
if [ -e "$path" ]; then cat <"$new" >"$path" && rm -f -- "$new"; else mv -f -- "$new" "$path"; fi
"""

_DELETE = f"""\
[ -e "$path" ] || [ -L "$path" ] || exit {_NO_FILE}
rm -f -- "$path"
"""

# A name ends with the one character, besides NUL, that no name contains.
_LIST = f"""\
[ -e "$path" ] || exit {_NO_FILE}
[ -d "$path" ] || exit {_NO_DIRECTORY}
find "$path/" -mindepth 1 -maxdepth 1 -exec sh -c 'for entry; do
  kind=f size=0
  if [ -L "$entry" ]; then :
  elif [ -d "$entry" ]; then kind=d
  elif [ -f "$entry" ]; then size=$(($(wc -c <"$entry" 2>/dev/null || echo 0)))
  fi
  printf "%s %s %s/" $kind $size "${{entry##*/}}"
done' sh {{}} +
"""


class CommandRunner(Protocol):
    """Runs commands in a workspace; a sandbox is one."""

    @property
    def workspace_path(self) -> str:
        """Return the directory that relative paths start from."""

    async def execute_command(
        self, command: str, workdir: str | None = None, timeout: float = 30
    ) -> CommandResult:
        """Run a command."""


class CommandFiles:
    """Reads and writes files by POSIX commands and `base64`.

    Args:
        runner: The sandbox.
    """

    def __init__(self, runner: CommandRunner) -> None:
        self._runner = runner

    async def read(self, path: str) -> bytes:
        """Return the content of a regular file."""
        size = int((await self._run(_REQUIRE_FILE + 'wc -c <"$path"', path)).stdout)
        if size > MAX_FILE_BYTES:
            raise SandboxPathError(
                f"{path} has {size:,} bytes, and at most {MAX_FILE_BYTES:,} are read at once: read "
                "a part of it by a command such as head."
            )
        data = b""
        while len(data) < size:
            part = f'tail -c +{len(data) + 1} <"$path" | head -c {_READ_BYTES} | base64'
            new = base64.b64decode((await self._run(part, path)).stdout)
            if not new:
                break
            data += new
        return data

    async def write(self, path: str, data: bytes, *, append: bool) -> None:
        """Write a file through a temporary one, or append to it."""
        target = self._absolute(path)
        directory = posixpath.dirname(target)
        await self._run(f"mkdir -p -- {shlex.quote(directory)}", path)
        new = target if append else posixpath.join(directory, f".{uuid.uuid4().hex}.new")
        for start in range(0, len(data) or 1, _WRITE_BYTES):
            text = base64.b64encode(data[start : start + _WRITE_BYTES]).decode()
            await self._run(f"printf %s '{text}' | base64 -d >>{shlex.quote(new)}", path)
        if not append:
            await self._run(f"new={shlex.quote(new)}\n{_PUT}", path)

    async def entries(self, path: str, *, hidden: bool) -> list[FileInfo]:
        """Return the entries of a directory."""
        found = []
        for line in (await self._run(_LIST, path)).stdout.split("/")[:-1]:
            kind, size, name = line.split(" ", 2)
            if hidden or not name.startswith("."):
                place = posixpath.join(self._absolute(path), name)
                found.append(FileInfo(name, place, is_dir=kind == "d", size=int(size)))
        return sorted(found, key=lambda info: info.name)

    async def exists(self, path: str) -> bool:
        """Return whether the name exists."""
        command = f"[ -e {shlex.quote(self._absolute(path))} ]"
        done = await self._runner.execute_command(command, timeout=_SECONDS)
        return done.return_code == 0

    async def delete(self, path: str) -> None:
        """Remove a file, but no directory."""
        await self._run(_DELETE, path)

    def _absolute(self, path: str) -> str:
        return posixpath.normpath(posixpath.join(self._runner.workspace_path, path))

    async def _run(self, command: str, path: str) -> CommandResult:
        """Run a command that finds the absolute path in `$path`."""
        named = f"path={shlex.quote(self._absolute(path))}\n{command}"
        done = await self._runner.execute_command(named, timeout=_SECONDS)
        if done.return_code == _NO_FILE:
            raise FileNotFoundError(f"there is no {path} in the sandbox")
        if done.return_code == _NO_REGULAR_FILE:
            raise SandboxPathError(f"{path} is not a regular file: name one.")
        if done.return_code == _NO_DIRECTORY:
            raise SandboxPathError(f"{path} is not a directory: name one.")
        if not done.success:
            said = done.stderr.strip()[-300:] or f"exit status {done.return_code}"
            raise SandboxPathError(f"{path} cannot be used in the sandbox: {said}")
        return done
