"""Copies of what the same command makes: nobody can see it yet where it is copied from."""

from __future__ import annotations

import re
from collections.abc import Iterator

from agentscope_like.paths import ENTRY, is_below
from agentscope_like.shell import CHANGES, CommandAnalysis, Effect, EffectKind, Part, Surroundings
from agentscope_like.shell.facts import is_redirect

__all__ = ["why_not_copy_made"]

_NAME_WITH_MAGIC = re.compile(r"/[^/]*[*?\[].*", re.DOTALL)


def why_not_copy_made(analysis: CommandAnalysis, around: Surroundings) -> str | None:
    """Return why what a command makes and then copies may end where it must not, or None.

    `echo x > d/l; cp -r d z` writes to `z/d/l`, which may be a symlink that leads elsewhere.

    Args:
        analysis: The command, as it was read.
        around: Where it runs.

    Raises:
        PathError: It reaches a path that nobody can judge.
        TooManyFilesError: Enough has been looked at.
    """
    copying = [part for part in analysis.parts if part.is_a("copier")]
    if not copying:
        return None
    made = [(part, path) for part in analysis.parts for path in _changed(part)]
    for part in copying:
        around.effort.spend(ENTRY * len(made) * len(part.effects))
        for place in dict.fromkeys(_copies(part, made)):
            if reason := around.why_not_edit(place):
                return reason
    return None


def _changed(part: Part) -> Iterator[str]:
    return (effect.path for effect in part.effects if effect.kind in CHANGES and effect.path)


def _copies(part: Part, made: list[tuple[Part, str]]) -> Iterator[str]:
    """Yield the paths at which a part puts copies of what other parts make."""
    targets = [
        effect.path
        for effect in part.effects
        if effect.kind is EffectKind.WRITE and effect.path and not is_redirect(effect, part)
    ]
    for source in part.effects:
        if source.kind is not EffectKind.READ or source.path is None or is_redirect(source, part):
            continue
        base = _base(source)
        for other, path in made:
            if other is part or path == source.path or not is_below(path, base):
                continue
            relative = path[len(base.rstrip("/")) :]
            for target in targets:
                yield f"{_NAME_WITH_MAGIC.sub('', target)}{relative}"


def _base(source: Effect) -> str:
    """Return the directory in which what is copied lies, or that is copied itself."""
    path = source.path or ""
    return _NAME_WITH_MAGIC.sub("", path) if source.glob else path
