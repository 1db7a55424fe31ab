"""What a command reads that is to be kept secret."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from glob import escape as glob_escape
from itertools import pairwise

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
from agentscope_like.shell.catalog import families
from agentscope_like.shell.facts import (
    Implied,
    all_words,
    counts,
    follows,
    implied,
    is_pattern,
    lists_only,
    names_of_secrets,
    raw_words,
    reads_no_directory,
    reads_unseen_files,
    searches_below,
    shown_in_history,
    shows_computed,
)
from agentscope_like.shell.names import (
    Feeders,
    finds_files_alone,
    finds_source_code,
    held_words,
    said,
    sources,
    spelled,
)
from agentscope_like.shell.secrets.endings import is_anything, may_be_secret, may_hold_secrets
from agentscope_like.shell.state import joined
from agentscope_like.shell.surroundings import Surroundings, paths_in
from agentscope_like.shell.syntax import (
    Glob,
    Heredoc,
    Literal,
    Segment,
    Tilde,
    Variable,
    Word,
    covered,
)

__all__ = ["Secrets", "named_files"]

_SEARCHES = Implied.SEARCHES
_INCLUDES = re.compile(r"--inc[a-z]*(?:=(.*))?")
_GLOBS = re.compile(r"(?:--i?glob|-[a-zA-Z.]*g)(?:=?(.+))?")
"""Options by which a search of rg is told which files to read."""

_BLANKS = re.compile(r"\s|\\(?:0+|[abfnrtv])")
_PROCESS = "/dev/fd/"
"""What the name of a process substitution begins with."""

_ANY_NAME = ".*"
_MOST_PATTERNS = 32
_LONGEST_PATTERN = 200
"""How many patterns, and of which length, are held against the names of secrets one by one."""

_DEFAULTS = frozenset({":-", "-", ":=", "=", ":+", "+"})
_UNKNOWN_PLACE = "would read all that is in a directory which is not known before it runs"


class Secrets(Struct):
    """Finds what is to be kept secret in what the parts of one command read.

    Attributes:
        analysis: The whole command.
        around: Where it runs.
        reads_unseen: Whether some part reads files that others find, so that to list is to read.
    """

    analysis: CommandAnalysis
    around: Surroundings
    reads_unseen: bool = False
    _sources: frozenset[int] = frozenset()
    _told: set[str] = field(default_factory=set)
    _harmless: set[str] = field(default_factory=set)
    _followed: set[str] = field(default_factory=set)
    _known_feeders: Feeders | None = None
    _held_all: bool = False

    @classmethod
    def of(cls, analysis: CommandAnalysis, around: Surroundings) -> Secrets:
        """Return the finder for a command."""
        if not any(map(reads_unseen_files, analysis.parts)):
            return cls(analysis, around)
        return cls(analysis, around, True, frozenset(map(id, sources(analysis))))

    def why_not_read(self, effect: Effect, part: Part) -> str | None:
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
            if searches and location.kind is FileKind.DIRECTORY:
                reason = self._below(location, part)
            else:
                reason = self.around.why_not_read(location)
            if reason:
                return _told(reason)
        return None

    def _below(self, directory: Location, part: Part) -> str | None:
        """Return why not to read all below a directory, or None."""
        self.around.effort.spend(FOLDER)
        everything = not finds_source_code(part)
        reason = self.around.why_not_read(directory, recursive=everything)
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
            return "there are too many symlinks to look at each" if is_told_to_follow else None
        return None

    def _opens_links(self, part: Part) -> bool:
        """Return whether others open what a part lists, the symlinks among it too."""
        if not part.is_a("shows_names") or not self._is_source(part):
            return False
        return not finds_files_alone(part)

    def _behind(self, link: str, directory: Location) -> str | None:
        """Return why not to read what a symlink leads to; what is below the directory is read."""
        try:
            target = self.around.locate(link)
        except PathError:
            return None
        if is_below(target.resolved, directory.resolved):
            return None
        recursive = target.kind is FileKind.DIRECTORY
        return self.around.why_not_read(target, recursive=recursive)

    def why_not_search(self, part: Part) -> str | None:
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

    @property
    def _feeders(self) -> Feeders:
        if self._known_feeders is None:
            self._known_feeders = Feeders(self.analysis)
        return self._known_feeders

    def _is_source(self, part: Part) -> bool:
        return id(part) in self._sources

    def why_not_name(self, part: Part) -> str | None:
        """Return why a person has to agree to what a part is told, or None.

        What it is told is all there is to go by where it may do anything, or where some part reads
        what it is told of while it runs.
        """
        for name, verb in named_files(part):
            if reason := self._of_path(name):
                return f"would {verb} what is to be kept secret: {reason}"
        if part.program == "git" and shows_computed(part) and (reason := self._of_all_words()):
            return f"would show what is computed here of: {reason}"
        if not self.reads_unseen and (part.read_only or _changes_something(part)):
            return None
        for word in _names_said(part) if self.reads_unseen else part.argv[1:]:
            if reason := self._of_word(word):
                return f"names a sensitive path: {reason}"
        return self._of_other_words(part) if self.reads_unseen else None

    def _of_all_words(self) -> str | None:
        """Return why one of all the words is not to be shown, as git may be told of any."""
        if self._held_all:
            return None
        for name in _alike(all_words(self.analysis)):
            if reason := self._of_path(name):
                return reason
        self._held_all = True
        return None

    def _of_word(self, word: str | None) -> str | None:
        if not word or word in self._told:
            return None
        reason = self.around.why_not_touch(word, only_reads=self.analysis.read_only)
        if reason is None and self.reads_unseen and "/" in word:
            reason = self._of_path(word)
        if reason is None:
            self._told.add(word)
        return reason

    def _of_path(self, word: str) -> str | None:
        """Return why a word is not to be read, if it is a path or holds one."""
        if word in self._harmless:
            return None
        for path in paths_in(word):
            try:
                location = self.around.locate(path)
            except PathError:
                continue
            if reason := self.around.why_not_read(location):
                return reason
        self._harmless.add(word)
        return None

    def _of_other_words(self, part: Part) -> str | None:
        """Return what is wrong with the patterns and the input that a part is given, or None."""
        known = {effect.span for effect in part.effects}
        for word in part.words[1:]:
            if reason := self._of_known_end(word):
                return _told(reason)
            pattern = None if word.span in known else self._pattern(word, part)
            if pattern is None or pattern in self._followed:
                continue
            effect = Effect(EffectKind.READ, pattern, pattern, word.span, glob=True)
            for location in self.around.locations(effect) or ():
                if reason := self.around.why_not_read(location):
                    return _told(reason)
            self._followed.add(pattern)
        for text in self._input(part):
            if reason := self._of_word(text):
                return f"names a sensitive path: {reason}"
        for text in self._held(part):
            if reason := self._of_path(text):
                return f"names a sensitive path: {reason}"
        return self._of_held_patterns(part)

    def _of_known_end(self, word: Word) -> str | None:
        """Return why not to read what a computed word may name by its end, or None."""
        last = word.segments[-1] if len(word.segments) > 1 else None
        if not isinstance(last, Literal) or "/" not in last.text:
            return None
        self.around.effort.spend(ENDING)
        return may_be_secret(glob_escape(last.text))

    def _held(self, part: Part) -> Iterator[str]:
        """Yield the words that variables may hold, as far as they are plain to see.

        All of the command's with its first part; those of a script that a shell is given with the
        shell.
        """
        if part is self.analysis.parts[0]:
            for word in held_words(self.analysis):
                yield from self._texts(word)
        if families().is_shell(part.program):
            for script in part.argv[1:]:
                yield from raw_words(script or "")

    def _of_held_patterns(self, part: Part) -> str | None:
        """Return what is wrong with a pattern that a variable may hold, or None."""
        if part is not self.analysis.parts[0]:
            return None
        for node in self.analysis.nodes:
            if not isinstance(node, Variable) or node.operator not in _DEFAULTS:
                continue
            segments = () if node.argument is None else node.argument.segments
            if segments and isinstance(segments[0], Literal):
                texts = [
                    each.text for each in covered(segments) if isinstance(each, Literal | Glob)
                ]
                self.around.effort.spend(ENDING)
                if reason := may_be_secret(f"/{''.join(texts)}"):
                    return _told(reason)
        return None

    def _texts(self, word: Word) -> list[str]:
        return "".join(self._known(each) or " " for each in word.segments).split()

    def _pattern(self, word: Word, part: Part) -> str | None:
        """Return the absolute pattern that a word is, or None where it is none."""
        if not any(isinstance(each, Glob) for each in word.segments) or not part.directories:
            return None
        text = ""
        for segment in covered(word.segments):
            known = self._known(segment)
            if isinstance(segment, Glob):
                text += segment.text
            elif known is not None:
                text += glob_escape(known)
            else:
                return None
        return joined(part.directories[0], text)

    def _known(self, segment: Segment) -> str | None:
        """Return what a segment becomes, as far as that is plain to see."""
        match segment:
            case Literal(text=text):
                return text
            case Tilde(user="") | Variable(name="HOME", operator=None):
                return self.around.home
            case _:
                return None

    def _input(self, part: Part) -> Iterator[str]:
        """Yield the words of the texts that a part is given as its input."""
        for redirect in part.redirects:
            target = redirect.target
            if isinstance(target, Heredoc):
                target = target.body
            elif redirect.operator != "<<<":
                continue
            for text in self._texts(target):
                yield from spelled(text)

    def _of_unknown(self, effect: Effect, part: Part, *, lists: bool) -> str | None:
        """Return why not to read a path of which at most the start and the end are known, or None.

        What is listed below a place that is known is looked at there.
        """
        if effect.start.startswith(_PROCESS):
            return None
        reads_all = self._is_source(part) if lists else effect.recursive or searches_below(part)
        if lists or counts(part):
            return _UNKNOWN_PLACE if reads_all and self._may_lead_anywhere(effect, part) else None
        takes_any = reads_all or ("/" in effect.end and is_anything(effect.end))
        if takes_any and self._may_lead_anywhere(effect, part):
            return _UNKNOWN_PLACE
        return self._of_end(effect) or self._of_start(effect)

    def _may_lead_anywhere(self, effect: Effect, part: Part) -> bool:
        """Return whether a directory of which the start is not known may hold secrets."""
        if self._feeders.of(effect, part) is not None:
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


def _told(reason: str) -> str:
    return f"would read what is to be kept secret: {reason}"


def _names_said(part: Part) -> Iterator[str]:
    """Yield the words that a part is given, and the names in those that it prints."""
    for word in said(part):
        yield word
        if part.is_a("word_printer"):
            yield from _BLANKS.split(word)


def _changes_something(part: Part) -> bool:
    return any(effect.kind in CHANGES for effect in part.effects)


def named_files(part: Part) -> Iterator[tuple[str, str]]:
    """Yield the names of what a part is told to show or to search, each with its verb."""
    if part.program == "git":
        for name in _alike(shown_in_history(part)):
            yield name, "show"
    if part.is_a("grep") or part.program == "rg":
        option = _GLOBS if part.program == "rg" else _INCLUDES
        for name in _alike(_chosen(part, option)):
            yield name, "search"


def _alike(names: Iterable[str]) -> Iterator[str]:
    """Yield names, and for each pattern the names of secrets that it may stand for."""
    patterns = 0
    for name in names:
        if not is_pattern(name):
            yield name
            continue
        patterns += 1
        if patterns > _MOST_PATTERNS or len(name) > _LONGEST_PATTERN:
            yield from names_of_secrets(_ANY_NAME)
            return
        yield from names_of_secrets(name)


def _chosen(part: Part, option: re.Pattern[str]) -> Iterator[str]:
    """Yield the names of the files that a search is told by an option to read."""
    words = [word or "" for word in part.argv[1:]]
    for word, value in pairwise([*words, ""]):
        found = option.fullmatch(word)
        chosen = value if found and found[1] is None else found[1] if found else "!"
        if not chosen.startswith("!"):
            yield chosen
