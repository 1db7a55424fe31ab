"""Reads the names in annotated tags from a repository's object files, without running git.

`git describe` prints the name that stands in a tag object. It may be any text, whatever the tag's
ref is called, and a clone takes it over.
"""

from __future__ import annotations

import hashlib
import mmap
import os
import re
import zlib
from collections.abc import Iterator
from contextlib import ExitStack
from types import TracebackType
from typing import TypeAlias

__all__ = ["TagError", "TagReader"]

_MOST_BYTES = 1 << 20
"""How large a tag may be, and all that it is stored as a difference to."""

_MOST_DEPTH = 64
"""How many differences may lie on each other (git-config(1), `pack.depth`)."""

_HASHES = {40: "sha1", 64: "sha256"}
_TAG_NAME = re.compile(rb"object [0-9a-f]+\ntype [a-z]+\ntag ([^\n]*)\n")

_TAG = 4
_OFFSET_DELTA = 6
_ID_DELTA = 7

_INDEX_HEAD = b"\xfftOc\x00\x00\x00\x02"
_FAN_OUT_AT = 8
_NAMES_AT = _FAN_OUT_AT + 4 * 256
_CHECKSUM_BYTES = 4
_FAR = 1 << 31

_Bytes: TypeAlias = "bytes | mmap.mmap"


class TagError(ValueError):
    """An object cannot be read."""


class TagReader:
    """Reads objects of one repository; a context manager.

    Args:
        objects: The directory of its objects.
    """

    def __init__(self, objects: str) -> None:
        self._objects = objects
        self._open = ExitStack()
        self._packs: list[_Pack] | None = None

    def __enter__(self) -> TagReader:
        """Start reading."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the packs."""
        self._open.close()

    def name(self, object_id: str) -> bytes | None:
        """Return the name in a tag; None if the object is another one than a tag.

        A tag is believed only if its content has the hash that it is called by.

        Raises:
            TagError: The object cannot be read.
        """
        try:
            copies = list(self._copies(object_id))
        except (OSError, ValueError, IndexError, zlib.error) as error:
            raise TagError(f"its object {object_id} cannot be read") from error
        if not copies:
            raise TagError(f"its object {object_id} is not there")
        for content in copies:
            if content is None:
                continue
            hashed = hashlib.new(_HASHES[len(object_id)], usedforsecurity=False)
            hashed.update(b"tag %d\0" % len(content) + content)
            found = _TAG_NAME.match(content)
            if hashed.hexdigest() != object_id or found is None:
                raise TagError(f"its object {object_id} is not understood")
            return found[1]
        return None

    def _copies(self, object_id: str) -> Iterator[bytes | None]:
        """Yield the content of each copy of an object, None for one that is no tag."""
        path = os.path.join(self._objects, object_id[:2], object_id[2:])
        if os.path.lexists(path):
            yield _loose(path)
        if self._packs is None:
            self._packs = list(self._all_packs(len(object_id) // 2))
        for pack in self._packs:
            offset = pack.find(bytes.fromhex(object_id))
            if offset is not None:
                yield pack.tag_at(offset)

    def _all_packs(self, width: int) -> Iterator[_Pack]:
        directory = os.path.join(self._objects, "pack")
        for name in sorted(os.listdir(directory)) if os.path.isdir(directory) else ():
            if name.endswith(".pack"):
                pack = self._mapped(os.path.join(directory, name))
                index = self._mapped(os.path.join(directory, f"{name[:-5]}.idx"))
                yield _Pack(pack, index, width)

    def _mapped(self, path: str) -> mmap.mmap:
        with open(path, "rb") as file:
            content = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        return self._open.enter_context(content)


def _loose(path: str) -> bytes | None:
    """Return the content of a tag that has a file of its own; None for another object."""
    with open(path, "rb") as file:
        content = _inflated(file.read(_MOST_BYTES))
    head, _, content = content.partition(b"\0")
    return content if head.startswith(b"tag ") else None


def _inflated(data: bytes) -> bytes:
    """Return what was compressed, or the beginning of what is too large for a tag."""
    return zlib.decompressobj().decompress(data, _MOST_BYTES)


class _Pack:
    """One file of objects with its index (gitformat-pack(5))."""

    def __init__(self, pack: _Bytes, index: _Bytes, width: int) -> None:
        if index[: len(_INDEX_HEAD)] != _INDEX_HEAD:
            raise TagError("a pack has an index of another version")
        self._pack = pack
        self._index = index
        self._width = width
        self._count = self._number(_NAMES_AT - 4)

    def _number(self, at: int, width: int = 4) -> int:
        data = self._index[at : at + width]
        if len(data) != width:
            raise TagError("an index ends early")
        return int.from_bytes(data, "big")

    def find(self, name: bytes) -> int | None:
        """Return where an object begins; None if it is not in the pack."""
        first = name[0]
        low = self._number(_FAN_OUT_AT + 4 * (first - 1)) if first else 0
        high = self._number(_FAN_OUT_AT + 4 * first)
        while low < high:
            middle = (low + high) // 2
            at = _NAMES_AT + middle * self._width
            there = self._index[at : at + self._width]
            if there == name:
                return self._offset(middle)
            low, high = (middle + 1, high) if there < name else (low, middle)
        return None

    def _offset(self, number: int) -> int:
        offsets = _NAMES_AT + self._count * (self._width + _CHECKSUM_BYTES)
        offset = self._number(offsets + 4 * number)
        if offset < _FAR:
            return offset
        return self._number(offsets + 4 * self._count + 8 * (offset - _FAR), 8)

    def tag_at(self, offset: int) -> bytes | None:
        """Return the content of a tag; None for another object."""
        deltas: list[bytes] = []
        for _ in range(_MOST_DEPTH):
            kind, offset_of_data = self._kind(offset)
            if kind == _OFFSET_DELTA:
                distance, at = self._distance(offset_of_data)
                base: int | None = offset - distance
            elif kind == _ID_DELTA:
                at = offset_of_data + self._width
                base = self.find(self._pack[offset_of_data:at])
            else:
                if kind != _TAG:
                    return None
                content = _inflated(self._pack[offset_of_data : offset_of_data + _MOST_BYTES])
                for delta in reversed(deltas):
                    content = _applied(delta, content)
                return content
            if base is None or base <= 0:
                break
            deltas.append(_inflated(self._pack[at : at + _MOST_BYTES]))
            offset = base
        raise TagError("an object is a difference to one that is not there")

    def _kind(self, offset: int) -> tuple[int, int]:
        """Return the kind of an object, and where its data begins behind its size."""
        byte = self._pack[offset]
        kind = byte >> 4 & 7
        while byte & 0x80:
            offset += 1
            byte = self._pack[offset]
        return kind, offset + 1

    def _distance(self, at: int) -> tuple[int, int]:
        """Return how far back the base of a difference lies, and where the data begins."""
        byte = self._pack[at]
        distance = byte & 0x7F
        while byte & 0x80:
            at += 1
            byte = self._pack[at]
            distance = (distance + 1) << 7 | byte & 0x7F
        return distance, at + 1


def _applied(delta: bytes, base: bytes) -> bytes:
    """Return the text that a difference makes of another one."""
    _, at = _size(delta, 0)
    size, at = _size(delta, at)
    made = bytearray()
    while at < len(delta):
        command = delta[at]
        at += 1
        if not command & 0x80:
            made += delta[at : at + command]
            at += command
            continue
        numbers = [0, 0]
        for bit in range(7):
            if command >> bit & 1:
                numbers[bit // 4] |= delta[at] << 8 * (bit % 4)
                at += 1
        start, length = numbers[0], numbers[1] or 0x10000
        made += base[start : start + length]
    if len(made) != size:
        raise TagError("a difference is not understood")
    return bytes(made)


def _size(delta: bytes, at: int) -> tuple[int, int]:
    size = shift = 0
    while True:
        byte = delta[at]
        size |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if not byte & 0x80:
            return size, at
