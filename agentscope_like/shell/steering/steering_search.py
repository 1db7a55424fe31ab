"""Adds a doubt to each part of a command whose program is steered by the project.

What a program does by itself is in the catalog. What its project's files make of it is not, so a
program that such a file steers is proven to do nothing. `catalog/steered_by.toml` has the files,
which are looked for where the program itself would look.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from posixpath import dirname

from msgspec import Struct
from msgspec.structs import replace

from agentscope_like.lazy_property import lazy_property
from agentscope_like.paths import FOLDER, FileKind, PathError, TooManyFilesError, is_below
from agentscope_like.shell.analysis import CommandAnalysis, Doubt, Effect, EffectKind, Part
from agentscope_like.shell.catalog import RoleKind, Steering, SteeringFile, lookup, seen_steerings
from agentscope_like.shell.draft import shortened
from agentscope_like.shell.program_search import search_path
from agentscope_like.shell.steering.host_files import (
    SettingsError,
    is_recent,
    minor_version,
    settings_in,
    text_of,
)
from agentscope_like.shell.surroundings import Surroundings

__all__ = ["steered"]

_UNSEEN = frozenset({EffectKind.UNKNOWN, EffectKind.EXECUTE, EffectKind.NETWORK})


def steered(analysis: CommandAnalysis, around: Callable[[], Surroundings]) -> CommandAnalysis:
    """Return the analysis with a doubt for each part that the project steers.

    Args:
        analysis: The command, as its text was read.
        around: Returns where it runs, as the file system is now.
    """
    found = list(map(_steerings, analysis.parts))
    if not any(found):
        return analysis
    search = _SteeringSearch(analysis, around())
    parts = [_steered_part(*each, search) for each in zip(analysis.parts, found, strict=True)]
    return replace(analysis, parts=tuple(parts))


def _steerings(part: Part) -> Sequence[Steering]:
    """Return what steers a part by files or variables, unless it is asked about anyway."""
    known = () if part.program is None else seen_steerings(part.program)
    if not known or any(effect.kind in _UNSEEN for effect in part.effects):
        return ()
    words = part.argv[1:]
    return [each for needed, each in known if needed.issubset(words)]


def _steered_part(part: Part, steerings: Sequence[Steering], search: _SteeringSearch) -> Part:
    for steering in steerings:
        if reason := search.objection(part, steering):
            effect = Effect(EffectKind.EXECUTE, "", None, part.span)
            doubts = (*part.doubts, Doubt(reason, part.span))
            return replace(part, effects=(*part.effects, effect), doubts=doubts)
    return part


class _SteeringSearch(Struct, frozen=True, dict=True):
    """Looks for what steers the parts of one command.

    Attributes:
        analysis: The command.
        around: Where it runs.
    """

    analysis: CommandAnalysis
    around: Surroundings

    def objection(self, part: Part, steering: Steering) -> str | None:
        """Return what steers the program of a part, or None."""
        for name in steering.variables.split():
            if self._leads_into_project(self.around.variables.get(name, "")):
                return f"{name} is set to something in the project, which {steering.steers}"
        if steering.since is not None and not self._is_recent(part, steering.since):
            return f"a Python that may be older than 3.{steering.since} {steering.steers}"
        starts = _starts(part, steering)
        for file in steering.file:
            if not starts:
                return (
                    f"`{file.all_names[0]}` {steering.steers}, and the directory is only known at "
                    "run time"
                )
            if reason := self._file_objection(part, file, starts):
                return f"{reason} {steering.steers}"
        return None

    def _file_objection(
        self, part: Part, file: SteeringFile, starts: tuple[str, ...]
    ) -> str | None:
        """Return the beginning of a sentence about a file that steers, or None."""
        try:
            places = self._directories_above(starts)
            for other in self.analysis.parts:
                if other is not part and (
                    reason := _written_objection(other, file.all_names, places, self.around)
                ):
                    return reason
            if path := self._steering_file(file, starts, places):
                return f"`{path.removeprefix(starts[0].rstrip('/') + '/')}`"
        except TooManyFilesError:
            return "one of too many files to check"
        except PathError:
            return "a file that cannot be checked"
        return None

    def _leads_into_project(self, value: str) -> bool:
        """Return whether a variable's value has a path of the project, or one that is relative."""
        for path in value.split(":") if value else ():
            if not path.startswith("/"):
                return True
            try:
                if self.around.contains(self.around.locate(path)):
                    return True
            except (PathError, TooManyFilesError):
                return True
        return False

    def _is_recent(self, part: Part, since: int) -> bool:
        """Return whether every Python that may run for a part is known to be recent enough."""
        name = part.argv[0] if part.argv else None
        if name is None or self.around.names is not os:
            return False
        if "/" in name:
            return name.startswith("/") and minor_version(name) >= since
        around, variables = self.around, self.around.variables
        try:
            path = search_path(
                variables.get("PATH"), around.working, root=around.root, home=around.home
            )
            above = self._directories_above(part.directories)
        except (PathError, TooManyFilesError):
            return False
        chosen = variables.get("PYENV_VERSION", "")
        is_found = above and not variables.get("PYENV_DIR")
        return bool(is_found) and is_recent(name, path.outside, since, above=above, chosen=chosen)

    def _steering_file(
        self, file: SteeringFile, starts: tuple[str, ...], places: tuple[str, ...]
    ) -> str | None:
        """Return the path of a file that steers, or None."""
        key = (id(file), starts)
        if key not in self._known:
            paths = self._candidates(file, starts, places)
            self._known[key] = next((each for each in paths if self._steers(each, file)), None)
        return self._known[key]

    @lazy_property
    def _known(self) -> dict[tuple[int, tuple[str, ...]], str | None]:
        return {}

    def _candidates(
        self, file: SteeringFile, starts: tuple[str, ...], places: tuple[str, ...]
    ) -> Iterator[str]:
        """Yield the paths where the program may find a file; that it is there is not known."""
        if file.at:
            yield from (self.around.locate(name).absolute for name in file.all_names)
            return
        if file.named:
            yield from starts
        for directory in places:
            if directory not in self._own_homes:
                yield from (f"{directory.rstrip('/')}/{name}" for name in file.all_names)

    @lazy_property
    def _above(self) -> dict[tuple[str, ...], tuple[str, ...]]:
        return {}

    def _directories_above(self, starts: tuple[str, ...]) -> tuple[str, ...]:
        """Return directories and all above them, by their text and as the kernel resolves them."""
        if starts in self._above:
            return self._above[starts]
        found: dict[str, None] = {}
        for start in starts:
            for reading in (start, self.around.locate(start).resolved):
                directory = reading
                while directory not in found:
                    found[directory] = None
                    directory = dirname(directory)
        return self._above.setdefault(starts, tuple(found))

    @lazy_property
    def _own_homes(self) -> frozenset[str]:
        """The homes whose files are the user's own, as none of them is worked in."""
        homes = set()
        for home in filter(None, (self.around.home, *self.around.other_homes)):
            located = self.around.locate(home)
            if not self.around.contains(located) and not self._is_started_in(located.resolved):
                homes |= {located.absolute, located.resolved}
        return frozenset(homes)

    def _is_started_in(self, home: str) -> bool:
        return self.around.locate(self.around.directory).resolved == home

    def _steers(self, path: str, file: SteeringFile) -> bool:
        """Return whether there is a file that is not known to be harmless."""
        self.around.effort.spend(FOLDER)
        try:
            self.around.names.lstat(path.rstrip("/"))
        except (FileNotFoundError, NotADirectoryError):
            return False
        except OSError:
            return True
        kind = self.around.locate(path.rstrip("/")).kind
        if kind is FileKind.MISSING:
            return False
        if kind is FileKind.DIRECTORY or path.endswith("/"):
            return path.endswith("/")
        return kind is not FileKind.FILE or not self._is_harmless(path, file)

    def _is_harmless(self, path: str, file: SteeringFile) -> bool:
        """Return whether each setting of a file is known to be harmless."""
        if file.harmless_if is None or self.around.names is not os:
            return False
        try:
            settings = settings_in(text_of(path), file.settings)
        except (OSError, UnicodeDecodeError, SettingsError):
            return False
        return all(file.harmless_if.fullmatch(each) for each in settings)


def _starts(part: Part, steering: Steering) -> tuple[str, ...]:
    """Return the directories where a program begins to look; empty where one is not known.

    What it reads is among them if an option may make it enter a directory.
    """
    directories = part.directories
    enters = _enters_directories(part.program or "")
    if not directories or not (enters or any(file.named for file in steering.file)):
        return directories
    reads = [each.path for each in part.effects if each.kind is _READ]
    known = tuple(path for path in reads if path)
    is_known = not enters or len(known) == len(reads) or None not in part.argv
    return (*directories, *known) if is_known else ()


@lru_cache(maxsize=1024)
def _enters_directories(program: str) -> bool:
    """Return whether an option of a program names a directory that it enters."""
    grammar = lookup(program)
    flags = () if grammar is None else grammar.flags.values()
    return any(flag.role and flag.role.kind is RoleKind.DIRECTORY for flag in flags)


_READ, _WRITE, _DELETE = EffectKind.READ, EffectKind.WRITE, EffectKind.DELETE
_MAGIC = re.compile(r"[*?\[]")


def _written_objection(
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
    names = part.argv or tuple(assignment.name for assignment in part.assignments)
    return f"`{shortened(names[0] or '')}` may write a file that"


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
