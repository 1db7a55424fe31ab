"""Finds the first of many command patterns that matches, in time independent of their number.

Patterns are kept in a tree of words, so that looking one up costs what the command is long, and
globs of one place are filed by how they begin.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from msgspec import Struct, field

from agentscope_like.lazy_property import lazy_property
from agentscope_like.permission.command.command_patterns import (
    CommandPattern,
    WordGlob,
    compile_command,
    digest_of,
    is_digest,
)
from agentscope_like.shell import Words
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

    def reached(self, word: str | None, *, guess: bool) -> Iterator[_Node]:
        """Yield the nodes that a word of a command leads to."""
        by_length = self.globs or {}
        if word is not None:
            if word in self.words:
                yield self.words[word]
            for length, starts in by_length.items():
                for glob, node in starts.get(word[:length], {}).items():
                    if glob.matches(word):
                        yield node
        elif guess:
            yield from self.words.values()
            for starts in by_length.values():
                for globs in starts.values():
                    yield from globs.values()


class CommandIndex:
    """Many command patterns, compiled together.

    Args:
        contents: The patterns, in the order of their rules.
        program: Normalises a program's name, as callers of `find` do.
        refuse: Raises `PatternError` for a pattern that these rules cannot have.

    Raises:
        PatternError: One of them cannot be compiled.
    """

    def __init__(
        self,
        contents: Sequence[str],
        *,
        program: Callable[[str], str] = lambda name: name,
        refuse: Callable[[CommandPattern], None] | None = None,
    ) -> None:
        self._program = program
        self._refuse = refuse
        self._patterns: list[CommandPattern] = []
        self._lines: dict[str, int] = {}
        self._roots = [_Node()]
        for content in contents:
            self._add(content)

    def __len__(self) -> int:
        return len(self._patterns)

    def extended(self, content: str) -> CommandIndex:
        """Return an index of these patterns, which it shares, and one more.

        Raises:
            PatternError: The pattern cannot be compiled.
        """
        extended = CommandIndex((), program=self._program, refuse=self._refuse)
        extended._patterns = self._patterns.copy()
        extended._lines = self._lines.copy()
        extended._roots += self._roots
        extended._add(content)
        return extended

    def find(
        self,
        words: Words,
        *,
        guess: bool = False,
        open_end: bool = False,
        covers: Callable[[CommandPattern], bool] | None = None,
    ) -> int | None:
        """Return the position of the first pattern that matches the words, or None.

        Args:
            words: The program's name and its arguments.
            guess: Whether an unknown word matches any pattern word; otherwise only a
                prefix pattern that ends before it matches.
            open_end: Whether there may be more words than are known, or fewer.
            covers: Whether a pattern that matches counts; each does by default.
        """
        positions = self._matching(words, guess=guess, open_end=open_end)
        matching = {each for each in positions if each is not None}
        if covers is None:
            return min(matching, default=None)
        return next((each for each in sorted(matching) if covers(self._patterns[each])), None)

    def _matching(self, words: Words, *, guess: bool, open_end: bool) -> Iterator[int | None]:
        """Yield the positions of patterns that match the words, in any order, and None."""
        nodes = self._roots
        for word in words:
            nodes = [each for node in nodes for each in node.reached(word, guess=guess)]
            if not nodes:
                return
            for node in nodes:
                yield node.prefix
                if open_end:
                    yield node.exact
        for node in nodes:
            yield node.exact

    def may_begin_in(self, text: str) -> bool:
        """Return whether the first word of a pattern may stand in a text, folded by `program`."""
        return any(map(text.__contains__, self._sought))

    @lazy_property
    def _sought(self) -> frozenset[str]:
        """Names of which one stands in every text that a pattern may match."""
        firsts = [word for root in self._roots for word in root.words]
        if len(firsts) > _MOST_SOUGHT or any(root.globs for root in self._roots):
            return frozenset({""})
        return frozenset().union(*map(spelled_as, firsts))

    def pattern(self, position: int) -> CommandPattern:
        """Return the pattern at a position that `find` returned."""
        return self._patterns[position]

    def find_line(self, line: str) -> int | None:
        """Return the position of the first pattern that is a whole line, or None."""
        keys = [digest_of(line)] if is_digest(line) else [line, digest_of(line)]
        return min((self._lines[key] for key in keys if key in self._lines), default=None)

    @property
    def has_lines(self) -> bool:
        """Whether a pattern is a whole line."""
        return bool(self._lines)

    def _add(self, content: str) -> None:
        """Add one more pattern, at the next position."""
        pattern = compile_command(content)
        if self._refuse is not None:
            self._refuse(pattern)
        position = len(self._patterns)
        self._patterns.append(pattern)
        if pattern.line:
            self._lines.setdefault(pattern.line, position)
            return
        node = self._roots[0]
        for number, word in enumerate(pattern.words):
            if number == 0 and isinstance(word, str):
                word = self._program(word)  # noqa: PLW2901 - as callers of `find` name it
            node = node.behind(word)
        if pattern.is_prefix and node.prefix is None:
            node.prefix = position
        elif not pattern.is_prefix and node.exact is None:
            node.exact = position
