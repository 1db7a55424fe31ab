"""The surroundings of a command: working directories, home, sensitive names, file system."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from agentscope_like.lazy_property import lazy_property
from agentscope_like.paths import (
    FileKind,
    FileLookups,
    FileSystemNames,
    Location,
    LookBudget,
    NameEntry,
    PathError,
    SensitiveNames,
    around_by_text,
    inside_any,
    locate_directories,
    matches,
    private_objection,
    read_objection,
    removal_objection,
    write_objection,
)
from agentscope_like.shell.analysis import CHANGES, CommandAnalysis, Effect, EffectKind

__all__ = ["Surroundings", "leads_elsewhere", "paths_in"]

# An enum's members are looked up once: finding one in its class is as slow as a call.
_DELETE, _DIRECTORY = EffectKind.DELETE, FileKind.DIRECTORY

_UNESCAPED = re.compile(r"\[([*?\[])\]")
_MAGIC = re.compile(r"[*?\[]")
_BLANK = re.compile(r"\s")
_BETWEEN_PATHS = re.compile(r"[=@:,]")


class Surroundings(Struct, frozen=True, dict=True):
    """The surroundings of one command; made anew for each decision.

    Attributes:
        directory: The absolute directory that it starts in.
        working: The working directories, as given.
        root: The directory to use if there are none.
        home: What `~` expands to.
        sensitive: The names that are sensitive in any directory.
        names: The file system; this host's by default.
        other_homes: Further home directories.
        variables: The environment that the command inherits, as far as it is known.
        has_deep_globs: Whether `**` matches at any depth in the command.
        effort: The budget of lookups, except for listing what is below directories.
    """

    directory: str
    working: tuple[str, ...]
    root: str
    home: str | None = None
    sensitive: SensitiveNames = field(default_factory=SensitiveNames)
    names: FileSystemNames = os
    other_homes: tuple[str, ...] = ()
    variables: Mapping[str, str] = field(default_factory=dict)
    has_deep_globs: bool = False
    effort: LookBudget = field(default_factory=LookBudget)

    def of(self, analysis: CommandAnalysis) -> Surroundings:
        """Return the surroundings for one command, with its bash options for patterns.

        Its reading is charged to the budget.
        """
        self.effort.read(analysis.command, len(analysis.parts))
        for part in analysis.parts:
            if part.program == "shopt" and "globstar" in part.argv:
                return self._with_deep_globs
        return self

    @lazy_property
    def _with_deep_globs(self) -> Surroundings:
        return replace(self, has_deep_globs=True)

    @lazy_property
    def working_directories(self) -> tuple[Location, ...]:
        """The locations of the working directories."""
        return self._located(self.working)

    @lazy_property
    def _lookups(self) -> FileLookups:
        return FileLookups(
            directory=self.directory, home=self.home, names=self.names, effort=self.effort
        )

    def locations(self, effect: Effect) -> list[Location] | None:
        """Return the locations that an effect reaches; None if they are known only at run time.

        A removal acts on a symlink itself, everything else on its target. A pattern stands for the
        paths that match it now.

        Raises:
            PathError: It reaches a path that cannot be resolved.
            TooManyFilesError: It reaches more files than the look budget allows.
        """
        path = effect.way
        if path is None:
            return None
        follow = effect.kind is not _DELETE
        paths = self.paths(effect)
        found = [self.locate(each, follow=follow) for each in paths]
        for suffix in effect.backups:
            found += [self.locate(f"{each.rstrip('/')}{suffix}", follow=False) for each in paths]
        return found

    def paths(self, effect: Effect) -> list[str]:
        """Return the paths of an effect; for a pattern, those that match it now.

        Raises:
            TooManyFilesError: It reaches more files than the look budget allows.
        """
        path = effect.way
        if path is None:
            return []
        if effect.named_after is not None:
            folder = _UNESCAPED.sub(r"\1", path.rpartition("/")[0])
            taken = self._lookups.expand(effect.named_after, deep=self.has_deep_globs)
            return [f"{folder}/{each.rpartition('/')[2]}" for each in taken] or [path]
        if not effect.glob:
            return [path]
        slash = "/" if path.endswith("/") else ""
        pattern, rest = _split_pattern(path) if effect.kind in CHANGES else (path, "")
        expanded = self._lookups.expand(pattern, deep=self.has_deep_globs)
        found = [f"{each}{rest}{slash}" for each in expanded] or [path]
        folder, _, name = path.rstrip("/").rpartition("/")
        if effect.kind is EffectKind.WRITE and name[0] == "." and matches("..", name):
            found.append(f"{folder}/..")  # as bash did before 5.2; rm and mv refuse it
        return found

    def links_below(self, directory: Location) -> Iterator[str]:
        """Yield the paths of the symlinks below a directory, the nearest first.

        Raises:
            TooManyFilesError: There is too much below it to check.
        """
        return (entry.path for entry in self.entries_below(directory) if entry.is_symlink())

    def entries_below(self, directory: Location) -> Iterator[NameEntry]:
        """Yield everything below a directory, nearest first; symlinks are not followed.

        Raises:
            TooManyFilesError: There is too much below it to check.
        """
        return self._lookups.below(directory.resolved)

    def locate(self, path: str, *, follow: bool = True) -> Location:
        """Return the location of a path, with symlinks resolved.

        Raises:
            PathError: The path cannot be resolved.
            TooManyFilesError: The look budget is spent.
        """
        return self._lookups.locate(path, follow=follow)

    def contains(self, location: Location) -> bool:
        """Return whether the location leads into a working directory."""
        near = around_by_text(location, self.working, directory=self.root)
        return (bool(near) and inside_any(location, self._located(near))) or inside_any(
            location, self.working_directories
        )

    def _located(self, directories: Sequence[str]) -> tuple[Location, ...]:
        return locate_directories(
            directories, directory=self.root, home=self.home, names=self.names
        )

    def write_objection(self, location: Location, *, recursive: bool = False) -> str | None:
        """Return why a person must approve writing or removing the location, or None."""
        for each in self._by_home(location):
            if reason := write_objection(each, self.sensitive, recursive=recursive):
                return reason
        return None

    def removal_objection(self, location: Location) -> str | None:
        """Return why the location is protected from removal, or None."""
        for each in self._by_home(location):
            if reason := removal_objection(each, self.working_directories):
                return reason
        return None

    def read_objection(self, location: Location, *, recursive: bool = False) -> str | None:
        """Return why a person must approve reading the location, or None.

        Args:
            location: What is read. A directory counts if it is inside a secret one; a file, also
                if it is hidden in a home and not known to be harmless.
            recursive: Whether everything below is read as well: then a directory counts too if
                something secret can be below it.
        """
        own = () if recursive else self._by_home(location)
        if location.kind is _DIRECTORY:
            location = replace(location, kind=FileKind.FILE)
        for each in self._by_home(location):
            if reason := read_objection(each, recursive=recursive):
                return reason
        private = (private_objection(each, self.working_directories) for each in own)
        return next(filter(None, private), None)

    def _by_home(self, location: Location) -> Sequence[Location]:
        return (location, *[replace(location, home=home) for home in self.other_homes])

    def argument_objection(self, word: str) -> str | None:
        """Return why a person must approve passing this path to a program that may do anything.

        Only names that are sensitive in any directory count, and credentials: programs often get
        system paths as arguments.

        Args:
            word: An argument that may be or contain a path.
        """
        for path in paths_in(word):
            if not self.sensitive.occur_in(path):
                continue
            try:
                location = self.locate(path)
            except PathError:
                continue
            if reason := self.write_objection(location) or self.read_objection(location):
                return reason
        return None


def _split_pattern(path: str) -> tuple[str, str]:
    """Split a pattern after its last name with a glob.

    The rest need not exist to be written: `for d in */; do touch "$d/x"; done`.
    """
    names = path.rstrip("/").split("/")
    count = len(names)
    while count and not _MAGIC.search(_UNESCAPED.sub("", names[count - 1])):
        count -= 1
    rest = "".join(f"/{name}" for name in names[count:])
    return "/".join(names[:count]) or "/", _UNESCAPED.sub(r"\1", rest)


def leads_elsewhere(effect: Effect, around: Surroundings, *, unless_there: bool = False) -> bool:
    """Return whether a symlink makes the kernel resolve a path differently from its text.

    Args:
        effect: The effect on the path.
        around: Where the command runs.
        unless_there: Whether to ignore this if the path by its text is a directory.

    Raises:
        PathError: The path cannot be resolved.
    """
    if not effect.walked or effect.path is None or effect.glob:
        return False
    read = around.locate(effect.path)
    if around.locate(effect.walked).resolved == read.resolved:
        return False
    return not (unless_there and read.kind is _DIRECTORY)


def paths_in(word: str) -> list[str]:
    """Return possible paths in a word: itself, and the text after `=`, `@`, `:` or an option."""
    paths: list[str] = []
    if len(word) > 1024 or _BLANK.search(word):  # noqa: PLR2004
        return paths
    for piece in filter(None, _BETWEEN_PATHS.split(word)):
        paths.append(piece)
        if "*" in piece and (bare := piece.strip("*")):
            paths.append(bare)
    if len(word) > 2 and word[0] == "-" and word[1] != "-":  # noqa: PLR2004
        paths.append(word[2:])
    return paths
