"""Tells which files a command changes, as far as it says so, and whether that is all."""

from __future__ import annotations

from msgspec import Struct

from agentscope_like.paths import FileKind, PathError, TooManyFilesError
from agentscope_like.shell.analysis import CHANGES, CommandAnalysis, EffectKind, Part
from agentscope_like.shell.facts import is_redirect
from agentscope_like.shell.surroundings import Surroundings
from agentscope_like.shell.touches.links import makes_links
from agentscope_like.shell.touches.touched_files import TouchKind, touches

__all__ = ["DeclaredChanges", "declared_changes", "more_than_edits"]

_CHANGING = (TouchKind.WRITE, TouchKind.DELETE)
_KEPT = (FileKind.FILE, FileKind.DIRECTORY, FileKind.MISSING)


class DeclaredChanges(Struct, frozen=True):
    """The files that a command says it writes or removes.

    Attributes:
        paths: Files, and directories below which files are written or removed; resolved.
        is_complete: Whether the contents of these files are all that it changes.
    """

    paths: tuple[str, ...]
    is_complete: bool


def declared_changes(analysis: CommandAnalysis, around: Surroundings) -> DeclaredChanges:
    """Return what a command says it changes; blocks while it looks at files."""
    parts = analysis.parts
    is_complete = not analysis.doubts and bool(parts) and all(map(_says_all, parts))
    paths: dict[str, None] = {}
    try:
        for touch in touches(analysis, around):
            if touch.kind not in _CHANGING:
                continue
            if touch.location is None or touch.location.kind not in _KEPT:
                is_complete = False
            else:
                paths[touch.location.resolved] = None
    except (PathError, TooManyFilesError):
        is_complete = False
    return DeclaredChanges(tuple(paths), is_complete)


def _says_all(part: Part) -> bool:
    """Return whether the effects of a part are all that it does, and change contents only."""
    return not makes_links(part) and more_than_edits(part) is None


def more_than_edits(part: Part) -> str | None:
    """Return why a part does more than read, and edit the files it names, or None."""
    places = {effect.span for effect in part.effects if effect.kind in CHANGES}
    for doubt in part.doubts:
        if doubt.span not in places:
            return doubt.message
    for effect in part.effects:
        if effect.kind in CHANGES:
            if not part.is_a("edits") and not is_redirect(effect, part):
                return f"`{part.program}` does more than edit files"
        elif effect.kind is not EffectKind.READ:
            return next((doubt.message for doubt in part.doubts), "it may do anything")
    return None
