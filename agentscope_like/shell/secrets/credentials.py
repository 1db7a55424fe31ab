"""Finds the credentials that a path, a text, a pattern, a hard link or a symlink leads to."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain, pairwise, product, takewhile

from agentscope_like.paths import (
    ENDING,
    FileKind,
    Location,
    PathError,
    TooManyFilesError,
    fold,
    is_below,
    matches,
    paths_asked_to,
)
from agentscope_like.shell.analysis import Effect, EffectKind, Part, answered_once
from agentscope_like.shell.facts import follows
from agentscope_like.shell.secrets.known_ends import (
    is_ending,
    may_be_secret,
    may_match_secret,
)
from agentscope_like.shell.secrets.told_names import pieces
from agentscope_like.shell.state import joined
from agentscope_like.shell.surroundings import Surroundings, paths_in
from agentscope_like.shell.syntax import Span
from agentscope_like.shell.touches import is_pattern
from agentscope_like.shell.values import Argument, Unknown

__all__ = ["NamedCredentials", "links_objection"]

_READ, _DIRECTORY = EffectKind.READ, FileKind.DIRECTORY
_MAGIC = re.compile(r"[*?\[]")
_UNESCAPED = re.compile(r"\[([*?\[])\]")
_NOWHERE = Span(0, 0)


class NamedCredentials:
    """Says why what a name leads to is not to be read.

    For patterns and hard links, it finds the credentials that lie in the home and below the working
    directories; of the latter, the nearest 5,000 entries are examined.
    """

    __slots__ = ("_around", "_harmless", "_known")

    def __init__(self, around: Surroundings) -> None:
        self._around = around
        self._harmless: set[tuple[str, str]] = set()
        self._known: dict[tuple[int, int], tuple[str, str]] | None = None

    def of_location(self, location: Location) -> str | None:
        """Return why a path is not to be read, or None."""
        reason = self._around.read_objection(location)
        return reason or self._link_objection(location)

    def of_chosen(self, name: str) -> str | None:
        """Return why the files that a search or git names are secret, or None."""
        if not is_pattern(name):
            return self._of_path(name, self._around.directory)
        self._around.effort.spend(ENDING)
        return may_match_secret(name) or self.of_found(name)

    def of_found(self, name: str) -> str | None:
        """Return why the files that `find` looks for are secret, or None."""
        if not is_pattern(name):
            return self._of_path(name, self._around.directory)
        if is_ending(name):
            return may_match_secret(name)
        return self._match_objection(name)

    def of_spoken(self, values: Iterable[Argument], directories: Iterable[str]) -> str | None:
        """Return why a name in some values is secret, or None.

        Args:
            values: What stands in the command: names, or what is known of computed ones, in which
                any text may be a pattern.
            directories: Where the names may be relative to.
        """
        for value in values:
            is_pattern = isinstance(value, Unknown)
            if isinstance(value, str):
                texts: Sequence[str] = (value,)
            elif value.choices:
                texts = value.choices
            elif value.pattern is not None:
                texts = (_UNESCAPED.sub(r"\1", value.pattern),)
            elif reason := self.of_end(_UNESCAPED.sub(r"\1", value.end)):
                return reason
            else:
                continue
            for text, directory in product(texts, directories):
                found = chain(
                    (self._of_pattern(each, directory) for each in text.split() if is_pattern),
                    (self._of_path(each, directory) for each in pieces(text)),
                )
                if reason := next(filter(None, found), None):
                    return reason
        return None

    def of_end(self, end: str) -> str | None:
        """Return why a path with this end may be secret, or None."""
        if not end.strip("*?/"):
            return None
        self._around.effort.spend(ENDING)
        return may_be_secret(end)

    def _of_path(self, word: str, directory: str) -> str | None:
        """Return why a word is not to be read, if it is a path or holds one."""
        if (directory, word) in self._harmless:
            return None
        for path in paths_in(word):
            try:
                location = self._around.locate(joined(directory, path) or path)
            except PathError:
                continue
            if reason := self.of_location(location):
                return reason
        self._harmless.add((directory, word))
        return None

    def _of_pattern(self, pattern: str, directory: str) -> str | None:
        """Return why not to read what a pattern matches now, or None."""
        if not _MAGIC.search(pattern):
            return None
        effect = Effect(_READ, pattern, joined(directory, pattern), _NOWHERE, glob=True)
        is_folder = pattern.endswith("/")
        for location in self._around.locations(effect) or ():
            if is_folder and location.kind is not _DIRECTORY:
                continue
            if reason := self.of_location(location):
                return reason
        return None

    def _match_objection(self, pattern: str) -> str | None:
        """Return why a pattern's last name matches a credential, or None."""
        name = fold(pattern.rstrip("/").rpartition("/")[2])
        for path, reason in self._all().values():
            if matches(fold(path.rpartition("/")[2]), name):
                return f"`{pattern}` matches a credential: {reason}"
        return None

    def _link_objection(self, location: Location) -> str | None:
        """Return why a file with several hard links is a credential, or None."""
        if location.kind is not FileKind.FILE or location.identity is None:
            return None
        try:
            status = self._around.names.lstat(location.resolved)
        except OSError:
            return None
        if getattr(status, "st_nlink", 1) == 1:
            return None
        found = self._all().get(location.identity)
        return (
            f"`{location.written}` is another name of a credential: {found[1]}" if found else None
        )

    def _all(self) -> dict[tuple[int, int], tuple[str, str]]:
        if self._known is None:
            self._known = dict(self._found())
        return self._known

    def _found(self) -> Iterator[tuple[tuple[int, int], tuple[str, str]]]:
        """Yield the identity of each existing credential, its path, and why it is one."""
        for path in self._paths():
            try:
                location = self._around.locate(path)
                reason = self._around.read_objection(location)
            except PathError:
                continue
            if reason is not None and location.identity is not None:
                yield location.identity, (path, reason)

    def _paths(self) -> Iterator[str]:
        """Yield the possible paths of credentials."""
        for directory in self._around.working_directories:
            yield from self._below(directory)
        if self._around.home is None:
            return
        for each in _places_at_home():
            path = f"{self._around.home}/{each.removesuffix('/**')}"
            yield path
            if each.endswith("/**"):
                yield from self._below(self._around.locate(path))

    def _below(self, directory: Location) -> Iterator[str]:
        try:
            for entry in self._around.entries_below(directory):
                yield entry.path
        except TooManyFilesError:
            return


@lru_cache(maxsize=1)
def _places_at_home() -> tuple[str, ...]:
    """Return the secret paths below a home, and the directories that are wholly secret."""
    paths = [path.removeprefix("~/") for row in paths_asked_to("read") for path in row.paths]
    return tuple(path for path in paths if path[0] != "/" and "*" not in path.removesuffix("/**"))


_TOO_MANY_LINKS = "there are too many symlinks to check each one"

_OTHERWISE = frozenset({",", "-L", "-follow", "-o", "-or", "!", "-not", "("})
"""Words with which a test need not hold for all that is listed."""

_ACTIONS = ("-exec", "-ok", "-print", "-ls", "-fprint", "-fls", "-delete")


def links_objection(
    directory: Location, part: Part, around: Surroundings, *, opens_links: bool
) -> str | None:
    """Return why not to read what the symlinks below a directory lead to, or None.

    Args:
        directory: The directory.
        part: What searches it.
        around: Where the command runs.
        opens_links: Whether other parts open what this one lists.
    """
    compares = part.program == "diff" and "--no-dereference" not in part.argv
    is_told_to_follow = follows(part, otherwise=compares)
    if not (is_told_to_follow or (opens_links and not _finds_files_alone(part))):
        return None
    try:
        for link in around.links_below(directory):
            if reason := _target_objection(link, directory, around):
                return reason
    except TooManyFilesError:
        return _TOO_MANY_LINKS if is_told_to_follow else None
    return None


def _target_objection(link: str, directory: Location, around: Surroundings) -> str | None:
    """Return why not to read what a symlink leads to; what is below the directory is read."""
    try:
        target = around.locate(link)
    except PathError:
        return None
    if is_below(target.resolved, directory.resolved):
        return None
    return around.read_objection(target, recursive=target.kind is FileKind.DIRECTORY)


@answered_once
def _finds_files_alone(part: Part) -> bool:
    """Return whether a part is `find` with `-type f`, which holds for all that it lists."""
    words = part.argv
    if part.program != "find" or not _OTHERWISE.isdisjoint(words):
        return False
    tests = takewhile(lambda word: word is None or not word.startswith(_ACTIONS), words)
    return ("-type", "f") in pairwise(tests)
