"""Resolves a path: as written, as normalized text, and as the kernel follows symlinks.

`locate` alone looks paths up in a file system, of this host or of a sandbox. It makes
one `lstat` per component, opens nothing, and never blocks on a FIFO or a device.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from enum import StrEnum
from posixpath import normpath

from msgspec import Struct

from agentscope_like.paths.errors import PathError
from agentscope_like.paths.file_system import FileSystemNames, NameStatus

__all__ = [
    "FileKind",
    "Location",
    "inside",
    "is_below",
    "lineage",
    "locate",
    "names_of",
    "unlinked",
]

MAX_PATH_LENGTH = 4096
"""Characters of an absolute path; PATH_MAX of Linux, which refuses longer ones as well."""

MAX_SYMLINKS = 40
"""Symlinks followed in one path before it counts as a loop; MAXSYMLINKS of Linux."""

_UNSHOWABLE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


class FileKind(StrEnum):
    """What a path leads to.

    Attributes:
        FILE: A regular file.
        DIRECTORY: A directory.
        SYMLINK: A symlink, where the last one was not to be followed.
        FIFO: A named pipe: opening it may block for ever.
        SOCKET: A socket.
        DEVICE: A character or block device.
        MISSING: Nothing is there.
        LOOP: Symlinks lead in a circle, or through more than 40 links.
        UNREADABLE: A directory on the way cannot be searched, so the kind is unknown.
    """

    FILE = "file"
    DIRECTORY = "directory"
    SYMLINK = "symlink"
    FIFO = "fifo"
    SOCKET = "socket"
    DEVICE = "device"
    MISSING = "missing"
    LOOP = "loop"
    UNREADABLE = "unreadable"


# An enum's members are looked up once: finding one in its class is as slow as a call.
_DEVICE, _MISSING = FileKind.DEVICE, FileKind.MISSING

_KINDS = {
    stat.S_IFREG: FileKind.FILE,
    stat.S_IFDIR: FileKind.DIRECTORY,
    stat.S_IFLNK: FileKind.SYMLINK,
    stat.S_IFIFO: FileKind.FIFO,
    stat.S_IFSOCK: FileKind.SOCKET,
}

_UNCERTAIN = frozenset({FileKind.LOOP, FileKind.UNREADABLE})


class Location(Struct, frozen=True, gc=False):
    """All readings of one path at one moment.

    Attributes:
        written: The path as it was given.
        absolute: Tilde expanded, joined to the directory, `.`, `..` and `//` folded as text.
        resolved: Where the kernel would end up; this is the path for a tool to open.
        readings: `absolute`, `resolved`, and every path met while following symlinks, without
            repetition, `absolute` first. `a/../b` has two if `a` is a symlink: the text says `b`,
            the kernel says otherwise. A rule that allows must match all, one that forbids any.
        kind: What `resolved` is.
        identity: Device and inode of `resolved`, or None if it does not exist. If they are equal
            when the file is opened, it is the file that was judged.
        home: The home directory that `~` expanded to; empty if there is none.
    """

    written: str
    absolute: str
    resolved: str
    readings: tuple[str, ...]
    kind: FileKind
    identity: tuple[int, int] | None
    home: str

    @property
    def exists(self) -> bool:
        """Return whether the path is known to exist."""
        return self.identity is not None

    @property
    def certain(self) -> bool:
        """Return whether all readings are known; if not, nothing can be allowed."""
        return self.kind not in _UNCERTAIN


def locate(
    path: str,
    *,
    directory: str,
    home: str | None = None,
    follow: bool = True,
    names: FileSystemNames = os,
) -> Location:
    """Resolve `path` as text and as the kernel would.

    Args:
        path: Absolute, relative to `directory`, or beginning with `~` or `~user`.
        directory: The base of a relative path; itself relative to the process's own.
        home: What `~` stands for; the user's home by default.
        follow: Whether a symlink at the end is followed. False is for operations on the link
            itself, such as removing or renaming it; a trailing slash follows it anyway.
        names: The file system; this host's by default.

    Raises:
        PathError: The path is empty, too long, or contains NUL, control characters, characters
            that change the direction of text, or lone surrogates.
    """
    if home is None:
        home = os.path.expanduser("~")
    if home[:1] != "/":
        home = ""
    full = os.path.join(directory, _expand(path, home))
    if full[0] != "/":
        full = os.path.join(os.getcwd(), full)
    _check(path, full)
    absolute = _fold(full)
    readings = [absolute]
    resolved, kind, status = _walk(full, readings, names, follow=follow)
    if "/.." in full:
        _, folded_kind, _ = _walk(absolute, readings, names, follow=follow)
        if folded_kind in _UNCERTAIN:
            kind, status = folded_kind, None
    return Location(
        written=path,
        absolute=absolute,
        resolved=resolved,
        readings=tuple(dict.fromkeys((*readings, resolved))),
        kind=kind,
        identity=None if status is None else (status.st_dev, status.st_ino),
        home=home,
    )


def unlinked(path: str, *, directory: str) -> str:
    """Return a path without a tilde normalized as text, ignoring symlinks.

    Args:
        path: Absolute, or relative to `directory`.
        directory: An absolute directory.

    Raises:
        PathError: As in `locate`.
    """
    full = os.path.join(directory, _expand(path, ""))
    _check(path, full)
    return _fold(full)


def inside(directory: Location, relative: str, *, kind: FileKind = FileKind.FILE) -> Location:
    """Return the location of an entry that a walk found, without another lookup.

    Args:
        directory: Where the walk began.
        relative: The path below it, without a symlink on the way; empty for the directory itself.
        kind: Its kind.
    """
    if not relative:
        return directory
    readings = tuple(f"{reading.rstrip('/')}/{relative}" for reading in directory.readings)
    return Location(
        written=relative,
        absolute=f"{directory.absolute.rstrip('/')}/{relative}",
        resolved=f"{directory.resolved.rstrip('/')}/{relative}",
        readings=readings,
        kind=kind,
        identity=None,
        home=directory.home,
    )


def is_below(path: str, directory: str) -> bool:
    """Return whether a normalized absolute path is `directory` or is below it, by its text."""
    return path == directory or path.startswith(directory if directory == "/" else directory + "/")


def lineage(path: str) -> Iterator[str]:
    """Yield a normalized absolute path and all its parent directories, up to the root."""
    while path not in ("", "/"):
        yield path
        path = path.rpartition("/")[0]
    yield "/"


def names_of(path: str) -> list[str]:
    """Return the names of a normalized absolute path; none for the root."""
    return path[1:].split("/") if len(path) > 1 else []


def _expand(path: str, home: str) -> str:
    """Return `path` with `~` or `~user` replaced; the tilde of an unknown user stays as it is."""
    if not path:
        raise PathError("the path is empty: name a file or directory")
    if path[0] != "~":
        return path
    user, _, rest = path.partition("/")
    if user != "~":
        _check(path, path)
        return os.path.expanduser(path)
    if not home:
        raise PathError(f"{path!r} needs a home directory and there is none: write it out")
    return f"{home}/{rest}"


def _check(path: str, full: str) -> None:
    if found := _UNSHOWABLE.search(full):
        raise PathError(
            f"{path!r} contains the character U+{ord(found[0]):04X}, which no one can see "
            "or which cannot be part of a path: leave it out, or rename the file"
        )
    if len(full) > MAX_PATH_LENGTH:
        raise PathError(
            f"the path {path[:60]!r}... is {len(full)} characters long, over the {MAX_PATH_LENGTH} "
            "that a system takes: use a shorter one"
        )


def _fold(path: str) -> str:
    return normpath("/" + path.lstrip("/"))


def _walk(
    path: str, readings: list[str], names: FileSystemNames, *, follow: bool
) -> tuple[str, FileKind, NameStatus | None]:
    """Follow an absolute path as the kernel does, and record a reading at each symlink.

    A component that does not exist is taken by its text.
    """
    pending = path.split("/")
    pending.reverse()
    reached = ""
    status: NameStatus | None = None
    missing = False
    links = 0
    while pending:
        name = pending.pop()
        if not name or name == ".":
            continue
        if name == "..":
            reached, status, missing = reached.rpartition("/")[0], None, False
            continue
        entry = f"{reached}/{name}"
        try:
            status, missing = names.lstat(entry), False
        except (FileNotFoundError, NotADirectoryError):
            status, missing = None, True
        except OSError:
            return _fold("/".join((entry, *reversed(pending)))), FileKind.UNREADABLE, None
        if status is None or not stat.S_ISLNK(status.st_mode) or not (follow or pending):
            reached = entry
            continue
        links += 1
        target = _read_link(entry, names) if links <= MAX_SYMLINKS else None
        if target is None:
            kind = FileKind.LOOP if links > MAX_SYMLINKS else FileKind.UNREADABLE
            return _fold("/".join((entry, *reversed(pending)))), kind, None
        if target.startswith("/"):
            reached = ""
        pending.extend(reversed(target.split("/")))
        readings.append(_fold("/".join((reached, *reversed(pending)))))
        status = None
    if status is None and not missing:
        try:
            status = names.lstat(reached or "/")
        except (FileNotFoundError, NotADirectoryError):
            status = None
        except OSError:
            return reached or "/", FileKind.UNREADABLE, None
    return reached or "/", _kind(status), status


def _read_link(path: str, names: FileSystemNames) -> str | None:
    try:
        return names.readlink(path)
    except OSError:
        return None


def _kind(status: NameStatus | None) -> FileKind:
    if status is None:
        return _MISSING
    return _KINDS.get(stat.S_IFMT(status.st_mode), _DEVICE)
