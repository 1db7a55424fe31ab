"""Tells which files a stash or a branch records that a run wrote, by git's own objects."""

from __future__ import annotations

import hashlib
import re
import zlib
from collections.abc import Callable, Iterable, Iterator

__all__ = ["RecordedFiles"]

_ID = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_COMMIT = re.compile(rb"tree ([0-9a-f]+)\n((?:parent [0-9a-f]+\n)*)author ")
_REFERENCE = re.compile(
    r"(?!.*\.lock(?:/|\Z))refs/(?:stash|heads(?:/[\w-]+(?:\.[\w-]+)*)+)", re.ASCII
)
"""The stash and branches; what is named otherwise may be no reference to git."""
_TREE_MODE = b"40000"
_BLOB_MODES = (b"100644", b"100755", b"120000")
_SHA1_CHARACTERS = 40
_MOST_BYTES = 1 << 26
_MOST_COMMITS = 50


class RecordedFiles:
    """The files that the commits record which a stash or branches name, and their parents.

    Nothing is believed but objects whose content has the digest that they are named by. Objects in
    packs are not looked at: what only they hold counts as not recorded.

    Args:
        read: Reads a file of the git directory as it is after the run; None where there is none.
        paths: Of these paths in the git directory, those that are references name the commits.
    """

    def __init__(self, read: Callable[[str], bytes | None], paths: Iterable[str]) -> None:
        self._read = read
        self._references = [each for each in paths if _REFERENCE.fullmatch(each)][:_MOST_COMMITS]
        self._trees: dict[str, dict[str, tuple[bytes, str]]] = {}
        self._tops: tuple[str, ...] | None = None

    @property
    def is_empty(self) -> bool:
        """Return whether there is no such reference, and so no such file."""
        return not self._references

    def has(self, path: str, blob: str) -> bool:
        """Return whether one of the commits records a content at a path.

        Args:
            path: Relative to the work tree.
            blob: The id of the content, in hexadecimal.
        """
        if self._tops is None:
            self._tops = tuple(self._top_trees())
        is_named = any(self._names(top, path, blob) for top in self._tops)
        return is_named and self._object("blob", blob) is not None

    def _top_trees(self) -> Iterator[str]:
        """Yield the trees of the commits and of their parents."""
        for reference in self._references:
            named = (self._read(reference) or b"").decode("ascii", "replace").strip()
            trees, parents = self._commit(named)
            yield from trees
            for parent in parents:
                yield from self._commit(parent)[0]

    def _commit(self, name: str) -> tuple[list[str], list[str]]:
        """Return the tree and the parents of a commit; none where it cannot be read."""
        fields = _COMMIT.match(self._object("commit", name) or b"")
        if fields is None:
            return [], []
        return [fields[1].decode()], fields[2].decode().split()[1::2]

    def _names(self, tree: str, path: str, blob: str) -> bool:
        """Return whether a tree names a blob at a path."""
        *folders, last = path.split("/")
        for name in folders:
            mode, tree = self._tree(tree).get(name, (b"", ""))
            if mode != _TREE_MODE:
                return False
        mode, found = self._tree(tree).get(last, (b"", ""))
        return mode in _BLOB_MODES and found == blob

    def _tree(self, name: str) -> dict[str, tuple[bytes, str]]:
        """Return modes and ids by the names in a tree; none where it cannot be read."""
        if name not in self._trees:
            data = self._object("tree", name) or b""
            self._trees[name] = dict(_entries(data, len(name) // 2))
        return self._trees[name]

    def _object(self, kind: str, name: str) -> bytes | None:
        """Return the content of a loose object of some kind; None if it is not what it says."""
        if not _ID.fullmatch(name):
            return None
        packed = self._read(f"objects/{name[:2]}/{name[2:]}")
        data = None if packed is None else _inflated(packed)
        if data is None or _digest(data, len(name)) != name:
            return None
        head, _, content = data.partition(b"\0")
        return content if head == f"{kind} {len(content)}".encode() else None


def _inflated(packed: bytes) -> bytes | None:
    inflater = zlib.decompressobj()
    try:
        data = inflater.decompress(packed, _MOST_BYTES)
    except zlib.error:
        return None
    return data if inflater.eof and not inflater.unused_data else None


def _digest(data: bytes, characters: int) -> str:
    if characters == _SHA1_CHARACTERS:
        return hashlib.sha1(data, usedforsecurity=False).hexdigest()
    return hashlib.sha256(data).hexdigest()


def _entries(data: bytes, length: int) -> Iterator[tuple[str, tuple[bytes, str]]]:
    """Yield names, modes and ids of the content of a tree whose ids have some length in bytes."""
    start = 0
    while (end := data.find(b"\0", start)) >= 0:
        mode, _, name = data[start:end].partition(b" ")
        start = end + 1 + length
        yield name.decode("utf-8", "surrogateescape"), (mode, data[end + 1 : start].hex())
