"""Reads and replaces the file that was judged, and no other, by running commands.

A command changes to the file's directory first, so a symlink that is put on the way later has no
effect. It opens the file and then checks which file it has opened.
"""

from __future__ import annotations

import base64
import binascii
import contextlib
import errno
import os
import posixpath
import secrets
import shlex

from agentscope_like.sandbox.files.command_names import facts_of
from agentscope_like.sandbox.files.command_text import (
    CHANGED,
    DENIED,
    DIRECTORY,
    EXISTS,
    FACTS,
    LINK,
    MISSING,
    NOT_REGULAR,
    CommandRunner,
    require,
    unreadable,
)
from agentscope_like.sandbox.files.file_status import FileStatus

__all__ = ["CommandReplacing"]

MAX_FILE_BYTES = 64 << 20
_READ_BYTES = 256 << 10
_WRITE_BYTES = 48 << 10

_ENTER = f"""\
cd -P "$directory" || exit 1
[ "$(env pwd -P)" = "$directory" ] || exit {LINK}
"""

# Prints, for each directory that it makes, how many these are by now.
_ENTER_MAKING = f"""\
made=0 last= at= rest=${{directory#/}}/
undo() {{ while [ $made -gt 0 ]; do rmdir "$last"; last=${{last%/*}} made=$((made - 1)); done; }}
trap '[ $? = 0 ] || undo' EXIT
cd /
while [ -n "$rest" ] && [ "$rest" != / ]
do
  part=${{rest%%/*}} rest=${{rest#*/}} at=$at/$part
  if [ ! -e "./$part" ] && [ ! -L "./$part" ]
  then mkdir "./$part" || exit 1; made=$((made + 1)) last=$at; printf '%s\\n' $made
  fi
  [ ! -L "./$part" ] || exit {LINK}
  cd -P "./$part" || exit 1
  if [ $made != 0 ] || [ "$at" = "$directory" ]
  then [ "$(env pwd -P)" = "$at" ] || exit {LINK}
  fi
done
"""

_OPEN = (
    FACTS
    + f"""\
[ ! -L "$name" ] || exit {LINK}
[ -e "$name" ] || exit {MISSING}
[ ! -d "$name" ] || exit {DIRECTORY}
[ -f "$name" ] || exit {NOT_REGULAR}
exec 3<"$name" || exit 1
told=$(opened) || exit 1
set -- $told
[ "$2 $3" = "$known" ] || exit {CHANGED}
"""
)

_READ = """\
printf '%s\\n' "$told"
tail -c +{start} <&3 | head -c {count} | base64
"""

_PUT = """\
set -o pipefail
printf %s '{text}' | base64 -d >{more}"$new" || {{ rm -f "$new"; exit 1; }}
"""

_TAKE_PLACE = (
    "trap 'rm -f \"$new\"' EXIT\n"
    + _OPEN
    + f"""\
[ -w "$name" ] || exit {DENIED}
hash() {{ sha256sum 2>/dev/null || shasum -a 256 2>/dev/null || openssl dgst -sha256 -r; }}
sum=$(hash <&3) || exit 1
[ "${{sum%% *}}" = "$digest" ] || exit {CHANGED}
# what only GNU's has: extended attributes and access lists
cp --attributes-only --preserve=mode,xattr /dev/fd/3 "$new" 2>/dev/null
chown "$5:$6" "$new" 2>/dev/null
chmod "$(printf %o $((0x$1 & 01777)))" "$new" || exit 1
[ "$name" -ef /dev/fd/3 ] || exit {CHANGED}
mv -f "$new" "$name" || exit 1
facts "$name"
"""
)

_TAKE_NEW_PLACE = (
    "trap 'rm -f \"$new\"' EXIT\n"
    + FACTS
    + f"""\
if [ -e "$name" ] || [ -L "$name" ]; then exit {EXISTS}; fi
if ! ln "$new" "$name" 2>/dev/null
then
  if [ -e "$name" ] || [ -L "$name" ]; then exit {EXISTS}; fi
  mv "$new" "$name" || exit 1
fi
facts "$name"
"""
)

_REMOVE_MADE = """\
path=$directory
while [ "$made" -gt 0 ]
do rmdir "$path" || exit 0; path=${path%/*} made=$((made - 1))
done
"""


class CommandReplacing:
    """Reads and replaces files by POSIX commands, `stat` and a program for SHA-256.

    Args:
        runner: The sandbox.
    """

    def __init__(self, runner: CommandRunner) -> None:
        self._runner = runner

    async def read(self, file: FileStatus) -> bytes:
        """Return what a file holds; see `KnownFiles`."""
        data, first, size = b"", "", 1
        begin = _named(file.path) + _known(file) + _ENTER + _OPEN
        while len(data) < size:
            command = begin + _READ.format(start=len(data) + 1, count=_READ_BYTES)
            told, _, text = (await require(self._runner, command)).partition("\n")
            first = first or told
            size = facts_of(file.path, told).st_size
            if size > MAX_FILE_BYTES:
                raise OSError(errno.EFBIG, os.strerror(errno.EFBIG))
            if told != first:
                raise OSError(errno.ESTALE, os.strerror(errno.ESTALE))
            try:
                new = base64.b64decode(text)
            except binascii.Error:
                raise unreadable() from None
            if not new:
                break
            data += new
        return data

    async def replace(self, file: FileStatus, digest: str, data: bytes) -> FileStatus:
        """Put data in the place of a file; see `KnownFiles`."""
        begin = _named(file.path) + f"umask 077\ndigest={digest}\n" + _known(file) + _ENTER
        told = await self._written(begin, data, _TAKE_PLACE)
        return facts_of(file.path, told.strip())

    async def create(self, path: str, data: bytes) -> FileStatus:
        """Make a file; see `KnownFiles`."""
        begin = _named(path)
        made = "0"
        try:
            told = await require(self._runner, begin + _ENTER_MAKING)
            made = told.split()[-1] if told.split() else "0"
            told = await self._written(begin + _ENTER, data, _TAKE_NEW_PLACE)
        except BaseException:
            if made != "0":
                with contextlib.suppress(OSError):
                    await require(self._runner, f"{begin}made={made}\n{_REMOVE_MADE}")
            raise
        return facts_of(path, told.strip())

    async def _written(self, begin: str, data: bytes, end: str) -> str:
        """Write a temporary file next to it; the last command renames it."""
        begin = f"new=./.{secrets.token_hex(12)}.tmp\n{begin}"
        told = ""
        try:
            for start in range(0, len(data) or 1, _WRITE_BYTES):
                text = base64.b64encode(data[start : start + _WRITE_BYTES]).decode()
                put = _PUT.format(text=text, more=">" if start else "")
                is_last = start + _WRITE_BYTES >= len(data)
                told = await require(self._runner, begin + put + (end if is_last else ""))
        except BaseException as error:
            if len(data) > _WRITE_BYTES or not isinstance(error, OSError):
                with contextlib.suppress(OSError):
                    await require(self._runner, f'{begin}rm -f "$new"')
            raise
        return told


def _named(path: str) -> str:
    directory, name = posixpath.split(path)
    if not name:
        raise OSError(errno.EISDIR, os.strerror(errno.EISDIR))
    return f"directory={shlex.quote(directory)}\nname={shlex.quote(f'./{name}')}\n"


def _known(file: FileStatus) -> str:
    return f"known='{file.st_dev} {file.st_ino}'\n"
