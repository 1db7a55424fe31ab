"""Looks up the names of a sandbox by running commands."""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Iterable, Iterator, Sequence

from agentscope_like.sandbox.files.command_text import (
    FACTS,
    MAX_COMMAND_BYTES,
    CommandRunner,
    answer,
    quoted,
    require,
    unreadable,
)
from agentscope_like.sandbox.files.file_status import FileStatus

__all__ = ["CommandNames", "facts_of"]

_MOST_DIRECTORIES = 200

# Of what is not there: "!" and what `stat` says.
_STATUS = """\
for path in {paths}
do
  if told=$(facts "$path" 2>&1)
  then
    target=
    if [ -L "$path" ]; then target=$(readlink -n "$path"; printf x); fi
    printf '%s/%s\\0' "$told" "${{target%x}}"
  else printf '!%s\\0' "$told"
  fi
done"""

_ENTRIES = """\
export LC_ALL=C
if find / -maxdepth 0 -printf '' 2>/dev/null
then entries() {{ find "$1" -mindepth 1 -maxdepth 1 -printf '%y %T@ %f\\0'; }}
else entries() {{ find "$1" -mindepth 1 -maxdepth 1 -exec sh -c 'for entry
  do
    kind=o
    if [ -L "$entry" ]; then kind=l; elif [ -d "$entry" ]; then kind=d
    elif [ -f "$entry" ]; then kind=f; fi
    time=$(stat -c %Y "$entry" 2>/dev/null || stat -f %Fm "$entry" 2>/dev/null)
    printf "%s %s %s\\0" $kind "${{time:-0}}" "${{entry##*/}}"
  done' sh {{}} +; }}
fi
for path in {paths}
do
  if [ -d "$path" ] && [ ! -L "$path" ] && [ -r "$path" ] && [ -x "$path" ]
  then entries "$path" 2>/dev/null; printf '.\\0'
  else printf '!\\0'
  fi
done"""

_KINDS = {"f": stat.S_IFREG, "d": stat.S_IFDIR, "l": stat.S_IFLNK, "p": stat.S_IFIFO}
_FRACTION = re.compile(r"\.(\d{1,9})")
_ABSENT = (os.strerror(errno.ENOENT), os.strerror(errno.ENOTDIR))


class CommandNames:
    """Looks up names by POSIX commands and `stat`.

    Args:
        runner: The sandbox.
    """

    def __init__(self, runner: CommandRunner) -> None:
        self._runner = runner

    async def home(self) -> str:
        """Return the home directory; empty if there is none."""
        home = await require(self._runner, 'printf %s "$HOME"')
        return home if home.startswith("/") else ""

    async def status(self, paths: Sequence[str]) -> list[FileStatus]:
        """Return the status of each name."""
        found: list[FileStatus] = []
        for part in _parts(paths, len(paths)):
            told = await answer(self._runner, FACTS + _STATUS.format(paths=quoted(part)))
            records = b"" if told is None else told
            lines = os.fsdecode(records).split("\0")[:-1]
            if len(lines) != len(part):
                raise unreadable()
            found += map(_status, part, lines)
        return found

    async def entries(self, paths: Sequence[str]) -> list[list[FileStatus] | None]:
        """Return the entries of each directory, by several commands if there are many."""
        found: list[list[FileStatus] | None] = []
        for part in _parts(paths, _MOST_DIRECTORIES):
            found += await self._entries(part)
        return found

    async def _entries(self, paths: Sequence[str]) -> list[list[FileStatus] | None]:
        told = await answer(self._runner, _ENTRIES.format(paths=quoted(paths)))
        if told is not None:
            return list(_listed(paths, os.fsdecode(told).split("\0")))
        if len(paths) == 1:
            raise OSError(errno.EFBIG, "it has more entries than can be listed", paths[0])
        half = len(paths) // 2
        return [*await self._entries(paths[:half]), *await self._entries(paths[half:])]


def facts_of(path: str, told: str, target: str | None = None) -> FileStatus:
    """Parse what the shell function `facts` printed about a name.

    Raises:
        OSError: It cannot be parsed.
    """
    try:
        mode, *numbers, exact = told.split(" ", 7)
        device, inode, size, owner, group, seconds = map(int, numbers)
        kind = int(mode, 16)
    except ValueError:
        raise unreadable() from None
    fraction = _FRACTION.search(exact)
    nanoseconds = int(fraction[1].ljust(9, "0")) if fraction else 0
    return FileStatus(
        path,
        st_mode=kind,
        st_dev=device,
        st_ino=inode,
        st_size=size,
        st_uid=owner,
        st_gid=group,
        st_mtime_ns=seconds * 10**9 + nanoseconds,
        target=target,
    )


def _status(path: str, told: str) -> FileStatus:
    if told.startswith("!"):
        if told.endswith(_ABSENT):
            return FileStatus.missing(path)
        return FileStatus(path, error=errno.EACCES, reason=told[1:])
    facts, _, target = told.partition("/")
    known = facts_of(path, facts)
    return facts_of(path, facts, target) if known.is_link else known


def _listed(paths: Sequence[str], records: Iterable[str]) -> Iterator[list[FileStatus] | None]:
    remaining = iter(records)
    for path in paths:
        entries: list[FileStatus] = []
        for record in remaining:
            if record in ("!", "."):
                yield None if record == "!" else entries
                break
            entries.append(_entry(path, record))
        else:
            raise unreadable()


def _entry(directory: str, record: str) -> FileStatus:
    try:
        kind, time, name = record.split(" ", 2)
        seconds, _, fraction = time.partition(".")
        modified = int(seconds) * 10**9 + int(fraction[:9].ljust(9, "0"))
    except ValueError:
        raise unreadable() from None
    return FileStatus(
        f"{directory.rstrip('/')}/{name}",
        st_mode=_KINDS.get(kind, stat.S_IFCHR),
        st_mtime_ns=modified,
    )


def _parts(paths: Sequence[str], most: int) -> Iterator[Sequence[str]]:
    """Yield the paths in groups that fit into a command each."""
    part: list[str] = []
    size = 0
    for path in paths:
        length = 2 * len(os.fsencode(path)) + 8
        if part and (size + length > MAX_COMMAND_BYTES or len(part) >= most):
            yield part
            part, size = [], 0
        part.append(path)
        size += length
    if part:
        yield part
