"""Writes and patches files of a workspace."""

from __future__ import annotations

from typing import Literal, TypeAlias

from msgspec import Struct

from agentscope_like.exception import RecoverableToolError
from agentscope_like.workspace.places import Place
from agentscope_like.workspace.read_tracker import Known
from agentscope_like.workspace.text_file import TextFile, read_text
from agentscope_like.workspace.workspace import Workspace

__all__ = ["Changed", "WriteMode", "patch", "write"]

WriteMode: TypeAlias = Literal["replace", "append"]

Span: TypeAlias = tuple[int, int]


class Changed(Struct, frozen=True):
    """A change that was made.

    Attributes:
        checkpoint: The number of its checkpoint.
        digest: The SHA-256 of what the file is now.
        characters: How many it has now.
        replaced: How many places a patch changed.
        created: Whether the file is new.
    """

    checkpoint: int
    digest: str
    characters: int
    replaced: int = 0
    created: bool = False


def write(workspace: Workspace, place: Place, content: str, mode: str) -> Changed:
    """Write a file whole, or add to its end.

    Raises:
        RecoverableToolError: The file has to be read before, or it cannot be written.
    """
    if mode not in ("replace", "append"):
        raise RecoverableToolError(
            "workspace.write_mode_invalid", f"mode is {mode!r}: give replace or append."
        )
    if place.is_missing:
        return _save(workspace, place, None, content, [(0, len(content))], "Created")
    if mode == "append":
        return _append(workspace, place, content)
    before = workspace.read(place)
    known = workspace.tracker.get(place.location.resolved)
    if known is None or (known.digest == before.digest and not known.is_full):
        raise RecoverableToolError(
            "workspace.read_required",
            f"{place.relative} exists and was not read in full: read all of it before replacing "
            "it, or change a part with workspace.apply_patch.",
        )
    if known.digest != before.digest:
        raise _stale(workspace, place)
    after, checkpoint = workspace.write(
        place, before, content.encode(), summary=f"Replaced {place.relative}."
    )
    workspace.tracker.wrote(
        place.location.resolved, after.digest, len(content), [(0, len(content))]
    )
    return Changed(checkpoint, after.digest, len(content))


def _append(workspace: Workspace, place: Place, content: str) -> Changed:
    file = read_text(workspace, place)
    known = workspace.tracker.get(place.location.resolved)
    spans: list[Span] = []
    if known is not None and known.digest == file.content.digest and known.is_full:
        spans = [(0, len(file.text) + len(content))]
    return _save(workspace, place, file, file.text + content, spans, "Added to")


def patch(
    workspace: Workspace, place: Place, old: str, new: str, *, replace_all: bool = False
) -> Changed:
    """Replace a text that the agent knows, in one file.

    Raises:
        RecoverableToolError: The text was not read, is not there, or is there several times; or
            the file is another one by now.
    """
    if not old:
        raise RecoverableToolError(
            "workspace.patch_invalid",
            "old_string is empty: give the text to replace; workspace.write_file appends.",
        )
    if old == new:
        raise RecoverableToolError(
            "workspace.patch_invalid", "old_string and new_string are equal: nothing would change."
        )
    file = read_text(workspace, place)
    known = _known_version(workspace, place, file)
    if replace_all and not known.is_full:
        raise _unread(
            workspace, place, "replace_all changes the whole file, and it was not read in full"
        )
    starts = _matches(file.text, old, step=len(old) if replace_all else 1)
    shown = [start for start in starts if known.holds(start, start + len(old))]
    if not shown:
        raise _not_matched(workspace, place, known)
    if len(starts) > 1 and not replace_all:
        if not known.is_full:
            workspace.tracker.failed(place.location.resolved)
        raise RecoverableToolError(
            "workspace.patch_not_unique",
            f"old_string is in {place.relative} {len(starts):,} times: add text around it until "
            "it is there once, or set replace_all.",
        )
    text = file.text.replace(old, new)
    spans = _shifted(known, starts[0], len(old), len(new))
    if known.is_full:
        spans = [(0, len(text))]
    changed = _save(workspace, place, file, text, spans, "Patched")
    return Changed(changed.checkpoint, changed.digest, changed.characters, len(starts))


def _known_version(workspace: Workspace, place: Place, file: TextFile) -> Known:
    """Return what the agent knows of a file, which has to be of the version that is there.

    Raises:
        RecoverableToolError: It knows nothing, or another version, or has to read it in full.
    """
    known = workspace.tracker.get(place.location.resolved)
    if known is None:
        raise RecoverableToolError(
            "workspace.read_required",
            f"{place.relative} was not read: read the text that you want to replace first.",
        )
    if known.digest != file.content.digest:
        raise _stale(workspace, place)
    if known.needs_full_read:
        raise RecoverableToolError(
            "workspace.full_read_required",
            f"A patch of {place.relative} failed: read the file in full before the next one.",
        )
    return known


def _matches(text: str, wanted: str, *, step: int) -> list[int]:
    """Return where a text is found; the next is looked for `step` characters further."""
    found, start = [], text.find(wanted)
    while start >= 0:
        found.append(start)
        start = text.find(wanted, start + step)
    return found


def _not_matched(workspace: Workspace, place: Place, known: Known) -> RecoverableToolError:
    if not known.is_full:
        return _unread(
            workspace, place, "old_string is not in one of the parts of it that were read"
        )
    return RecoverableToolError(
        "workspace.patch_not_found",
        f"old_string is not in {place.relative}: copy the text exactly, without line numbers.",
    )


def _unread(workspace: Workspace, place: Place, why: str) -> RecoverableToolError:
    workspace.tracker.failed(place.location.resolved)
    return RecoverableToolError(
        "workspace.text_not_read", f"{place.relative}: {why}. Read the file in full, then retry."
    )


def _stale(workspace: Workspace, place: Place) -> RecoverableToolError:
    workspace.tracker.failed(place.location.resolved)
    return RecoverableToolError(
        "workspace.stale_file",
        f"{place.relative} changed since it was read: read it in full, then decide anew.",
    )


def _shifted(known: Known, start: int, old: int, new: int) -> list[Span]:
    """Return the known parts after a replacement within one of them."""
    grown = new - old
    return [
        (first, last)
        if last <= start
        else (first, last + grown)
        if first <= start
        else (first + grown, last + grown)
        for first, last in known.spans
    ]


def _save(
    workspace: Workspace,
    place: Place,
    before: TextFile | None,
    text: str,
    spans: list[Span],
    done: str,
) -> Changed:
    after, checkpoint = workspace.write(
        place,
        None if before is None else before.content,
        text.encode(),
        summary=f"{done} {place.relative}.",
    )
    resolved = place.location.resolved
    if spans or not text:
        workspace.tracker.wrote(resolved, after.digest, len(text), spans)
    else:
        workspace.tracker.forget(resolved)
    return Changed(checkpoint, after.digest, len(text), created=before is None)
