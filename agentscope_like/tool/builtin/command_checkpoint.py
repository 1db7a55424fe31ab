"""Keeps what files were before a command changes them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from typing_extensions import override

from agentscope_like.checkpoint import CheckpointStore, FileChange, FileVersion, file_version
from agentscope_like.lazy_property import lazy_property
from agentscope_like.permission.command import PreparedCommand
from agentscope_like.shell.touches import DeclaredChanges, declared_changes

__all__ = ["CommandCheckpoint", "UndoableCommand", "private_places"]

MOST_FILES = 1_000
"""Most files that are kept for one command."""

MOST_BYTES = 64_000_000
"""Most content that is kept for one command."""

_CANNOT = "It is not known what it changes: that cannot be undone."
_IN_BACKGROUND = "What it changes in the background cannot be undone."


class UndoableCommand(PreparedCommand):
    """A command before which the files are kept that it says it changes."""

    @lazy_property
    def declared(self) -> DeclaredChanges:
        """What it says that it changes."""
        return declared_changes(self.analysis, self.surroundings)

    @override
    def warning(self) -> str | None:
        """Return that the command cannot be undone, if that is so."""
        if self.reads_only:
            return None
        if self.tool_input.get("run_in_background"):
            return _IN_BACKGROUND
        if not self.declared.is_complete:
            return _CANNOT
        return None if _versions(self.declared.paths) is not None else _CANNOT


class CommandCheckpoint:
    """The checkpoint of one run of a command.

    Args:
        store: Where it is kept.
        session_id: The session.
        call: The command.
    """

    def __init__(self, store: CheckpointStore, session_id: str, call: UndoableCommand) -> None:
        self._store = store
        self._session_id = session_id
        self._command = call.read.command
        self._declared = call.declared
        self._before: dict[str, FileVersion | None] | None = {}
        self._id: int | None = None

    @property
    def undo(self) -> str:
        """Return what can be undone of the command: `all`, `some` or `nothing`."""
        if self._before is not None and self._declared.is_complete:
            return "all"
        return "some" if self._id is not None else "nothing"

    def begin(self) -> None:
        """Keep the files as they are.

        Raises:
            CheckpointError: They cannot be kept; the command must not run then.
        """
        self._before = _versions(self._declared.paths)
        if self._before:
            changes = [
                FileChange(path, before, None, is_after_known=False)
                for path, before in self._before.items()
            ]
            self._id = self._store.begin(
                changes, session_id=self._session_id, summary=f"Ran {self._command[:200]}"
            )

    def end(self) -> int | None:
        """Record what the files are now, and return the checkpoint's number; None if none changed.

        Raises:
            CheckpointError: It cannot be stored; the checkpoint stays begun.
        """
        if self._id is None or not self._before:
            return None
        afters = _versions({**dict.fromkeys(self._declared.paths), **self._before})
        if afters is None:  # more than is kept: the files that were there are
            afters = {path: file_version(path) for path in self._before}
        if all(self._before.get(path) == after for path, after in afters.items()):
            self._store.abandon(self._id)
            self._id = None
            return None
        self._store.finish(self._id, {**dict.fromkeys(self._before), **afters})
        return self._id


def private_places(layers: Path | None, checkpoints: CheckpointStore | None) -> tuple[str, ...]:
    """Return the paths at which a Bash keeps what no model may see, without symlinks.

    Args:
        layers: The folder of layers, if commands run held.
        checkpoints: Keeps what files were, if anything does.
    """
    found = [] if layers is None else [os.path.realpath(layers)]
    if checkpoints is not None:
        database = os.path.realpath(checkpoints.path)
        found += [f"{database}{end}" for end in ("", "-wal", "-shm", "-journal")]
    return tuple(found)


def _versions(paths: Iterable[str]) -> dict[str, FileVersion | None] | None:
    """Return what files are, those below directories included; None if they are too many."""
    found: dict[str, FileVersion | None] = {}
    size = 0
    for path in _files(paths):
        try:
            if os.path.getsize(path) > MOST_BYTES:
                return None
        except OSError:
            pass  # a name for a new file
        try:
            version = file_version(path)
        except OSError:
            return None
        size += 0 if version is None else len(version.data)
        found[path] = version
        if len(found) > MOST_FILES or size > MOST_BYTES:
            return None
    return found


def _files(paths: Iterable[str]) -> Iterator[str]:
    for path in paths:
        if not os.path.isdir(path):
            yield path
            continue
        for parent, _, names in os.walk(path):
            yield from (os.path.join(parent, name) for name in names)
