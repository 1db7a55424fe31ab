"""Finds the secrets that a command would read.

The words that stand in the command count where they name a credential, literal or as patterns; so
do the end of a path of which no more is known, and all below a place where credentials are. A name
of which nothing is known is a doubt (`origins`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from glob import escape as glob_escape
from itertools import pairwise
from typing import TypeAlias

from msgspec import Struct, field

from agentscope_like.paths import (
    ENDING,
    FOLDER,
    FileKind,
    Location,
    PathError,
    TooManyFilesError,
    is_below,
)
from agentscope_like.shell.analysis import (
    CHANGES,
    CommandAnalysis,
    Effect,
    EffectKind,
    Part,
)
from agentscope_like.shell.facts import (
    Implied,
    all_words,
    choosing_option,
    counts,
    follows,
    implied,
    lists_only,
    reads_no_directory,
    reads_unseen_files,
    searches_below,
    shown_in_history,
    shows_computed,
)
from agentscope_like.shell.names import (
    Origins,
    Prints,
    finds_files_alone,
    held_words,
    name_source,
    pieces,
    plain_name,
    said,
    unnamed_reads,
)
from agentscope_like.shell.secrets.credentials import Credentials
from agentscope_like.shell.secrets.known_ends import (
    is_any_name,
    is_ending,
    may_be_secret,
    may_hold_secrets,
    may_match_secret,
)
from agentscope_like.shell.state import joined
from agentscope_like.shell.surroundings import Surroundings, paths_in
from agentscope_like.shell.syntax import Glob, Literal, Tilde, Variable, Word
from agentscope_like.shell.syntax.words import covered
from agentscope_like.shell.touches import is_pattern

__all__ = ["Secrets", "named_files"]

_READ, _DIRECTORY = EffectKind.READ, FileKind.DIRECTORY
_SEARCHES = Implied.SEARCHES
_NAMED = re.compile(r"-i?(?:name|path|wholename)")
"""Tests of `find` that say which names to list."""

_PROCESS = "/dev/fd/"
"""What the name of a process substitution begins with."""

_UNKNOWN_PLACE = "would read a whole directory that is only known at run time"
_TOO_MANY_LINKS = "there are too many symlinks to check each one"
_MAGIC = re.compile(r"[*?\[]")
_UNESCAPED = re.compile(r"\[([*?\[])\]")
_Text: TypeAlias = tuple[bool, str]
"""Whether a text is all of a word, and the text."""


class Secrets(Struct):
    """Finds the credentials that the parts of one command would show.

    Attributes:
        analysis: The whole command.
        around: Where it runs.
        reads_unseen: Whether some part reads files that others name, so that to list is to read.
    """

    analysis: CommandAnalysis
    around: Surroundings
    reads_unseen: bool = False
    _origins: Origins | None = None
    _sources: frozenset[int] = frozenset()
    _harmless: set[tuple[str, str]] = field(default_factory=set)
    _known_credentials: Credentials | None = None

    @classmethod
    def of(cls, analysis: CommandAnalysis, around: Surroundings) -> Secrets:
        """Return the finder for a command."""
        if not any(map(reads_unseen_files, analysis.parts)):
            return cls(analysis, around)
        origins = Origins(analysis)
        sources = frozenset(
            id(source)
            for part in analysis.parts
            if reads_unseen_files(part) and not counts(part)
            for effect in unnamed_reads(part)
            for source in origins.listed(effect, part)
        )
        return cls(analysis, around, True, origins, sources)

    # What is read

    def read_objection(self, effect: Effect, part: Part) -> str | None:
        """Return why a person has to agree before an effect of reading, or None.

        Raises:
            PathError: It reaches a path that nobody can judge.
            TooManyFilesError: It is a pattern that reaches too many files.
        """
        lists = lists_only(effect, part)
        if lists and not self.reads_unseen:
            return None
        if effect.path is None:
            return self._of_unknown(effect, part, lists=lists)
        searches = self._is_source(part) if lists else not reads_no_directory(part)
        for location in self.around.locations(effect) or ():
            if searches and location.kind is _DIRECTORY:
                reason = self._below(location, part)
            else:
                reason = self._of_location(location)
            if reason:
                return _told(reason)
        return None

    def _of_location(self, location: Location) -> str | None:
        reason = self.around.why_not_read(location)
        if reason is not None:
            return reason
        return self._credentials.link_objection(location)

    @property
    def _credentials(self) -> Credentials:
        if self._known_credentials is None:
            self._known_credentials = Credentials(self.around)
        return self._known_credentials

    def _of_unknown(self, effect: Effect, part: Part, *, lists: bool) -> str | None:
        """Return why not to read a path of which at most the start and the end are known, or None.

        What is listed below a place that is known is looked at there.
        """
        if effect.start.startswith(_PROCESS):
            return None
        reads_all = self._is_source(part) if lists else effect.recursive or searches_below(part)
        takes_any = reads_all or ("/" in effect.end and is_any_name(effect.end))
        shows = not lists and not counts(part)
        if (takes_any if shows else reads_all) and self._may_lead_anywhere(effect, part):
            return _UNKNOWN_PLACE
        return (self._of_end(effect) or self._of_start(effect)) if shows else None

    def _may_lead_anywhere(self, effect: Effect, part: Part) -> bool:
        """Return whether a directory of which the start is not known may hold secrets."""
        if self._origins is not None and self._origins.feeders(effect, part) is not None:
            return False
        if effect.start:
            folder = self.around.locate(effect.start.rpartition("/")[0] or "/")
            return self.around.why_not_read(folder, recursive=True) is not None
        return may_hold_secrets(effect.end, self.around.home)

    def _of_end(self, effect: Effect) -> str | None:
        """Return why not to read what the end of a path names wherever it begins, or None."""
        if not effect.end:
            return None
        self.around.effort.spend(ENDING)
        reason = may_be_secret(effect.end)
        if reason is None and effect.start:
            reason = self.around.why_not_read(self.around.locate(f"{effect.start}{effect.end}"))
        return None if reason is None else _told(reason)

    def _of_start(self, effect: Effect) -> str | None:
        """Return why not to read a path of which the start, and perhaps the end, is known."""
        if not effect.start or "/" in effect.end:
            return None
        folder = self.around.locate(effect.start.rpartition("/")[0] or "/")
        reason = self.around.why_not_read(folder, recursive=True)
        return None if reason is None else _told(reason)

    # What is searched

    def search_objection(self, part: Part) -> str | None:
        """Return why a person has to agree before a part searches where it runs, or None."""
        if self.reads_unseen and part.is_a("names_anywhere"):
            return _told(f"`{part.program}` may name any file")
        kind = implied(part, self.analysis)
        if kind is _SEARCHES or (kind is Implied.LISTS and self._is_source(part)):
            if not part.directories:
                return _UNKNOWN_PLACE
            for directory in part.directories:
                if reason := self._below(self.around.locate(directory), part):
                    return _told(reason)
        return None

    def _is_source(self, part: Part) -> bool:
        return id(part) in self._sources

    def _below(self, directory: Location, part: Part) -> str | None:
        """Return why not to read all below a directory, or None."""
        self.around.effort.spend(FOLDER)
        reason = self.around.why_not_read(directory, recursive=True)
        return reason or self._behind_links(directory, part)

    def _behind_links(self, directory: Location, part: Part) -> str | None:
        """Return why not to read what the symlinks below a directory lead to, or None."""
        compares = part.program == "diff" and "--no-dereference" not in part.argv
        is_told_to_follow = follows(part, otherwise=compares)
        if not (is_told_to_follow or self._opens_links(part)):
            return None
        try:
            for link in self.around.links_below(directory):
                if reason := self._behind(link, directory):
                    return reason
        except TooManyFilesError:
            return _TOO_MANY_LINKS if is_told_to_follow else None
        return None

    def _opens_links(self, part: Part) -> bool:
        """Return whether others open what a part lists, the symlinks among it too."""
        return part.is_a("shows_names") and self._is_source(part) and not finds_files_alone(part)

    def _behind(self, link: str, directory: Location) -> str | None:
        """Return why not to read what a symlink leads to; what is below the directory is read."""
        try:
            target = self.around.locate(link)
        except PathError:
            return None
        if is_below(target.resolved, directory.resolved):
            return None
        return self.around.why_not_read(target, recursive=target.kind is _DIRECTORY)

    # What is named

    def name_objection(self, part: Part) -> str | None:
        """Return why a person has to agree to what a part is told, or None.

        What it is told is all there is to go by where it may do anything, or where some part reads
        what it is told of while it runs.

        Raises:
            PathError: A directory cannot be judged.
            TooManyFilesError: There are too many names to check each one.
        """
        for name, verb in named_files(part):
            if reason := self._of_chosen(name):
                return f"would {verb} a secret: {reason}"
        if part.git_command is not None and shows_computed(part):
            words = [word for word in all_words(self.analysis) if word]
            if reason := next(filter(None, map(self._of_chosen, words)), None):
                return f"would show a secret whose path is computed: {reason}"
        if not part.read_only and not any(effect.kind in CHANGES for effect in part.effects):
            for word in filter(None, part.argv[1:]):
                if reason := self.around.why_not_touch(word, only_reads=self.analysis.read_only):
                    return f"names a sensitive path: {reason}"
        return self._handed_objection(part) if self.reads_unseen else None

    def _handed_objection(self, part: Part) -> str | None:
        """Return why what a part is told is not to be read by others, or None."""
        for name in _found_names(part):
            if reason := self._of_found(name):
                return f"would find a secret: {reason}"
        if reason := self._of_texts(said(part), part):
            return f"names a sensitive path: {reason}"
        home = self.around.home
        judged = {effect.span for effect in part.effects}  # as what it reads
        words = [word for word in part.words[1:] if word.span not in judged]
        own = [_known_text(word, home) for word in words if word.literal is None]
        if name_source(part) is Prints.ITS_WORDS:
            own += [(True, word) for word in part.argv[1:] if word is not None]
        held = held_words(self.analysis) if part is self.analysis.parts[0] else ()
        own += [_known_text(word, home, is_held=True) for word in held]
        reason = self._of_patterns(own, part)
        return None if reason is None else _told(reason)

    def _of_chosen(self, name: str) -> str | None:
        """Return why what a search or git is told of is not to be shown, or None."""
        if not is_pattern(name):
            return self._of_path(name, self.around.directory)
        self.around.effort.spend(ENDING)
        return may_match_secret(name) or self._of_found(name)

    def _of_found(self, name: str) -> str | None:
        """Return why what `find` is told of is not to be read by others, or None."""
        if not is_pattern(name):
            return self._of_path(name, self.around.directory)
        if is_ending(name):
            return may_match_secret(name)
        return self._credentials.match_objection(name)

    def _of_texts(self, texts: Iterable[str], part: Part) -> str | None:
        """Return why a name that stands in a text is not to be read, or None."""
        for text in texts:
            for name in pieces(text):
                for directory in part.directories or (self.around.directory,):
                    if reason := self._of_path(name, directory):
                        return reason
        return None

    def _of_path(self, word: str, directory: str) -> str | None:
        """Return why a word is not to be read, if it is a path or holds one."""
        if (directory, word) in self._harmless:
            return None
        for path in paths_in(word):
            try:
                location = self.around.locate(joined(directory, path) or path)
            except PathError:
                continue
            if reason := self._of_location(location):
                return reason
        self._harmless.add((directory, word))
        return None

    def _of_patterns(self, texts: Iterable[_Text], part: Part) -> str | None:
        """Return why not to read what words may name that are patterns, held or computed."""
        for is_whole, text in texts:
            if not is_whole and text.strip("*?/"):
                self.around.effort.spend(ENDING)
                if reason := may_be_secret(text):
                    return reason
            for pattern in text.split() if is_whole else ():
                reason = self._of_pattern(pattern, part) if _MAGIC.search(pattern) else None
                if reason := reason or self._of_texts([_UNESCAPED.sub(r"\1", pattern)], part):
                    return reason
        return None

    def _of_pattern(self, pattern: str, part: Part) -> str | None:
        """Return why not to read what a pattern matches now, or None."""
        for directory in part.directories or (self.around.directory,):
            path = joined(directory, pattern)
            if path is not None and (directory, path) not in self._harmless:
                effect = Effect(_READ, pattern, path, part.span, glob=True)
                is_folder = pattern.endswith("/")
                for location in self.around.locations(effect) or ():
                    if is_folder and location.kind is not _DIRECTORY:
                        continue
                    if reason := self._of_location(location):
                        return reason
                self._harmless.add((directory, path))
        return None


def _told(reason: str) -> str:
    return f"would read a secret: {reason}"


def _known_text(word: Word, home: str | None, *, is_held: bool = False) -> _Text:
    """Return the pattern that a word is, or ends with where some of it is computed.

    Args:
        word: The word.
        home: What `~` stands for, or None where unknown.
        is_held: Whether a variable may hold it, of which quotes are no more.
    """
    texts: list[str] = []
    is_whole = True
    for segment in covered(word.segments):
        match segment:
            case Glob(text=text):
                texts.append(text)
            case Literal(text=text, quoted=quoted):
                texts.append(glob_escape(text) if quoted and not is_held else text)
            case Tilde(user="") | Variable(name="HOME", operator=None) if home:
                texts.append(glob_escape(home))
            case _:
                is_whole, texts = False, []
    return is_whole, "".join(texts)


def named_files(part: Part) -> Iterator[tuple[str, str]]:
    """Yield the names and patterns of what a part is told to show or to search, with the verb.

    Args:
        part: The part.
    """
    if part.program == "git":
        for name in shown_in_history(part):
            yield name, "show"
    option = choosing_option(part)
    words = [word or "" for word in part.argv[1:]] if option is not None else []
    for word, value in pairwise([*words, ""]):
        found = option.fullmatch(word) if option is not None else None
        name = (found[1] or value) if found is not None else ""
        if name and not name.startswith("!"):
            yield name, "search"


def _found_names(part: Part) -> Iterator[str]:
    """Yield the names and patterns of what `find`, or `git ls-files`, is told to find."""
    if plain_name(part.program or "") == "find":
        for word, value in pairwise(part.argv):
            if word is not None and value and _NAMED.fullmatch(word):
                yield value
    elif part.git_command is not None:
        for word in filter(None, part.argv[1:]):
            name = word.rpartition("=")[2]
            if is_pattern(name):
                yield name
