"""Reads the paths and submodules that a git index records, without running git.

The format is the one of git's documentation (gitformat-index(5)), versions 2 to 4. Any
deviation is refused: a tracked path mistaken for an untracked one would be covered, and git would
show it as changed.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

__all__ = [
    "MOST_INDEX_BYTES",
    "GitIndexError",
    "recorded_blobs",
    "recorded_links",
    "recorded_paths",
    "refreshed_blobs",
]

MOST_INDEX_BYTES = 1 << 25
"""A larger index is not read: it would take longer than most commands."""

_MOST_KEPT_BYTES = 1 << 23
"""What a larger index records is not kept in memory."""

_HEADER_BYTES = 12
_VERSIONS = (2, 3, 4)
_COMPRESSED = 4
_STATUS_BYTES = 40
_DIGEST_BYTES = (20, 32)
"""Of SHA-1 and of SHA-256; which of them a repository has is not said in its index."""
_EXTENDED_FLAG = 0x4000
_MODE_AT = 24
_MODE_END = 28
_SIZE_AT = 36
_LINK = b"\0\0\xe0\0"
"""The mode of a submodule."""

_NAME_MASK = 0xFFF
_ALIGNMENT = 8
_EXTENSION_HEADER_BYTES = 8
_MOST_VARINT_BYTES = 4


class _Entry(NamedTuple):
    """A path, the mode of what it names, the object id of its content, and where the entry is."""

    name: bytes
    mode: bytes
    blob: bytes
    at: int


class GitIndexError(ValueError):
    """The data is not a git index, or one of an unknown kind."""


def recorded_paths(data: bytes) -> frozenset[bytes]:
    """Return the paths that an index records, relative to the work tree.

    Args:
        data: The whole index.

    Raises:
        GitIndexError: Not all of it is understood.
    """
    return frozenset(entry.name for entry in _recorded(data))


def recorded_blobs(data: bytes) -> dict[bytes, bytes]:
    """Return the object id of the content that an index records for each path.

    Args:
        data: The whole index.

    Raises:
        GitIndexError: Not all of it is understood.
    """
    return {entry.name: entry.blob for entry in _recorded(data)}


def recorded_links(data: bytes) -> frozenset[bytes]:
    """Return the paths of the submodules that an index records, relative to the work tree.

    Args:
        data: The whole index.

    Raises:
        GitIndexError: Not all of it is understood.
    """
    return frozenset(entry.name for entry in _recorded(data) if entry.mode == _LINK)


def refreshed_blobs(before: bytes, after: bytes) -> dict[bytes, bytes] | None:
    """Return what an index says of files that it notes to be unchanged, and did not before.

    Args:
        before: The whole index as it was.
        after: The whole index as it is.

    Returns:
        The object ids by path, or None if more differs than what is noted of files to see whether
        they changed.

    Raises:
        GitIndexError: Not all of it is understood.
    """
    old, new = _recorded(before), _recorded(after)
    if not old or _without_status(before, old) != _without_status(after, new):
        return None
    return {
        entry.name: entry.blob
        for was, entry in zip(old, new, strict=True)
        if _status(before, was) != (status := _status(after, entry))
        and any(status[_SIZE_AT:])  # git looks at a file again whose size is noted as 0
    }


def _status(data: bytes, entry: _Entry) -> bytes:
    return data[entry.at : entry.at + _STATUS_BYTES]


def _without_status(data: bytes, entries: list[_Entry]) -> bytes:
    """Return an index without what it notes of files but their modes, and without its digest."""
    plain = bytearray(data[: -len(entries[0].blob)]) if entries else bytearray()
    for entry in entries:
        plain[entry.at : entry.at + _MODE_AT] = bytes(_MODE_AT)
        plain[entry.at + _MODE_END : entry.at + _STATUS_BYTES] = bytes(_STATUS_BYTES - _MODE_END)
    return bytes(plain)


def _recorded(data: bytes) -> list[_Entry]:
    return _read_again(data) if len(data) <= _MOST_KEPT_BYTES else _read(data)


def _read(data: bytes) -> list[_Entry]:
    if len(data) < _HEADER_BYTES or data[:4] != b"DIRC":
        raise GitIndexError("it does not begin as an index does")
    version, count = (int.from_bytes(data[at : at + 4]) for at in (4, 8))
    if version not in _VERSIONS:
        raise GitIndexError(f"version {version} is not known")
    problems: list[GitIndexError] = []
    for digest in _DIGEST_BYTES:
        try:
            return _paths(data, version, count, digest)
        except GitIndexError as error:
            problems.append(error)
        except IndexError:
            problems.append(GitIndexError("it ends too early"))
    raise problems[0]


_read_again = lru_cache(maxsize=2)(_read)
"""Indexes by content: those of a work tree and of a submodule are read for each held run."""


def _paths(data: bytes, version: int, count: int, digest: int) -> list[_Entry]:
    read = _compressed_names if version == _COMPRESSED else _plain_names
    end = len(data) - digest
    names, at = read(data, count, _STATUS_BYTES + digest, end)
    _refuse_unknown_extensions(data, at, end)
    if any(not name or name[:1] == b"/" or name[-1:] == b"/" for name, *_ in names):
        raise GitIndexError("it records a path that is not one of a file")
    return names


def _plain_names(data: bytes, count: int, flags_at: int, end: int) -> tuple[list[_Entry], int]:
    """Return the names of versions 2 and 3, which are padded, and where the entries end."""
    names: list[_Entry] = []
    at = _HEADER_BYTES
    for _ in range(count):
        flags = data[at + flags_at] << 8 | data[at + flags_at + 1]
        start = at + flags_at + (4 if flags & _EXTENDED_FLAG else 2)
        stop = data.find(b"\0", start, end)
        length = stop - start
        if stop < 0 or min(length, _NAME_MASK) != flags & _NAME_MASK:
            raise GitIndexError("an entry has a name of another length than it says")
        names.append(_entry(data, at, flags_at, data[start:stop]))
        at += (stop - at + _ALIGNMENT) // _ALIGNMENT * _ALIGNMENT
    return names, at


def _compressed_names(data: bytes, count: int, flags_at: int, end: int) -> tuple[list[_Entry], int]:
    """Return the names of version 4, each given by how it differs from the one before."""
    names: list[_Entry] = []
    name = b""
    at = _HEADER_BYTES
    for _ in range(count):
        flags = data[at + flags_at] << 8 | data[at + flags_at + 1]
        start = at + flags_at + (4 if flags & _EXTENDED_FLAG else 2)
        dropped, start = _varint(data, start)
        stop = data.find(b"\0", start, end)
        if stop < 0 or dropped > len(name):
            raise GitIndexError("an entry has no name")
        name = name[: len(name) - dropped] + data[start:stop]
        if min(len(name), _NAME_MASK) != flags & _NAME_MASK:
            raise GitIndexError("an entry has a name of another length than it says")
        names.append(_entry(data, at, flags_at, name))
        at = stop + 1
    return names, at


def _entry(data: bytes, at: int, flags_at: int, name: bytes) -> _Entry:
    mode = data[at + _MODE_AT : at + _MODE_END]
    return _Entry(name, mode, data[at + _STATUS_BYTES : at + flags_at], at)


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """Return a number as git packs it (gitformat-pack(5), offset encoding), and what follows."""
    value = data[at] & 0x7F
    for _ in range(_MOST_VARINT_BYTES):
        if not data[at] & 0x80:
            return value, at + 1
        at += 1
        value = (value + 1) << 7 | data[at] & 0x7F
    raise GitIndexError("an entry has a name that is too long")


def _refuse_unknown_extensions(data: bytes, at: int, end: int) -> None:
    """Refuse what changes the meaning of entries, such as a split or a sparse index.

    Extensions whose name begins with a capital may be passed over.
    """
    while at < end:
        name = data[at : at + 4]
        size = int.from_bytes(data[at + 4 : at + _EXTENSION_HEADER_BYTES])
        if not name[:1].isupper():
            raise GitIndexError(f"its extension {name!r} is not known")
        at += _EXTENSION_HEADER_BYTES + size
    if at != end:
        raise GitIndexError("it does not end where it says")
