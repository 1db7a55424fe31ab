"""Links that a command makes, copies or moves, and what is reached through them.

A path at or below a link that one part makes cannot be judged beforehand: where it leads is known
only once the part has run.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from msgspec import Struct

from agentscope_like.permission.paths import FileKind
from agentscope_like.permission.paths.location import lineage
from agentscope_like.permission.shell.analysis import (
    CHANGES,
    CommandAnalysis,
    Effect,
    EffectKind,
    Part,
)
from agentscope_like.permission.shell.expansion import TooManyFilesError
from agentscope_like.permission.shell.programs import COPIERS, LINKERS, MOVERS
from agentscope_like.permission.shell.showing import is_redirect, lists_only
from agentscope_like.permission.shell.surroundings import Surroundings
from agentscope_like.permission.shell.tree import Script, SimpleCommand

__all__ = ["PLAIN", "Carriers", "why_not_through_links"]

PLAIN = frozenset({"mkdir", "touch", "rm", "rmdir", "sed", "gsed", "tee", "grm"})
"""Programs that edit files, and never make a link nor move one to another place."""

_HARMLESS_COPY = re.compile(r"-[finuvpx]+|--(?:force|interactive|no-clobber|update|verbose)")
"""Flags with which `cp` follows symlinks, as it does without any."""

_TAKEN = frozenset({EffectKind.READ, EffectKind.DELETE})


class _Act(Struct, frozen=True):
    """One effect of one part."""

    part: Part
    effect: Effect


def why_not_through_links(analysis: CommandAnalysis, around: Surroundings) -> str | None:
    """Return why a path may lead elsewhere by the time that it is used, or None.

    Args:
        analysis: The command, as it was read.
        around: Where it runs.
    """
    acts = [_Act(part, effect) for part in analysis.parts for effect in part.effects]
    makers = _Makers(acts)
    if not makers.by_path:
        return None
    in_order = analysis.script is not None and _is_sequence(analysis.script)
    carriers = Carriers(analysis, around)
    for place, act in enumerate(acts):
        for maker_place in makers.passed_by(act):
            maker = acts[maker_place]
            if maker.part is act.part or (in_order and place < maker_place):
                continue
            if act.effect.kind not in CHANGES and not carriers.include(maker.part):
                continue
            return (
                f"`{act.effect.target}` is reached through `{maker.effect.target}`, which may "
                "have become a link by then"
            )
    return None


class _Makers:
    """What may make links, by the path that each may be at.

    Attributes:
        by_path: For each path, the place of the first act of each part; `/` where it is not known.
    """

    def __init__(self, acts: Sequence[_Act]) -> None:
        self.by_path: dict[str, dict[int, int]] = {}
        self._first: dict[int, int] = {}
        for place, act in enumerate(acts):
            if _may_make_links(act):
                path = act.effect.path or "/"
                self.by_path.setdefault(path, {}).setdefault(id(act.part), place)
                self._first.setdefault(id(act.part), place)

    def passed_by(self, act: _Act) -> Iterator[int]:
        """Yield the places of makers at or above whose path an act uses its own."""
        effect = act.effect
        if effect.kind not in CHANGES:
            if effect.kind is not EffectKind.READ or lists_only(effect, act.part):
                return
            if effect.path is None:
                yield from self._first.values()
                return
        for path in lineage(effect.path or "/"):
            yield from self.by_path.get(path, {}).values()


class Carriers:
    """The parts of one command that may copy or move symlinks which nobody has looked at.

    Args:
        analysis: The command.
        around: Where it runs.
    """

    __slots__ = ("_analysis", "_around", "_holding", "_known", "_made")

    def __init__(self, analysis: CommandAnalysis, around: Surroundings) -> None:
        self._analysis = analysis
        self._around = around
        self._known: dict[int, bool] = {}
        self._made: dict[str, set[int]] = {}
        self._holding: dict[str, set[int]] = {}
        for part in analysis.parts:
            if part.program in COPIERS | MOVERS | LINKERS:
                self._add_made(part)

    def include(self, part: Part) -> bool:
        """Return whether a part is one of them; only `cp` and `mv` are."""
        known = self._known.get(id(part))
        if known is None:
            known = self._known[id(part)] = part.program in COPIERS | MOVERS and any(
                self._may_be_links(effect, part) for effect in part.effects
            )
        return known

    def _may_be_links(self, effect: Effect, part: Part) -> bool:
        if effect.kind not in _TAKEN or is_redirect(effect, part):
            return False
        if effect.path is None or self._is_made(effect.path, part):
            return True
        try:
            paths = self._around.paths(effect)
            return any(_is_link_or_holds_one(path, self._around) for path in paths)
        except TooManyFilesError:
            return True

    def _add_made(self, part: Part) -> None:
        """Remember what a part puts somewhere that may be a link, or hold one."""
        for effect in part.effects:
            if effect.kind is EffectKind.WRITE and not is_redirect(effect, part):
                path = effect.path or "/"
                self._made.setdefault(path, set()).add(id(part))
                for above in lineage(path):
                    self._holding.setdefault(above, set()).add(id(part))

    def _is_made(self, path: str, part: Part) -> bool:
        """Return whether another part puts something at, above or below a path."""
        makers = (self._made.get(above, set()) for above in lineage(path))
        itself = {id(part)}
        return any(each - itself for each in (self._holding.get(path, set()), *makers))


def _is_link_or_holds_one(path: str, around: Surroundings) -> bool:
    location = around.locate(path, follow=False)
    if location.kind is FileKind.DIRECTORY:
        return next(around.links_below(location), None) is not None
    return location.kind not in (FileKind.FILE, FileKind.MISSING)


def _may_make_links(act: _Act) -> bool:
    part, effect = act.part, act.effect
    if effect.kind is not EffectKind.WRITE or is_redirect(effect, part):
        return False
    if part.program not in COPIERS:
        return part.program not in PLAIN
    flags = [word for word in part.argv[1:] if word is None or word.startswith("-")]
    return not all(word is not None and _HARMLESS_COPY.fullmatch(word) for word in flags)


def _is_sequence(script: Script) -> bool:
    """Return whether simple commands, one after the other, are all there is."""
    return all(
        isinstance(statement.command, SimpleCommand) and statement.connector != "&"
        for statement in script.statements
    )
