"""Finds the secrets that a command would read.

The words that stand in the command count where they name a credential, literal or as patterns; so
do the end of a path of which no more is known, and all below a place where credentials are. A name
of which nothing is known is a doubt (`origins`).
"""

from __future__ import annotations

from itertools import chain, filterfalse

from msgspec import Struct

from agentscope_like.lazy_property import lazy_property
from agentscope_like.paths import FOLDER, FileKind, Location
from agentscope_like.shell.analysis import CHANGES, CommandAnalysis, Effect, EffectKind, Part
from agentscope_like.shell.facts import (
    all_words,
    counts,
    leaves_out,
    lists_only,
    reads_unseen_files,
    shows_computed,
    shows_unseen_files,
)
from agentscope_like.shell.names import feeders, unnamed_reads
from agentscope_like.shell.secrets.credentials import NamedCredentials, links_objection
from agentscope_like.shell.secrets.known_ends import is_any_name, may_hold_secrets
from agentscope_like.shell.secrets.told_names import (
    found_names,
    named_files,
    told_values,
)
from agentscope_like.shell.surroundings import Surroundings
from agentscope_like.shell.values import Argument

__all__ = ["Secrets"]

_READ, _DIRECTORY = EffectKind.READ, FileKind.DIRECTORY
_PROCESS = "/dev/fd/"
"""What the name of a process substitution begins with."""

_UNKNOWN_PLACE = "would read a whole directory that is only known at run time"


class Secrets(Struct, dict=True):
    """Finds the credentials that the parts of one command would show.

    Attributes:
        analysis: The whole command.
        around: Where it runs.
    """

    analysis: CommandAnalysis
    around: Surroundings

    @lazy_property
    def reads_unseen(self) -> bool:
        """Whether some part reads files that others name, so that every word may be a name."""
        return any(map(reads_unseen_files, self.analysis.parts))

    @lazy_property
    def _sources(self) -> frozenset[int]:
        """The identities of the parts that print the names of what others show."""
        parts = self.analysis.parts
        shown = chain.from_iterable(map(unnamed_reads, filter(shows_unseen_files, parts)))
        return frozenset(id(parts[number]) for each in shown for number in each.names.producers)

    @lazy_property
    def _named(self) -> NamedCredentials:
        return NamedCredentials(self.around)

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
        searches = self._is_source(part) if lists else not part.is_a("file_reader")
        may_be_left_out = leaves_out(effect.target, part)
        for location in self.around.locations(effect) or ():
            if may_be_left_out and not location.exists:
                continue
            if searches and location.kind is _DIRECTORY:
                reason = self._below(location, part)
            else:
                reason = self._named.of_location(location)
            if reason:
                return _told(reason)
        return None

    def _of_unknown(self, effect: Effect, part: Part, *, lists: bool) -> str | None:
        """Return why not to read a path of which at most the start and the end are known, or None.

        What is listed below a place that is known is looked at there.
        """
        if effect.start.startswith(_PROCESS):
            return None
        shows = not lists and not counts(part)
        reads_all = self._is_source(part) if lists else effect.recursive
        takes_any = reads_all or (shows and "/" in effect.end and is_any_name(effect.end))
        reason = self._of_start(effect)
        if takes_any and feeders(effect, part, self.analysis) is None:
            holds_all = not effect.start and may_hold_secrets(effect.end, self.around.home)
            if reason or holds_all:
                return _UNKNOWN_PLACE
        reason = self._of_end(effect) or (None if "/" in effect.end else reason)
        return None if reason is None or not shows else _told(reason)

    def _of_end(self, effect: Effect) -> str | None:
        """Return why not to read what the end of a path names wherever it begins, or None."""
        reason = self._named.of_end(effect.end)
        if reason is None and effect.start and effect.end:
            reason = self.around.read_objection(self.around.locate(f"{effect.start}{effect.end}"))
        return reason

    def _of_start(self, effect: Effect) -> str | None:
        """Return why not to read all below the directory that a path begins with, or None."""
        if not effect.start:
            return None
        folder = self.around.locate(effect.start.rpartition("/")[0] or "/")
        return self.around.read_objection(folder, recursive=True)

    # What is searched

    def _is_source(self, part: Part) -> bool:
        return id(part) in self._sources

    def _below(self, directory: Location, part: Part) -> str | None:
        """Return why not to read all below a directory, or None."""
        self.around.effort.spend(FOLDER)
        reason = self.around.read_objection(directory, recursive=True)
        if reason is not None:
            return reason
        opens_links = part.is_a("shows_names") and self._is_source(part)
        return links_objection(directory, part, self.around, opens_links=opens_links)

    # What is named

    def name_objection(self, part: Part) -> str | None:
        """Return why the arguments of a part require approval, or None.

        What it is told is all there is to go by where it may do anything, or where some part reads
        what it is told of while it runs.

        Raises:
            PathError: A directory cannot be judged.
            TooManyFilesError: There are too many names to check each one.
        """
        for name, verb in named_files(part):
            if reason := self._named.of_chosen(name):
                return f"would {verb} a secret: {reason}"
        if part.git_command is not None and shows_computed(part):
            reasons = map(self._named.of_chosen, all_words(self.analysis))
            if reason := next(filter(None, reasons), None):
                return f"would show a secret whose path is computed: {reason}"
        if not part.read_only and not any(effect.kind in CHANGES for effect in part.effects):
            for word in filter(None, part.argv[1:]):
                if self._is_left_out(word, part):
                    continue
                if reason := self.around.argument_objection(word):
                    return f"names a sensitive path: {reason}"
        return self._handed_objection(part) if self.reads_unseen else None

    def _is_left_out(self, word: str, part: Part) -> bool:
        """Return whether a word tells git which files to leave out, and is no file's name."""
        if not leaves_out(word, part) or not part.directories:
            return False
        return not any(self.around.locate(f"{each}/{word}").exists for each in part.directories)

    def _handed_objection(self, part: Part) -> str | None:
        """Return why a name that a part looks for, or that is written there, is secret, or None."""
        if part.is_a("names_anywhere"):
            return _told(f"`{part.program}` may name any file")
        for name in found_names(part):
            if reason := self._named.of_found(name):
                return f"would find a secret: {reason}"
        held = self.analysis.held if part is self.analysis.parts[0] else ()
        values = [*told_values(part), *held]
        places = part.directories or (self.around.directory,)
        if reason := self._named.of_spoken(filter(_is_text, values), places):
            return f"names a sensitive path: {reason}"
        reason = self._named.of_spoken(filterfalse(_is_text, values), places)
        return None if reason is None else _told(reason)


def _is_text(value: Argument) -> bool:
    return isinstance(value, str)


def _told(reason: str) -> str:
    return f"would read a secret: {reason}"
