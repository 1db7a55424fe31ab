"""Finds what `cp`, `mv` and `ln` write at and below their targets, and objections to it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Set
from enum import Enum
from itertools import takewhile

from agentscope_like.paths import ENTRY, FileKind, Location, lineage, matches
from agentscope_like.shell.analysis import CommandAnalysis, Effect, EffectKind, Part, answered_once
from agentscope_like.shell.facts import is_redirect
from agentscope_like.shell.surroundings import Surroundings

__all__ = ["Below", "Copying", "copy_objection", "pattern_objection"]


class Below(Enum):
    """What is reached below a path."""

    NOTHING = "nothing"
    PRESENT = "present files"
    ANYTHING = "present and new files"


@answered_once
def _entered(part: Part) -> Set[str]:
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
            effect.kind is EffectKind.WRITE and effect.path in _entered(part)
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


class Copying:
    """Looks at what the parts of one command write below their targets."""

    __slots__ = ("_analysis", "_around", "_files_only")

    def __init__(self, analysis: CommandAnalysis, around: Surroundings) -> None:
        self._analysis = analysis
        self._around = around
        self._files_only: dict[int, bool] = {}

    def written_below(self, effect: Effect, part: Part) -> Below | None:
        """Return what is written below the target of one write; None if this write does not happen.

        A target has two effects: one on itself and one on the name below it that is written where
        it is a directory. Only one of them happens.

        Args:
            effect: The write; its path is known.
            part: The part that has it.

        Raises:
            PathError: A path cannot be resolved.
            TooManyFilesError: A pattern reaches too many files.
        """
        path = effect.path or ""
        parent = path.rpartition("/")[0]
        if effect.recursive and parent in part.written:
            if not self._may_be_directory(parent, part):
                return None
        elif path in _entered(part) and self._around.locate(path).kind is FileKind.DIRECTORY:
            return Below.NOTHING
        if not effect.recursive or self._takes_files_only(part):
            return Below.NOTHING
        return Below.ANYTHING

    def _may_be_directory(self, path: str, part: Part) -> bool:
        """Return whether a path is a directory, or another part may make it one."""
        return self._around.locate(path).kind is FileKind.DIRECTORY or any(
            path in other.written for other in self._analysis.parts if other is not part
        )

    def _takes_files_only(self, part: Part) -> bool:
        """Return whether all sources of the part are known to be regular files."""
        known = self._files_only.get(id(part))
        if known is None:
            known = self._files_only[id(part)] = all(map(self._is_file, part.effects))
        return known

    def _is_file(self, effect: Effect) -> bool:
        """Return whether the source is a regular file, or created by a redirection."""
        if effect.kind is EffectKind.WRITE or effect.path in self._analysis.redirected_to:
            return True
        locations = self._around.locations(effect)
        return locations is not None and all(each.kind is FileKind.FILE for each in locations)
