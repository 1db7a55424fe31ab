"""Finds objections to what `cp`, `mv` and `ln` write at and below their targets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Set
from itertools import takewhile

from agentscope_like.paths import ENTRY, FileKind, Location, lineage, matches
from agentscope_like.shell.analysis import CommandAnalysis, Effect, EffectKind, Part, answered_once
from agentscope_like.shell.facts import is_redirect
from agentscope_like.shell.surroundings import Surroundings

__all__ = ["copy_objection", "entered", "pattern_objection"]


@answered_once
def entered(part: Part) -> Set[str]:
    """Return the directories below which a part writes, but which it does not write themselves.

    `cp -T a d` and `cp -r a/. d` write to `d` itself.
    """
    if part.has_flag("T") or any(each.startswith("--no-t") for each in part.options):
        return frozenset()
    times = Counter(effect.path for effect in part.effects if effect.kind is EffectKind.WRITE)
    holders = {above for path in part.written for above in lineage(path) if above != path}
    return {path for path in holders if times[path] <= 1}


def copy_objection(part: Part, around: Surroundings) -> str | None:
    """Return why a copy may create a sensitive file or write through symlinks, or None.

    Raises:
        PathError: A path cannot be resolved.
        TooManyFilesError: A pattern reaches too many files.
    """
    for effect in part.effects:
        if is_redirect(effect, part) or (
            effect.kind is EffectKind.WRITE and effect.path in entered(part)
        ):
            continue
        for place in around.locations(effect) or ():
            if place.kind is not FileKind.DIRECTORY:
                continue
            if effect.kind is EffectKind.READ and (reason := _sensitive_below(place, around)):
                return f"`{effect.target}` contains a sensitive path: {reason}"
            if effect.kind is EffectKind.WRITE and any(around.links_below(place)):
                return f"`{effect.target}` contains symlinks, which could redirect the copy"
    return None


def _sensitive_below(directory: Location, around: Surroundings) -> str | None:
    for entry in around.entries_below(directory):
        if around.sensitive.occur_in(entry.path) and (
            reason := around.write_objection(around.locate(entry.path, follow=False))
        ):
            return reason
    return None


def pattern_objection(analysis: CommandAnalysis, around: Surroundings) -> str | None:
    """Return why a pattern of what a part relocates may match what another part writes, or None.

    `echo x > l; cp l* d/` writes to `d/l`, which may be a link.

    Raises:
        TooManyFilesError: The look budget is spent.
    """
    written = [
        (part, effect)
        for part in analysis.parts
        for effect in part.effects
        if effect.kind is EffectKind.WRITE and effect.path
    ]
    for part in analysis.parts:
        for effect in part.effects if part.is_a("relocates") else ():
            pattern = effect.named_after
            if pattern is None:
                continue
            around.effort.spend(ENTRY * len(written))
            if any(_may_match(each, pattern) for other, each in written if other is not part):
                return (
                    f"another command may create files that `{part.name}` takes to "
                    f"`{effect.target}`"
                )
    return None


def _may_match(effect: Effect, pattern: str) -> bool:
    """Return whether what is written, or what lies above or below it, may match a pattern.

    Of a pattern, only backups are new: what it matches is there.
    """
    names = list(takewhile(lambda name: "**" not in name, pattern.split("/")))
    suffixes = effect.backups if effect.glob else ("", *effect.backups)
    paths = (f"{effect.path}{suffix}" for suffix in suffixes)
    return any(all(map(matches, path.split("/"), names)) for path in paths)
