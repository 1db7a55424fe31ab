"""Finds the files that deny rules for reading speak of, so that they are hidden from held runs."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from functools import partial

from msgspec import Struct

from agentscope_like.paths import (
    FileKind,
    Location,
    PathError,
    PatternCompiler,
    inside,
    is_below,
    locate,
)
from agentscope_like.permission import (
    PathRuleIndex,
    PathRules,
    PermissionBehavior,
    PermissionContext,
    PermissionRule,
)
from agentscope_like.sandbox.layer import cache_directory_names
from agentscope_like.sandbox.repositories import UnreadIndexError, WorkTrees

__all__ = ["HiddenFiles", "hidden_by_rules"]

MOST_HIDDEN = 64
"""bwrap takes a time that grows with the square of the mounts."""

MOST_ENTRIES = 50_000
"""How many entries of directories are looked at."""

_READING = ("Read", "Grep", "Glob")
_GIT, _OBJECTS = "/.git/", "objects"


class HiddenFiles(Struct, frozen=True):
    """What has to be hidden from a held run.

    Attributes:
        paths: The files and directories, absolute and without symlinks.
        objection: Why they are not all known, so that nothing can run held; empty if they are.
    """

    paths: tuple[str, ...] = ()
    objection: str = ""


class _NotAllError(Exception):
    """Not all that has to be hidden can be found or hidden."""


def hidden_by_rules(
    context: PermissionContext, directories: Sequence[str], *, home: str
) -> HiddenFiles:
    """Return what deny rules for reading speak of; looks at files, so call it in a thread.

    A relative pattern is looked for in the working directories, an absolute one below the directory
    that it names. Directories of caches and of git's objects are not looked into, unless a pattern
    names them. A rule for Grep or Glob counts if it has a pattern.

    Of a directory in which git tracks files, each file is hidden by itself: git refuses to commit
    what the run sees of it, but would commit an empty directory as the removal of its files.

    Args:
        context: The policy.
        directories: The working directories, absolute.
        home: The home directory.
    """
    table = context.table(PermissionBehavior.DENY)
    rules = [
        rule
        for name in _READING
        for rule in table.get(name, ())
        if rule.rule_content is not None or name == _READING[0]
    ]
    if not rules:
        return HiddenFiles()
    if any(rule.rule_content is None for rule in rules):
        return HiddenFiles(objection="a rule denies to read any file")
    try:
        return HiddenFiles(tuple(_Search(rules, directories, home).found()))
    except UnreadIndexError as error:
        return HiddenFiles(objection=f"it is not known what git tracks in {error.root}")
    except (_NotAllError, PathError, OSError) as error:
        return HiddenFiles(objection=f"what rules deny to read cannot be hidden: {error}")


class _Search:
    def __init__(
        self, rules: Sequence[PermissionRule], directories: Sequence[str], home: str
    ) -> None:
        self._home = home
        self._rules = PathRules(rules, compile=partial(PathRuleIndex, home=home))
        self._patterns = [rule.rule_content for rule in rules if rule.rule_content is not None]
        self._directories = [locate(each, directory="/", home=home) for each in directories]
        self._caches = cache_directory_names()
        self._work_trees = WorkTrees()
        self._looked_into: set[str] = set()
        self._looked_at = 0

    def found(self) -> list[str]:
        """Return the paths, without those below others.

        Raises:
            _NotAllError: They are too many, or too much would have to be looked at.
            UnreadIndexError: It is not known what git tracks.
        """
        found: dict[str, None] = {}
        for path in self._all():
            place = os.path.realpath(path)
            if any(is_below(each.resolved, place) for each in self._directories):
                raise _NotAllError(f"{place} is, or holds, a working directory")
            for each in self._files_or_whole(place):
                if not any(is_below(each, other) for other in found):
                    found[each] = None
                if len(found) > MOST_HIDDEN:
                    raise _NotAllError(f"they are more than {MOST_HIDDEN}")
        return list(found)

    def _files_or_whole(self, place: str) -> Iterator[str]:
        """Yield what is hidden for a path that was found."""
        if not os.path.isdir(place) or not self._work_trees.tracks_below(place):
            yield from filter(os.path.exists, [place])
            return
        waiting = [place]
        while waiting:
            for entry in self._entries(waiting.pop()):
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(entry.path)
                elif entry.is_file(follow_symlinks=False):
                    yield entry.path

    def _all(self) -> Iterator[str]:
        for start in dict.fromkeys(self._starts()):
            here = locate(start, directory="/", home=self._home)
            if self._rules.match(here, self._directories) is not None:
                yield start
            elif here.kind is FileKind.DIRECTORY:
                yield from self._below(here)

    def _starts(self) -> Iterator[str]:
        """Yield the working directories, and the directories and files that patterns name."""
        yield from (each.resolved for each in self._directories)
        compiler = PatternCompiler(home=self._home)
        for pattern in self._patterns:
            for branch in compiler.compile(pattern):
                if branch.absolute and not branch.base:
                    raise _NotAllError(f"the pattern {pattern} can match anywhere on this machine")
                tops = ("",) if branch.absolute else (each.resolved for each in self._directories)
                places = (f"{top}{branch.base}" for top in tops if branch.base)
                yield from filter(os.path.exists, places)

    def _below(self, top: Location) -> Iterator[str]:
        waiting = [""]
        while waiting:
            relative = waiting.pop()
            here = inside(top, relative, kind=FileKind.DIRECTORY) if relative else top
            matching = self._rules.within(here, self._directories)
            if matching is None or here.resolved in self._looked_into:
                continue
            self._looked_into.add(here.resolved)
            for entry in self._entries(here.resolved):
                if matching(entry.name) is not None:
                    yield entry.path
                elif entry.is_dir(follow_symlinks=False) and not self._is_passed_over(entry):
                    waiting.append(f"{relative}/{entry.name}" if relative else entry.name)

    def _entries(self, directory: str) -> Iterator[os.DirEntry[str]]:
        try:
            with os.scandir(directory) as listing:
                for entry in listing:
                    self._looked_at += 1
                    if self._looked_at > MOST_ENTRIES:
                        raise _NotAllError(f"more than {MOST_ENTRIES:,} files may be meant")
                    yield entry
        except (PermissionError, FileNotFoundError):
            return  # the run has no other rights

    def _is_passed_over(self, entry: os.DirEntry[str]) -> bool:
        is_of_git = entry.name == _OBJECTS and _GIT in entry.path
        return is_of_git or entry.name in self._caches
