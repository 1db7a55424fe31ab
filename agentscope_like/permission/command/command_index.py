"""Finds the first of many command patterns that matches, in time independent of their number.

Patterns are kept in a tree of words, so that looking one up costs what the command is long, and
globs of one place are filed by how they begin.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from copy import copy
from itertools import chain
from typing import Any, Self

from msgspec import Struct, field

from agentscope_like.lazy_property import lazy_property
from agentscope_like.permission.command.command_patterns import (
    CommandPattern,
    WordGlob,
    compile_command,
    line_digest,
    refuse_lone_word,
)
from agentscope_like.permission.mode import PermissionBehavior
from agentscope_like.shell import Words
from agentscope_like.shell.catalog import bare_name, program_name
from agentscope_like.shell.facts import spelled_as

__all__ = ["CommandIndex"]


_MOST_SOUGHT = 64
"""How many first words are sought in a text one by one, before its commands are."""


class _Node(Struct):
    """A node of the pattern tree: the patterns that begin with the same words.

    Attributes:
        words: The nodes behind words.
        globs: The nodes behind globs, by how many characters these begin with, and by which.
        prefix: The position of the first pattern that ends here and is a prefix.
        exact: Likewise of the first that is the whole command.
    """

    words: dict[str, _Node] = field(default_factory=dict)
    globs: dict[int, dict[str, dict[WordGlob, _Node]]] | None = None
    prefix: int | None = None
    exact: int | None = None

    def behind(self, word: str | WordGlob) -> _Node:
        """Return the node behind a word of a pattern; a new one if need be."""
        nodes: dict[Any, _Node] = self.words
        if isinstance(word, WordGlob):
            start, self.globs = word.pieces[0], self.globs or {}
            nodes = self.globs.setdefault(len(start), {}).setdefault(start, {})
        found = nodes.get(word)
        if found is None:
            found = nodes[word] = _Node()
        return found

    def reached(self, word: str | None, *, guess: bool, several: bool) -> Iterator[_Node]:
        """Yield the nodes that a word of a command leads to."""
        if word is None and several:
            yield self
        by_length = self.globs or {}
        if word is not None:
            if word in self.words:
                yield self.words[word]
            for length, starts in by_length.items():
                for glob, node in starts.get(word[:length], {}).items():
                    if glob.matches(word):
                        yield node
        elif guess:
            groups = [globs for starts in by_length.values() for globs in starts.values()]
            for node in chain(self.words.values(), *(globs.values() for globs in groups)):
                yield from node.reached(None, guess=True, several=True) if several else (node,)


class CommandIndex:
    """The command patterns of rules with the same behaviour, compiled together.

    Args:
        contents: The patterns, in the order of their rules.
        behavior: ALLOW, DENY or ASK.

    Attributes:
        patterns: The patterns.
        lines: The positions of the patterns that are whole lines, by their digests.
        roots: The trees that all others are in; later ones are shared with other indexes.

    Raises:
        PatternError: One of them cannot be compiled.
    """

    def __init__(self, contents: Sequence[str], behavior: PermissionBehavior) -> None:
        self.behavior = behavior
        self.patterns: list[CommandPattern] = []
        self.lines: dict[str, int] = {}
        self.roots = [_Node()]
        for content in contents:
            self.add(content)

    def program(self, name: str) -> str:
        """Return the name by which a program is found: to allow, bare for one of the system."""
        if self.behavior is PermissionBehavior.ALLOW:
            return program_name(name) or name
        return bare_name(name)

    def extended(self, content: str) -> Self:
        """Return an index of these patterns, which it shares, and one more.

        Raises:
            PatternError: The pattern cannot be compiled.
        """
        extended = copy(self)
        extended.__dict__.pop("_sought", None)
        extended.patterns = self.patterns.copy()
        extended.lines = self.lines.copy()
        extended.roots = [_Node(), *self.roots]
        extended.add(content)
        return extended

    def find(
        self,
        words: Words,
        *,
        guess: bool = False,
        several: bool = False,
        open_end: bool = False,
        covers: Callable[[CommandPattern], bool] | None = None,
    ) -> int | None:
        """Return the position of the first pattern that matches the words, or None.

        Args:
            words: The name that `program` returns, and the arguments.
            guess: Whether an unknown word matches any pattern word; otherwise only a
                prefix pattern that ends before it matches.
            several: Whether an unknown word that is guessed may be none, or several words.
            open_end: Whether there may be more words than are known, or fewer.
            covers: Whether a pattern that matches counts; each does by default.
        """
        positions = self._matching(words, guess=guess, several=several, open_end=open_end)
        matching = {each for each in positions if each is not None}
        if covers is None:
            return min(matching, default=None)
        return next((each for each in sorted(matching) if covers(self.patterns[each])), None)

    def _matching(
        self, words: Words, *, guess: bool, several: bool, open_end: bool
    ) -> Iterator[int | None]:
        """Yield the positions of patterns that match the words, in any order, and None."""
        nodes = self.roots
        for word in words:
            reached = (node.reached(word, guess=guess, several=several) for node in nodes)
            nodes = [each for found in reached for each in found]
            if not nodes:
                return
            for node in nodes:
                yield node.prefix
                if open_end:
                    yield node.exact
        for node in nodes:
            yield node.exact

    def may_begin_in(self, text: str) -> bool:
        """Return whether the first word of a pattern may stand in a text, case-folded."""
        return any(map(text.__contains__, self._sought))

    @lazy_property
    def _sought(self) -> frozenset[str]:
        """Names of which one stands in every text that a pattern may match."""
        firsts = [word for root in self.roots for word in root.words]
        if len(firsts) > _MOST_SOUGHT or any(root.globs for root in self.roots):
            return frozenset({""})
        return frozenset().union(*map(spelled_as, firsts))

    def find_line(self, line: str) -> int | None:
        """Return the position of the first pattern that is a whole line, or None."""
        return self.lines.get(line_digest(line))

    def add(self, content: str) -> None:
        """Add one more pattern, at the next position."""
        pattern = compile_command(content)
        if self.behavior is not PermissionBehavior.ALLOW:
            refuse_lone_word(pattern)
        position = len(self.patterns)
        self.patterns.append(pattern)
        if pattern.line:
            self.lines.setdefault(pattern.line, position)
            return
        node = self.roots[0]
        for number, word in enumerate(pattern.words):
            if number == 0 and isinstance(word, str):
                word = self.program(word)  # noqa: PLW2901 - as `find` is given it
            node = node.behind(word)
        if pattern.is_prefix and node.prefix is None:
            node.prefix = position
        elif not pattern.is_prefix and node.exact is None:
            node.exact = position
