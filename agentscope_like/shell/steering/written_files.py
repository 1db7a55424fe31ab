"""Says whether one part of a command may write a file that steers the program of another."""

from __future__ import annotations

from collections.abc import Sequence

from agentscope_like.paths import FileKind
from agentscope_like.shell.analysis import Effect, EffectKind, Part
from agentscope_like.shell.draft import shortened
from agentscope_like.shell.surroundings import Surroundings
from agentscope_like.shell.touches import makes_links

__all__ = ["written_objection"]

_READ, _WRITE, _DELETE = EffectKind.READ, EffectKind.WRITE, EffectKind.DELETE


def written_objection(part: Part, names: Sequence[str], around: Surroundings) -> str | None:
    """Return the beginning of a sentence about a file that a part may write, or None.

    Args:
        part: A part of the command.
        names: The names of files that steer another one.
        around: Where the command runs.

    Raises:
        PathError: A path cannot be resolved.
        TooManyFilesError: The look budget is spent.
    """
    if part.read_only:
        return None
    if not part.effects or makes_links(part) or part.is_a("extractor"):
        return _unknown(part)
    for effect in part.effects:
        if not _is_known(effect, part, around):
            return _unknown(part)
        if effect.kind is _WRITE and any(
            _is_named(path, name) for path in _paths(effect, around) for name in names
        ):
            return f"`{shortened(effect.target)}`, which the command writes,"
    return None


def _unknown(part: Part) -> str:
    return f"`{shortened(part.argv[0] or '')}` may write a file that"


def _is_known(effect: Effect, part: Part, around: Surroundings) -> bool:
    """Return whether it is known which files an effect writes, if any."""
    brings_files = part.is_a("relocates")
    if effect.kind in (_READ, _DELETE):
        return not brings_files or _is_file(effect, around)
    if effect.kind is not _WRITE or effect.path is None or effect.glob or effect.backups:
        return False
    return brings_files or not effect.recursive


def _is_file(effect: Effect, around: Surroundings) -> bool:
    """Return whether what is brought to another place is a file, which holds no others."""
    if effect.path is None or effect.glob:
        return False
    return around.locate(effect.way or "").kind is FileKind.FILE


def _paths(effect: Effect, around: Surroundings) -> tuple[str, ...]:
    return (effect.path or "", around.locate(effect.way or "").resolved)


def _is_named(path: str, name: str) -> bool:
    """Return whether a path has a file's name, or lies below the first directory of it."""
    path, name = path.casefold(), name.casefold()
    first = name.partition("/")[0]
    return path.endswith(f"/{name.rstrip('/')}") or (first != name and f"/{first}/" in path)
