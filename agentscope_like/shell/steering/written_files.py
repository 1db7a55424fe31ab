"""Says whether one part of a command may write a file that steers the program of another."""

from __future__ import annotations

import re
from collections.abc import Sequence

from agentscope_like.paths import is_below
from agentscope_like.shell.analysis import Effect, EffectKind, Part
from agentscope_like.shell.draft import shortened
from agentscope_like.shell.surroundings import Surroundings

__all__ = ["written_objection"]

_READ, _WRITE, _DELETE = EffectKind.READ, EffectKind.WRITE, EffectKind.DELETE
_MAGIC = re.compile(r"[*?\[]")


def written_objection(
    part: Part, names: Sequence[str], places: Sequence[str], around: Surroundings
) -> str | None:
    """Return the beginning of a sentence about a file that a part may write, or None.

    Args:
        part: A part of the command.
        names: The names of files that steer another one.
        places: The directories where it looks for them.
        around: Where the command runs.

    Raises:
        PathError: A path cannot be resolved.
        TooManyFilesError: The look budget is spent.
    """
    if part.read_only:
        return None
    if not part.effects or part.is_a("extractor"):
        return _unknown(part)
    for effect in part.effects:
        if effect.kind is _WRITE and effect.path is not None:
            within = () if part.is_a("keeps_contents") else places
            if _puts(effect, names, within, around):
                return f"`{shortened(effect.target)}`, which the command writes,"
        elif effect.kind not in (_READ, _DELETE):
            return _unknown(part)
    return None


def _unknown(part: Part) -> str:
    return f"`{shortened(part.argv[0] or '')}` may write a file that"


def _puts(
    effect: Effect, names: Sequence[str], places: Sequence[str], around: Surroundings
) -> bool:
    """Return whether an effect may put a file where it steers, also within a directory."""
    path = effect.path or ""
    if effect.glob:
        folder = _MAGIC.split(path)[0].rpartition("/")[0] or "/"
        return any(place == folder or is_below(place, folder) for place in places)
    brought = {f"{path}{suffix}" for suffix in effect.backups}
    for each in {path, around.locate(effect.way or path).resolved, *brought}:
        if any(place == each or is_below(place, each) for place in places):
            return True
        if any(_is_named(each, name) for name in names):
            return True
    return False


def _is_named(path: str, name: str) -> bool:
    """Return whether a path has a file's name, or lies below the first directory of it."""
    path, name = path.casefold(), name.casefold()
    first = name.partition("/")[0]
    return path.endswith(f"/{name.rstrip('/')}") or (first != name and f"/{first}/" in path)
