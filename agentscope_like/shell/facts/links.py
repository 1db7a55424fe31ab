"""Links that a command makes, copies or moves, and what is reached through them.

A path at or below a link that one part makes cannot be judged beforehand: where it leads is known
only once the part has run.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress

from msgspec import Struct

from agentscope_like.paths import (
    FOLDER,
    TOO_MANY,
    FileKind,
    Location,
    PathError,
    TooManyFilesError,
    lineage,
    matches,
)
from agentscope_like.shell.analysis import (
    CHANGES,
    CommandAnalysis,
    Effect,
    EffectKind,
    Part,
)
from agentscope_like.shell.facts.implied_directory import Implied, implied
from agentscope_like.shell.facts.shown_content import (
    follows,
    is_redirect,
    lists_only,
    reads_no_directory,
)
from agentscope_like.shell.surroundings import Surroundings
from agentscope_like.shell.syntax import Script, SimpleCommand

__all__ = ["Carriers", "makes_links", "spots", "ways", "why_not_through_links"]

_HARMLESS_COPY = re.compile(r"-[finuvpx]+|--(?:force|interactive|no-clobber|update|verbose)")
"""Flags with which `cp` follows symlinks, as it does without any."""

_LINKING = re.compile(r"-[^-]*[ls].*|--[ls].*", re.DOTALL)
"""Flags with which `cp` makes links: `-l`, `-s`, `--link`, `--symbolic-link`."""

_MAGIC = re.compile(r"[*?\[]")
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
    try:
        return _why_not_through_links(analysis, around)
    except PathError as error:
        return str(error)
    except TooManyFilesError:
        return f"it {TOO_MANY}"


def _why_not_through_links(analysis: CommandAnalysis, around: Surroundings) -> str | None:
    acts = [_Act(part, effect) for part in analysis.parts for effect in _effects(part, analysis)]
    makers = _Makers(acts, around)
    if not makers.by_path:
        return None
    in_order = analysis.script is not None and _is_sequence(analysis.script)
    carriers = Carriers(analysis, around)
    for place, act in enumerate(acts):
        for maker_place in makers.passed_by(act):
            maker = acts[maker_place]
            if maker.part is act.part or (in_order and place < maker_place):
                continue
            is_change = act.effect.kind in CHANGES
            if not (is_change and makes_links(maker.part)) and not carriers.include(
                maker.part, missing=is_change
            ):
                continue
            return (
                f"`{act.effect.target}` is reached through `{maker.effect.target}`, which may "
                "have become a link by then"
            )
    return None


def _effects(part: Part, analysis: CommandAnalysis) -> Iterator[Effect]:
    """Yield what a part does, the search of the directories that it may run in included."""
    yield from part.effects
    if implied(part, analysis) is Implied.SEARCHES:
        for directory in part.directories:
            yield Effect(EffectKind.READ, ".", directory, part.span)


class _Makers:
    """What may make links, by the path that each may be at.

    Attributes:
        by_path: For each path, the place of the first act of each part; `/` where it is not known.
    """

    def __init__(self, acts: Sequence[_Act], around: Surroundings) -> None:
        self.by_path: dict[str, dict[int, int]] = {}
        self._around = around
        self._below: dict[str, dict[str, None]] = {}
        self._first: dict[int, int] = {}
        for place, act in enumerate(acts):
            if _may_make_links(act):
                for path in spots(act.effect, around):
                    self.by_path.setdefault(path, {}).setdefault(id(act.part), place)
                    for above in lineage(path):
                        self._below.setdefault(above, {})[path] = None
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
        for path in ways(effect, self._around):
            for above in lineage(path):
                yield from self.by_path.get(above, {}).values()
        below = _goes_below(act)
        if effect.glob:
            for path in self._matched(effect.path or "/", below=below):
                yield from self.by_path[path].values()
        elif below:
            for path in self._below.get(effect.path or "/", ()):
                yield from self.by_path[path].values()

    def _matched(self, pattern: str, *, below: bool) -> Iterator[str]:
        """Yield the paths that a pattern may come to match, or match something below.

        Args:
            pattern: An absolute pattern.
            below: Whether paths below what it matches count too.
        """
        names = pattern.split("/")
        known = next(at for at, name in enumerate([*names, "*"]) if _MAGIC.search(name))
        for path in self._below.get("/".join(names[:known]) or "/", ()):
            own = path.split("/")
            if (below or len(own) <= len(names)) and all(map(matches, own, names)):
                yield path


def _goes_below(act: _Act) -> bool:
    """Return whether an act reads, or writes, what links below its path lead to."""
    effect, part = act.effect, act.part
    if effect.kind is EffectKind.READ:
        return follows(part, otherwise=True) and not reads_no_directory(part)
    return effect.kind is EffectKind.WRITE and effect.recursive


def spots(effect: Effect, around: Surroundings) -> Iterator[str]:
    """Yield every path by which something is known that an effect puts somewhere."""
    yield effect.path or "/"
    with suppress(PathError, TooManyFilesError):  # then it is no edit, and asked about anyway
        for path in around.paths(effect):
            yield from around.locate(path, follow=False).readings


def ways(effect: Effect, around: Surroundings) -> Iterator[str]:
    """Yield every path that is walked through on the way to what an effect reaches.

    Raises:
        PathError: A path cannot be judged.
        TooManyFilesError: A pattern reaches too many files.
    """
    yield effect.path or "/"
    for location in around.locations(effect) or ():
        yield from location.readings
    at = effect.walked.find("/..", 1)
    while at > 0:
        yield from around.locate(effect.walked[:at]).readings
        at = effect.walked.find("/..", at + 1)


class Carriers:
    """The parts of one command that may copy or move symlinks which nobody has looked at.

    Args:
        analysis: The command.
        around: Where it runs.
    """

    __slots__ = ("_around", "_holding", "_known", "_made")

    def __init__(self, analysis: CommandAnalysis, around: Surroundings) -> None:
        self._around = around
        self._known: dict[tuple[int, bool], bool] = {}
        self._made: dict[str, set[int]] = {}
        self._holding: dict[str, set[int]] = {}
        for part in analysis.parts:
            if part.is_a("relocates"):
                self._add_made(part)

    def include(self, part: Part, *, missing: bool = False) -> bool:
        """Return whether a part is one of them; only `cp` and `mv` are.

        Args:
            part: A part.
            missing: Whether what is not there yet may become a link.
        """
        key = (id(part), missing)
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = part.is_a("copier", "mover") and any(
                self._may_be_links(effect, part, missing=missing) for effect in part.effects
            )
        return known

    def _may_be_links(self, effect: Effect, part: Part, *, missing: bool) -> bool:
        if effect.kind not in _TAKEN or is_redirect(effect, part):
            return False
        if effect.path is None:
            return True
        try:
            if any(self._is_made(path, part) for path in ways(effect, self._around)):
                return True
            paths = self._around.paths(effect)
            kinds = [self._around.locate(path, follow=False) for path in paths]
            if missing and any(each.kind is FileKind.MISSING for each in kinds):
                return True
            return any(_is_link_or_holds_one(each, self._around) for each in kinds)
        except TooManyFilesError:
            return True

    def _add_made(self, part: Part) -> None:
        """Remember what a part puts somewhere that may be a link, or hold one."""
        for effect in part.effects:
            if effect.kind is EffectKind.WRITE and not is_redirect(effect, part):
                for path in spots(effect, self._around):
                    self._around.effort.spend(FOLDER)
                    self._made.setdefault(path, set()).add(id(part))
                    for above in lineage(path):
                        self._holding.setdefault(above, set()).add(id(part))

    def _is_made(self, path: str, part: Part) -> bool:
        """Return whether another part puts something at, above or below a path."""
        makers = (self._made.get(above, set()) for above in lineage(path))
        itself = {id(part)}
        return any(each - itself for each in (self._holding.get(path, set()), *makers))


def _is_link_or_holds_one(location: Location, around: Surroundings) -> bool:
    if location.kind is FileKind.DIRECTORY:
        return next(around.links_below(location), None) is not None
    return location.kind not in (FileKind.FILE, FileKind.MISSING)


def _may_make_links(act: _Act) -> bool:
    part, effect = act.part, act.effect
    if effect.kind is not EffectKind.WRITE or is_redirect(effect, part):
        return False
    if not part.is_a("copier"):
        return not part.is_a("plain_writer")
    return None in part.argv or not all(map(_HARMLESS_COPY.fullmatch, part.options))


def makes_links(part: Part) -> bool:
    """Return whether a part may make links by itself, whatever it is given."""
    if part.is_a("mover"):
        return False
    if not part.is_a("copier") or None in part.argv:
        return True
    return any(map(_LINKING.fullmatch, part.options))


def _is_sequence(script: Script) -> bool:
    """Return whether simple commands, one after the other, are all there is."""
    return all(
        isinstance(statement.command, SimpleCommand) and statement.connector != "&"
        for statement in script.statements
    )
