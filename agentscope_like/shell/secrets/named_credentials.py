"""Which credentials a path, a text or a pattern names."""

from __future__ import annotations

import re
from collections.abc import Iterable

from agentscope_like.paths import ENDING, FileKind, Location, PathError
from agentscope_like.shell.analysis import Effect, EffectKind, Part
from agentscope_like.shell.secrets.credentials import Credentials
from agentscope_like.shell.secrets.known_ends import is_ending, may_be_secret, may_match_secret
from agentscope_like.shell.secrets.told_names import Text, pieces
from agentscope_like.shell.state import joined
from agentscope_like.shell.surroundings import Surroundings, paths_in
from agentscope_like.shell.touches import is_pattern

__all__ = ["NamedCredentials"]

_READ, _DIRECTORY = EffectKind.READ, FileKind.DIRECTORY
_MAGIC = re.compile(r"[*?\[]")
_UNESCAPED = re.compile(r"\[([*?\[])\]")


class NamedCredentials:
    """Says why what a name leads to is not to be read."""

    __slots__ = ("_around", "_credentials", "_harmless")

    def __init__(self, around: Surroundings) -> None:
        self._around = around
        self._credentials = Credentials(around)
        self._harmless: set[tuple[str, str]] = set()

    def of_location(self, location: Location) -> str | None:
        """Return why a path is not to be read, or None."""
        reason = self._around.read_objection(location)
        return reason or self._credentials.link_objection(location)

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
        return self._credentials.match_objection(name)

    def of_texts(self, texts: Iterable[str], part: Part) -> str | None:
        """Return why a name in a text is secret, or None."""
        for text in texts:
            for name in pieces(text):
                for directory in part.directories or (self._around.directory,):
                    if reason := self._of_path(name, directory):
                        return reason
        return None

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

    def of_patterns(self, texts: Iterable[Text], part: Part) -> str | None:
        """Return why not to read what words may name that are patterns, held or computed."""
        for is_whole, text in texts:
            if not is_whole and text.strip("*?/"):
                self._around.effort.spend(ENDING)
                if reason := may_be_secret(text):
                    return reason
            for pattern in text.split() if is_whole else ():
                reason = self._of_pattern(pattern, part) if _MAGIC.search(pattern) else None
                if reason := reason or self.of_texts([_UNESCAPED.sub(r"\1", pattern)], part):
                    return reason
        return None

    def _of_pattern(self, pattern: str, part: Part) -> str | None:
        """Return why not to read what a pattern matches now, or None."""
        for directory in part.directories or (self._around.directory,):
            path = joined(directory, pattern)
            if path is not None and (directory, path) not in self._harmless:
                effect = Effect(_READ, pattern, path, part.span, glob=True)
                is_folder = pattern.endswith("/")
                for location in self._around.locations(effect) or ():
                    if is_folder and location.kind is not _DIRECTORY:
                        continue
                    if reason := self.of_location(location):
                        return reason
                self._harmless.add((directory, path))
        return None
