"""Builds shell commands that work on files, and reads their answers."""

from __future__ import annotations

import base64
import binascii
import errno
import os
import shlex
import zlib
from collections.abc import Sequence
from typing import Protocol

from agentscope_like.sandbox.result import CommandResult

__all__ = [
    "FACTS",
    "MAX_COMMAND_BYTES",
    "CommandRunner",
    "answer",
    "quoted",
    "require",
    "unreadable",
]

MAX_COMMAND_BYTES = 96 << 10
"""Longest command; Linux takes 128 KB as one argument of a program."""

SECONDS = 60
"""How long one command may take."""

_MOST_ANSWER = 900_000
"""Characters of an answer; a sandbox keeps a megabyte of what a command says."""

_MOST_BYTES = 64 << 20

LINK, CHANGED, NOT_REGULAR, EXISTS, MISSING, DIRECTORY, DENIED = range(70, 77)
"""Exit statuses of these commands, which say what programs say in words only."""

_ERRORS = {
    LINK: errno.ELOOP,
    CHANGED: errno.ESTALE,
    NOT_REGULAR: errno.ENXIO,
    EXISTS: errno.EEXIST,
    MISSING: errno.ENOENT,
    DIRECTORY: errno.EISDIR,
    DENIED: errno.EACCES,
}
_SAID = {
    os.strerror(number): number
    for number in (
        *(errno.ENOENT, errno.EACCES, errno.EPERM, errno.ENOTDIR, errno.EISDIR, errno.EROFS),
        *(errno.ENOSPC, errno.EDQUOT, errno.ENAMETOOLONG, errno.ELOOP, errno.EEXIST),
    )
}

FACTS = """\
export LC_ALL=C
if stat -c %f / >/dev/null 2>&1
then
  facts() { stat -c '%f %d %i %s %u %g %Y %y' "$1"; }
  opened() { stat -L -c '%f %d %i %s %u %g %Y %y' /dev/fd/3; }
else
  facts() { stat -f '%Xp %d %i %z %u %g %m %Fm' "$1"; }
  opened() { stat -f '%Xp %d %i %z %u %g %m %Fm' <&3; }
fi
"""
"""Defines `facts PATH` and `opened`, for what is open as 3; with GNU's or busybox's `stat`, or
BSD's."""

_PACKED = """\
{{ {body}
}} | if command -v gzip >/dev/null 2>&1
then printf z; gzip -c | base64; else printf p; base64
fi | head -c {most}
"""


class CommandRunner(Protocol):
    """Runs commands; a sandbox is one."""

    async def execute_command(
        self, command: str, workdir: str | None = None, timeout: float = 30
    ) -> CommandResult:
        """Run a command."""


def quoted(paths: Sequence[str]) -> str:
    """Return paths as words of a command."""
    return " ".join(map(shlex.quote, paths))


async def require(runner: CommandRunner, command: str) -> str:
    """Run a command and return its output.

    Raises:
        OSError: It failed; its `errno` as far as that can be told.
    """
    done = await runner.execute_command(command, timeout=SECONDS)
    if done.success:
        return done.stdout
    if done.timed_out:
        raise OSError(errno.ETIMEDOUT, os.strerror(errno.ETIMEDOUT))
    said = done.stderr.strip()
    number = _ERRORS.get(done.return_code) or next(
        (number for text, number in _SAID.items() if said.endswith(text)), 0
    )
    if number:
        raise OSError(number, os.strerror(number))
    raise OSError(errno.EIO, said[-300:] or f"exit status {done.return_code}")


async def answer(runner: CommandRunner, body: str) -> bytes | None:
    """Run commands and return their output as bytes; None if it is too long.

    Raises:
        OSError: They could not be run.
    """
    text = await require(runner, _PACKED.format(body=body, most=_MOST_ANSWER))
    if len(text) >= _MOST_ANSWER:
        return None
    try:
        data = base64.b64decode(text[1:])
        if text[:1] == "z":
            data = zlib.decompressobj(wbits=31).decompress(data, _MOST_BYTES)
        return data
    except (binascii.Error, zlib.error) as error:
        raise unreadable() from error


def unreadable() -> OSError:
    """Return the error for an answer that cannot be parsed."""
    return OSError(errno.EIO, "the sandbox's answer cannot be read")
