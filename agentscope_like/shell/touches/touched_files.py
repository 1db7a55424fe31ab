"""Lists the files that a command touches, for rules about files.

Unlike the safety checks, this module does not know which files are sensitive: rules decide that.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from enum import Enum

from msgspec import Struct
from msgspec.structs import replace

from agentscope_like.paths import (
    FileKind,
    Location,
    PathError,
    TooManyFilesError,
    standard_devices,
)
from agentscope_like.shell.analysis import CommandAnalysis, Effect, EffectKind, Part
from agentscope_like.shell.catalog import families
from agentscope_like.shell.facts import (
    all_words,
    follows,
    is_redirect,
    lists_only,
    raw_words,
    shown_in_history,
    shows_computed,
)
from agentscope_like.shell.names import feeders
from agentscope_like.shell.state import joined
from agentscope_like.shell.surroundings import Surroundings, paths_in
from agentscope_like.shell.syntax import Heredoc
from agentscope_like.shell.touches.copying import entered
from agentscope_like.shell.touches.links import makes_links, takes_links

__all__ = ["Below", "Touch", "TouchKind", "is_pattern", "named_by_command", "touches"]


class Below(Enum):
    """What is reached below a path."""

    NOTHING = "nothing"
    PRESENT = "present files"
    ANYTHING = "present and new files"


class TouchKind(Enum):
    """What happens to a path; the value is the verb shown in messages."""

    READ = "reads"
    LIST = "looks at"
    SHOW = "may show"
    WRITE = "writes"
    DELETE = "removes"
    MOVE = "moves"
    NAME = "names"


class Touch(Struct, frozen=True):
    """What a part does to one path.

    Attributes:
        part: The part; None for a command that could not be read.
        kind: What is done.
        target: The path as it is written.
        location: Where it leads; None if that is only known at run time.
        below: What below it is reached too.
        follows: Whether symlinks below it are followed.
        certain: Whether the path itself is reached for certain.
        certain_below: Whether all that is below it is.
    """

    part: Part | None
    kind: TouchKind
    target: str
    location: Location | None
    below: Below = Below.NOTHING
    follows: bool = False
    certain: bool = True
    certain_below: bool = False


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
        look.remember_links(part)
        yield from _named_in_history(part, around)
    yield from _words_in_history(analysis, around)


class _Look:
    """Lists the touches of one command."""

    __slots__ = ("_analysis", "_around", "_files_only", "_has_links")

    def __init__(self, analysis: CommandAnalysis, around: Surroundings) -> None:
        self._analysis = analysis
        self._around = around
        self._files_only: dict[int, bool] = {}
        self._has_links = False

    def at(self, effect: Effect, kind: TouchKind, part: Part) -> Iterator[Touch]:
        """Yield the touches of one effect.

        Raises:
            PathError: A path cannot be resolved.
            TooManyFilesError: A pattern reaches too many files.
        """
        if effect.path is None:
            yield from self._fed(effect, kind, part)
            return
        if self._has_links:
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

    def remember_links(self, part: Part) -> None:
        """Remember whether a part may put a link somewhere, through which later parts may go."""
        try:
            self._has_links |= makes_links(part) or takes_links(part, self._around)
        except PathError:
            self._has_links = True

    def _fed(self, effect: Effect, kind: TouchKind, part: Part) -> Iterator[Touch]:
        """Yield the touches of an effect without a path: the locations that its names come from."""
        places = feeders(effect, part, self._analysis)
        if places is None:
            yield Touch(part, kind, effect.target, None)
            return
        for feeder in places:
            for touch in self._listed(feeder, kind):
                follows = kind is not TouchKind.DELETE
                yield replace(touch, part=part, follows=follows, certain=False)

    def _listed(self, feeder: Part, kind: TouchKind) -> Iterator[Touch]:
        """Yield the touches of all that a part lists, where it is told to or where it runs."""
        if not feeder.effects:
            for each in map(self._around.locate, feeder.directories):
                yield Touch(feeder, kind, ".", each, Below.PRESENT)
            if not feeder.directories:
                yield Touch(feeder, kind, ".", None)
        for place in feeder.effects:
            for location in self._around.locations(place) or ():
                yield Touch(feeder, kind, place.target, location, Below.PRESENT)

    def _below(
        self, effect: Effect, kind: TouchKind, part: Part, location: Location
    ) -> Below | None:
        """Return what is reached below a path; None if the path itself is not reached."""
        if kind is _READS:
            reaches = location.kind is _DIRECTORY
        elif kind is _LISTS or kind is _DELETES or part.is_a("rights"):
            reaches = effect.recursive
        else:
            return self._written_below(effect, part)
        return Below.PRESENT if reaches else _NOTHING

    def _written_below(self, effect: Effect, part: Part) -> Below | None:
        """Return what is written below the target of a write; None if this write does not happen.

        A target has two effects: one on itself and one on the name below it that is written where
        it is a directory. Only one of them happens.
        """
        path = effect.path or ""
        parent = path.rpartition("/")[0]
        if effect.recursive and parent in part.written:
            if not self._may_be_directory(parent, part):
                return None
        elif path in entered(part) and self._around.locate(path).kind is _DIRECTORY:
            return _NOTHING
        if not effect.recursive or self._takes_files_only(part):
            return _NOTHING
        return Below.ANYTHING

    def _may_be_directory(self, path: str, part: Part) -> bool:
        """Return whether a path is a directory, or another part may make it one."""
        return self._around.locate(path).kind is _DIRECTORY or any(
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


def _kind(effect: Effect, part: Part) -> TouchKind | None:
    if effect.kind is not _READ:
        return _CHANGES.get(effect.kind)
    if part.is_a("moves") and not is_redirect(effect, part):
        return None
    return _LISTS if lists_only(effect, part) else _READS


def _moves(part: Part) -> bool:
    return part.is_a("mover") or part.git_command == "mv"


_UNKNOWN = frozenset({EffectKind.UNKNOWN, EffectKind.EXECUTE, EffectKind.NETWORK})
_MAGIC = re.compile(r"[*?\[\\]")
_ANYTHING = re.compile(r"[*?]*")
_ENDING = re.compile(r"\*+(?:\.[\w*?\[\]-]+)+")
"""A pattern of what names end with: `*.py`."""


def is_pattern(text: str) -> bool:
    """Return whether a text contains a wildcard."""
    return _MAGIC.search(text) is not None


def _stands_for_places(pattern: str) -> bool:
    """Return whether a pattern says more than the end of a name, or than anything at all."""
    folder, _, last = pattern.rpartition("/")
    is_ending = _ENDING.fullmatch(last) or _ANYTHING.fullmatch(last)
    return not is_ending or not _ANYTHING.fullmatch(folder)


def _literal_folder(pattern: str) -> str:
    """Return the known directory of all that a pattern matches."""
    magic = _MAGIC.search(pattern)
    return pattern[: magic.start()].rpartition("/")[0] if magic else pattern


def _named_in_history(part: Part, around: Surroundings) -> Iterator[Touch]:
    """Yield the paths of a repository's past that git may show: `git show HEAD:path`."""
    if part.program != "git" or not part.read_only:
        return
    # `REV:path` counts from the root of the repository, wherever git runs.
    roots = [location.absolute for location in around.working_directories]
    shown = list(shown_in_history(part))
    names = [name for name in shown if not is_pattern(name)]
    yield from _touches(part, (*part.argv[2:], *names), TouchKind.SHOW, around, roots)
    for pattern in dict.fromkeys(filter(is_pattern, shown)):
        if _stands_for_places(pattern):
            yield from _matched(part, pattern, around, roots)


def _words_in_history(analysis: CommandAnalysis, around: Surroundings) -> Iterator[Touch]:
    """Yield the paths among all words, if git shows a path that is only known at run time."""
    part = next(filter(shows_computed, analysis.parts), None)
    if part is not None:
        roots = [location.absolute for location in around.working_directories]
        yield from _touches(part, all_words(analysis), TouchKind.SHOW, around, roots)


def _matched(
    part: Part, pattern: str, around: Surroundings, roots: Iterable[str]
) -> Iterator[Touch]:
    """Yield the locations that a pattern may match, now or in the past."""
    folder = _literal_folder(pattern)
    for start in dict.fromkeys((*part.directories, *roots)):
        try:
            location = around.locate(joined(start, folder) or start)
        except PathError:
            continue
        yield Touch(part, TouchKind.SHOW, pattern, location, Below.ANYTHING, certain=False)


def named_by_command(analysis: CommandAnalysis, around: Surroundings) -> Iterator[Touch]:
    """Yield the paths in arguments of a program that may do anything, or in unparsed text."""
    if analysis.script is None:
        yield from _touches(None, raw_words(analysis.command), TouchKind.NAME, around)
    for part in analysis.parts:
        if any(effect.kind in _UNKNOWN for effect in part.effects):
            words = _words_of(part, analysis.command)
            yield from _touches(part, words, TouchKind.NAME, around)


def _words_of(part: Part, command: str) -> Iterator[str | None]:
    """Yield the words of a part, and those of its code arguments."""
    runs_code = families().runs_code(part.program) or part.is_a("scripted")
    for word in part.argv[1:]:
        if runs_code and word is not None:
            yield from raw_words(word)
        else:
            yield word
    for redirect in part.redirects if runs_code else ():
        target = redirect.target
        if redirect.operator.startswith("<<"):
            span = target.body.span if isinstance(target, Heredoc) else target.span
            yield from raw_words(command[span.start : span.end])


def _touches(
    part: Part | None,
    words: Iterable[str | None],
    kind: TouchKind,
    around: Surroundings,
    roots: Iterable[str] = (),
) -> Iterator[Touch]:
    known = (part.directories if part else ()) or (around.directory,)
    directories = dict.fromkeys((*known, *roots))
    pieces = (piece for word in words if word for piece in paths_in(word))
    for piece in dict.fromkeys(pieces):
        starts = (None,) if piece.startswith(("/", "~")) else directories
        for start in starts:
            try:
                location = around.locate(joined(start, piece) or piece)
            except PathError:
                continue
            yield Touch(part, kind, piece, location, certain=False)
