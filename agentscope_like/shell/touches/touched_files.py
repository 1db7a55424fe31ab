"""Lists the files that a command touches, for rules about files.

Unlike the safety checks, this module does not know which files are sensitive: rules decide that.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from agentscope_like.paths import (
    FileKind,
    Location,
    PathError,
    TooManyFilesError,
    lineage,
    standard_devices,
)
from agentscope_like.shell.analysis import CommandAnalysis, Effect, EffectKind, Part
from agentscope_like.shell.facts import Implied, follows, implied, is_redirect, lists_only
from agentscope_like.shell.names import feeders
from agentscope_like.shell.surroundings import Surroundings
from agentscope_like.shell.touches.copying import Copying
from agentscope_like.shell.touches.file_touch import Below, Touch, TouchKind
from agentscope_like.shell.touches.links import makes_links, spots, takes_links, ways
from agentscope_like.shell.touches.named_paths import named_in_history, words_in_history

__all__ = ["touches"]

# An enum's members are looked up once: finding one in its class is as slow as a call.
_READ, _DIRECTORY, _NOTHING = EffectKind.READ, FileKind.DIRECTORY, Below.NOTHING
_READS, _LISTS, _WRITES, _DELETES = (
    TouchKind.READ,
    TouchKind.LIST,
    TouchKind.WRITE,
    TouchKind.DELETE,
)
_CHANGES = {EffectKind.WRITE: _WRITES, EffectKind.DELETE: _DELETES}


def touches(analysis: CommandAnalysis, around: Surroundings) -> Iterator[Touch]:
    """Yield what the parts do to files, including files that are only known at run time."""
    around = around.of(analysis)
    look = _Look(analysis, around)
    for part in analysis.parts:
        for effect in part.effects:
            kind = _kind(effect, part)
            if kind is None or effect.path in standard_devices() or effect.target == "-":
                continue
            try:
                yield from look.at(effect, kind, part)
            except (PathError, TooManyFilesError):
                yield Touch(part, kind, effect.target, None)
        yield from look.made(part)
        match implied(part, analysis):
            case Implied.SEARCHES:
                yield from look.where_it_runs(part, TouchKind.READ)
            case Implied.LISTS:
                yield from look.where_it_runs(part, TouchKind.LIST, below=_walks(part))
        yield from named_in_history(part, around)
    yield from words_in_history(analysis, around)


class _Look:
    """Lists the touches of one command."""

    __slots__ = ("_analysis", "_around", "_copying", "_fed_alike", "_links")

    def __init__(self, analysis: CommandAnalysis, around: Surroundings) -> None:
        self._analysis = analysis
        self._around = around
        self._copying = Copying(analysis, around)
        self._fed_alike: set[tuple[int, TouchKind, tuple[int, ...]]] = set()
        self._links: set[str] = set()

    def at(self, effect: Effect, kind: TouchKind, part: Part) -> Iterator[Touch]:
        """Yield the touches of one effect.

        Raises:
            PathError: A path cannot be resolved.
            TooManyFilesError: A pattern reaches too many files.
        """
        if effect.path is None:
            yield from self._fed(effect, kind, part)
            return
        if self._links and self._is_through_links(effect):
            yield Touch(part, kind, effect.target, None)
        for location in self._around.locations(effect) or ():
            below = self._below(effect, kind, part, location)
            if below is None:
                continue
            removes = kind is _DELETES
            yield Touch(
                part,
                kind,
                effect.target,
                location,
                below,
                follows=below is not _NOTHING and not removes and follows(part, otherwise=True),
                certain_below=removes and not part.is_a("finder"),
            )
            if removes and _moves(part):
                # Under its new name, no rule knows it.
                yield Touch(
                    part, TouchKind.MOVE, effect.target, location, Below.PRESENT, certain=False
                )

    def _is_through_links(self, effect: Effect) -> bool:
        """Return whether an effect's path may go through a link that the command creates."""
        return any(not self._links.isdisjoint(lineage(path)) for path in ways(effect, self._around))

    def made(self, part: Part) -> Iterator[Touch]:
        """Remember where a part may create a link, for later parts; yield doubts.

        Once there are links, any copied or moved file may be one.
        """
        if not part.is_a("relocates"):
            return
        try:
            if self._links or makes_links(part) or takes_links(part, self._around):
                self._links.update(spots(part, self._around))
        except (PathError, TooManyFilesError):
            yield Touch(part, _WRITES, min(part.written, default=""), None)

    def where_it_runs(
        self, part: Part, kind: TouchKind, *, below: Below = Below.PRESENT
    ) -> Iterator[Touch]:
        """Yield the touch of a part that acts on its working directory, or on git's directory."""
        if not part.directories:
            yield Touch(part, kind, ".", None)
        for directory in part.directories:
            for location in self._searched(part, directory):
                yield Touch(
                    part, kind, location.written, location, below, follows(part, otherwise=True)
                )

    def _searched(self, part: Part, directory: str) -> list[Location]:
        """Return the paths that limit git's search, if all exist; else the directory."""
        words = part.argv[part.argv.index("--") + 1 :] if "--" in part.argv else ()
        if part.program == "git" and words and None not in words:
            told = [self._around.locate(f"{directory}/{word}") for word in words]
            if all(location.exists for location in told):
                return told
        return [self._around.locate(directory)]

    def _fed(self, effect: Effect, kind: TouchKind, part: Part) -> Iterator[Touch]:
        """Yield the touches of an effect without a path: the locations that its names come from."""
        places = feeders(effect, part, self._analysis)
        if places is None:
            yield Touch(part, kind, effect.target, None)
            return
        alike = (id(part), kind, tuple(map(id, places)))
        if alike in self._fed_alike:
            return
        self._fed_alike.add(alike)
        for feeder in places:
            for touch in self._listed(feeder, kind):
                follows = kind is not TouchKind.DELETE
                yield replace(touch, part=part, follows=follows, certain=False)

    def _listed(self, feeder: Part, kind: TouchKind) -> Iterator[Touch]:
        if not feeder.effects:
            yield from self.where_it_runs(feeder, kind)
        for place in feeder.effects:
            for location in self._around.locations(place) or ():
                yield Touch(feeder, kind, place.target, location, Below.PRESENT)

    def _below(
        self, effect: Effect, kind: TouchKind, part: Part, location: Location
    ) -> Below | None:
        """Return what is reached below a path; None if the path itself is not reached."""
        if kind is _READS:
            reaches = location.kind is _DIRECTORY
        elif kind is _LISTS:
            reaches = _walks(part) is not _NOTHING
        elif kind is _DELETES or part.is_a("rights"):
            reaches = effect.recursive
        else:
            return self._copying.written_below(effect, part)
        return Below.PRESENT if reaches else _NOTHING


def _kind(effect: Effect, part: Part) -> TouchKind | None:
    if effect.kind is not _READ:
        return _CHANGES.get(effect.kind)
    if part.is_a("moves") and not is_redirect(effect, part):
        return None
    return _LISTS if lists_only(effect, part) else _READS


def _walks(part: Part) -> Below:
    """Return what a listing part reaches below a directory."""
    walks = part.is_a("walker") or part.git_command == "ls-files"
    walks = walks or part.has_flag("R", "--recursive", "--tree")
    walks = walks or (part.is_a("walker_if_told") and part.has_flag("T"))
    return Below.PRESENT if walks else Below.NOTHING


def _moves(part: Part) -> bool:
    return part.is_a("mover") or part.git_command == "mv"
