"""Applies the changes of a held run so that they can be undone."""

from __future__ import annotations

import contextlib
import hashlib
import os
import posixpath
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec
from msgspec import Struct

from agentscope_like.checkpoint import (
    CheckpointError,
    CheckpointStore,
    FileChange,
    FileDigest,
    FileVersion,
    VersionKind,
)
from agentscope_like.sandbox.layer import (
    MOST_UNDO_BYTES,
    MOST_UNDO_BYTES_IN_ALL,
    ApplyError,
    FileKind,
    FileState,
    Layer,
    LayerDescriptors,
    Manifest,
    Sort,
    SortedChange,
    UndoBudget,
    apply_layer,
    finish_applying,
    read_file_below,
)
from agentscope_like.tool.builtin.held.outcome import HeldChanges

__all__ = ["AppliedChanges", "apply_changes", "settle_layer", "undo_budget"]

_RECORD = "applied.json"
_SHOWN = 5
_KINDS: dict[FileKind, VersionKind] = {
    FileKind.FILE: "file",
    FileKind.LINK: "link",
    FileKind.DIRECTORY: "directory",
}


class AppliedChanges(Struct, frozen=True):
    """What was applied of a held run, and what of it can be undone.

    Attributes:
        files: How many files and symlinks were changed, without those of the next two.
        in_git: How many paths were changed in git directories.
        in_caches: How many paths were changed in caches.
        checkpoint: The number of the checkpoint that undoes the run; None where nothing is kept.
        undo: What that undoes: `all`, `some` or `nothing`.
        cannot_undo: What cannot be undone, a sentence each.
    """

    files: int
    in_git: int
    in_caches: int
    checkpoint: int | None
    undo: str
    cannot_undo: tuple[str, ...]

    @property
    def count(self) -> int:
        """Return how many paths were changed, without those in caches."""
        return self.files + self.in_git

    @property
    def text(self) -> str:
        """Return all of it in sentences."""
        parts = [f"{self.files:,} file{'' if self.files == 1 else 's'}"]
        parts += [f"{self.in_git:,} in .git"] if self.in_git else []
        parts += [f"{self.in_caches:,} in caches"] if self.in_caches else []
        kept = [] if self.checkpoint is None else [f"Checkpoint {self.checkpoint}."]
        return " ".join([f"Applied: {', '.join(parts)}.", *kept, *self.cannot_undo])


_NOTHING_KNOWN = AppliedChanges(0, 0, 0, None, "nothing", ())


def undo_budget(checkpoints: CheckpointStore | None) -> UndoBudget | None:
    """Return how much is kept for the undo of one run, for `sort_changes`; None for nothing.

    Args:
        checkpoints: Where it is kept, if anywhere.
    """
    if checkpoints is None:
        return None
    return UndoBudget(
        most_file_bytes=min(MOST_UNDO_BYTES, checkpoints.most_file_bytes),
        most_bytes=min(MOST_UNDO_BYTES_IN_ALL, checkpoints.most_bytes),
    )


def apply_changes(
    layer: Layer,
    held: Sequence[HeldChanges],
    *,
    checkpoints: CheckpointStore | None,
    session_id: str = "",
    call_id: str = "",
    summary: str = "",
) -> AppliedChanges:
    """Keep what the changed files are, apply all changes of a run or none, and drop the layer.

    It blocks. What a crash interrupts is finished or taken back by `settle_layer`.

    Args:
        layer: The layer of the run.
        held: Its changes, sorted with the `undo_budget` of the same checkpoints, in the order of
            the layer's directories.
        checkpoints: Where the files are kept as they were, if anywhere.
        session_id: The session.
        call_id: The call.
        summary: What ran, in a sentence, for the list of checkpoints.

    Raises:
        ApplyError: Something else changed meanwhile, the layer is damaged, or the system refuses.
        CheckpointError: What the files are cannot be kept; nothing is applied.
    """
    manifests = _manifests(layer, held)
    number = None
    if checkpoints is not None and any(map(_is_recorded, _sorted(held))):
        with layer.descriptors() as opened:
            number = checkpoints.begin(
                _file_changes(held, opened),
                session_id=session_id,
                call_id=call_id,
                summary=summary,
            )
    applied = _applied(held, number)
    try:
        _write_record(layer.folder, applied)
        if checkpoints is not None and number is not None:
            checkpoints.hold(number)
        apply_layer(layer, manifests)
    except (ApplyError, CheckpointError, OSError) as error:
        if settle_layer(layer, checkpoints) is not None:
            return applied
        _abandon(checkpoints, number)
        if isinstance(error, OSError):
            raise ApplyError(f"the changes could not be applied: {error}") from error
        raise
    _conclude(checkpoints, applied)
    layer.drop()
    return applied


def settle_layer(
    layer: Layer, checkpoints: CheckpointStore | None, *, drops: bool = True
) -> AppliedChanges | None:
    """Finish or take back the applying of a layer that a killed process began.

    Layer and checkpoint are in step afterwards: if the changes are applied, the checkpoint is done
    and the layer dropped; else the checkpoint is forgotten, and the layer is as it was. It blocks,
    and may be called again and in any order with `CheckpointStore.settle`.

    Args:
        layer: The layer.
        checkpoints: Where the files are kept as they were, if anywhere.
        drops: Whether a layer that is applied is dropped; if not, that is told again.

    Returns:
        What was applied; None if nothing is.

    Raises:
        ApplyError: A file is neither as it was nor as it was to become: some changes may be
            applied. The checkpoint is kept, so that these can be undone.
        CheckpointError: The checkpoint cannot be settled.
    """
    applied = _read_record(layer.folder) or _NOTHING_KNOWN
    if finish_applying(layer):
        _conclude(checkpoints, applied)
        if drops:
            layer.drop()
        return applied
    _abandon(checkpoints, applied.checkpoint)
    (layer.folder / _RECORD).unlink(missing_ok=True)
    return None


def _conclude(checkpoints: CheckpointStore | None, applied: AppliedChanges) -> None:
    """Note that the changes are applied; the checkpoint works also if that cannot be noted."""
    if checkpoints is not None and applied.checkpoint is not None:
        with contextlib.suppress(CheckpointError):
            checkpoints.finish(applied.checkpoint)


def _abandon(checkpoints: CheckpointStore | None, number: int | None) -> None:
    """Forget a checkpoint of changes that were not applied."""
    if checkpoints is None or number is None:
        return
    found = checkpoints.get(number)
    if found is not None and found.state in ("begun", "held"):
        checkpoints.abandon(number)


def _manifests(layer: Layer, held: Sequence[HeldChanges]) -> tuple[Manifest, ...]:
    """Return the manifests that were sorted.

    Raises:
        ApplyError: They are not those of the layer's directories.
    """
    if tuple(each.directory for each in held) != layer.directories:
        raise ApplyError("the changes are not those of the layer's directories")
    return tuple(
        Manifest(
            one.directory,
            tuple(
                sorted((each.change for each in one.changes), key=lambda each: each.path.split("/"))
            ),
        )
        for one in held
    )


def _sorted(held: Sequence[HeldChanges]) -> Iterator[SortedChange]:
    return (each for one in held for each in one.changes)


def _is_in_git(each: SortedChange) -> bool:
    return each.sort is not Sort.CACHE and (each.is_in_git or each.sort is Sort.GIT)


def _is_recorded(each: SortedChange) -> bool:
    """Return whether a change is part of a checkpoint: not a cache, git's own, or a pipe."""
    states = (each.change.before, each.change.after)
    kinds = {state.kind for state in states if state is not None}
    return each.sort is not Sort.CACHE and not _is_in_git(each) and kinds <= _KINDS.keys()


def _file_changes(
    held: Sequence[HeldChanges], opened: Sequence[LayerDescriptors]
) -> Iterator[FileChange]:
    """Yield what the checkpoint records, one file's content at a time.

    Raises:
        ApplyError: A file is not what the run saw.
    """
    for one, descriptors in zip(held, opened, strict=True):
        for each in filter(_is_recorded, one.changes):
            path, before = posixpath.join(one.directory, each.change.path), each.change.before
            after = None if each.change.after is None else _digest(each.change.after)
            if before is None:
                yield FileChange(path, None, after)
            elif each.is_undoable:
                kept = _version(each.change.path, before, descriptors.lower, path)
                yield FileChange(path, kept, after)
            else:
                yield FileChange(path, _digest(before), after, is_kept=False)


def _version(path: str, before: FileState, lower: int, shown: str) -> FileVersion:
    kind = _KINDS[before.kind]
    if kind != "file":
        return FileVersion(os.fsencode(before.content), before.mode, kind)
    data = read_file_below(lower, path, before.size)
    if data is None or hashlib.sha256(data).hexdigest() != before.content:
        raise ApplyError(f"{shown} changed since the run began")
    return FileVersion(data, before.mode)


def _digest(state: FileState) -> FileDigest:
    kind = _KINDS[state.kind]
    if kind == "file":
        return FileDigest(state.content, state.mode)
    version = FileVersion(os.fsencode(state.content), state.mode, kind)
    return FileDigest(version.digest, state.mode)


def _applied(held: Sequence[HeldChanges], number: int | None) -> AppliedChanges:
    changes = list(_sorted(held))
    in_git = sum(map(_is_in_git, changes))
    in_caches = sum(each.sort is Sort.CACHE for each in changes)
    recorded = list(filter(_is_recorded, changes))
    unkept = [each.change.path for each in recorded if each.change.before and not each.is_undoable]
    told = []
    if recorded and number is None:
        told.append("That cannot be undone: nothing is kept of how the files were.")
    elif unkept:
        told.append(f"Not kept, so that it cannot be undone: {_listed(unkept)}.")
    places = ([".git"] if in_git else []) + (["caches"] if in_caches else [])
    if places and not (recorded and number is None):
        told.append(f"What changed in {' and '.join(places)} cannot be undone.")
    undo = "some" if unkept or in_git else "all"
    if number is None and changes:
        undo = "nothing"
    files = sum(not _is_directory(each) for each in recorded)
    return AppliedChanges(files, in_git, in_caches, number, undo, tuple(told))


def _is_directory(each: SortedChange) -> bool:
    states = (each.change.before, each.change.after)
    return {state.kind for state in states if state is not None} == {FileKind.DIRECTORY}


def _listed(paths: list[str]) -> str:
    more = len(paths) - _SHOWN
    return ", ".join(paths[:_SHOWN]) + (f" and {more:,} more" if more > 0 else "")


def _write_record(folder: Path, applied: AppliedChanges) -> None:
    temporary = folder / f"{_RECORD}.new"
    with open(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
        file.write(msgspec.json.encode(applied))
        file.flush()
        os.fsync(file.fileno())
    os.replace(temporary, folder / _RECORD)


def _read_record(folder: Path) -> AppliedChanges | None:
    with contextlib.suppress(FileNotFoundError, msgspec.DecodeError):
        return msgspec.json.decode((folder / _RECORD).read_bytes(), type=AppliedChanges)
    return None
