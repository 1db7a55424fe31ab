"""Finds the first of many command patterns that matches, in time independent of their number.

Patterns are kept in a tree of words, so that looking one up costs what the command is long, and
globs of one place are filed by how they begin.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct, field

from agentscope_like.permission.command.command_patterns import (
    CommandPattern,
    WordGlob,
    compile_command,
    digest_of,
    is_digest,
)
from agentscope_like.shell import Words

__all__ = ["CommandIndex"]


class _Node(Struct):
    """A node of the pattern tree: the patterns that begin with the same words."""

    words: dict[str, _Node] = field(default_factory=dict)
    globs: _Globs | None = None
    prefix: int | None = None
    exact: int | None = None


class _Globs:
    """The globs at one node, indexed by their literal beginning."""

    __slots__ = ("_known", "_starts")

    def __init__(self) -> None:
        self._known: dict[WordGlob, _Node] = {}
        self._starts: dict[int, dict[str, list[WordGlob]]] = {}

    def node(self, glob: WordGlob) -> _Node:
        """Return the node behind the glob; a new one if need be."""
        known = self._known.get(glob)
        if known is None:
            known = self._known[glob] = _Node()
            start = glob.pieces[0]
            self._starts.setdefault(len(start), {}).setdefault(start, []).append(glob)
        return known

    def find(self, word: str) -> Iterator[_Node]:
        """Yield the nodes behind the globs that match the word."""
        for length, starts in self._starts.items():
            for glob in starts.get(word[:length], ()):
                if glob.matches(word):
                    yield self._known[glob]

    def every(self) -> Iterator[_Node]:
        """Yield all nodes."""
        yield from self._known.values()


class CommandIndex:
    """Many command patterns, compiled together.

    Args:
        contents: The patterns, in the order of their rules.
        program: Normalises a program's name, as callers of `find` do.
        refuse: Raises `PatternError` for a pattern that these rules cannot have.

    Raises:
        PatternError: One of them cannot be compiled.
    """

    __slots__ = ("_lines", "_patterns", "_program", "_refuse", "_roots")

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

    def find(self, words: Words, *, guess: bool = False, open_end: bool = False) -> int | None:
        """Return the position of the first pattern that matches the words, or None.

        Args:
            words: The program's name and its arguments.
            guess: Whether an unknown word matches any pattern word; otherwise only a
                prefix pattern that ends before it matches.
            open_end: Whether there may be more words than are known, or fewer.
        """
        positions = self._matching(words, guess=guess, open_end=open_end)
        return min((each for each in positions if each is not None), default=None)

    def _matching(
        self, words: Words, *, guess: bool = False, open_end: bool = False
    ) -> Iterator[int | None]:
        """Yield the positions of patterns that match the words, in any order, and None."""
        nodes = self._roots
        for word in words:
            nodes = _step(nodes, word, guess=guess)
            if not nodes:
                return
            for node in nodes:
                yield node.prefix
                if open_end:
                    yield node.exact
        for node in nodes:
            yield node.exact

    def pattern(self, position: int) -> CommandPattern:
        """Return the pattern at a position that `find` returned."""
        return self._patterns[position]

    def find_covering(self, words: Words, covers: Callable[[CommandPattern], bool]) -> int | None:
        """Return the position of the first pattern that matches the words and covers them.

        Args:
            words: The program's name and its arguments.
            covers: Whether a pattern that matches covers the words that it does not name.
        """
        matching = {each for each in self._matching(words) if each is not None}
        covering = (each for each in sorted(matching) if covers(self._patterns[each]))
        return next(covering, None)

    def find_line(self, lines: Sequence[str]) -> int | None:
        """Return the position of the first pattern that is one of some whole lines, or None."""
        if not self._lines:
            return None
        keys = [*(line for line in lines if not is_digest(line)), *map(digest_of, lines)]
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
            if isinstance(word, WordGlob):
                if node.globs is None:
                    node.globs = _Globs()
                node = node.globs.node(word)
            else:
                name = word if number else self._program(word)
                node = node.words.setdefault(name, _Node())
        if pattern.is_prefix and node.prefix is None:
            node.prefix = position
        elif not pattern.is_prefix and node.exact is None:
            node.exact = position


def _step(nodes: Sequence[_Node], word: str | None, *, guess: bool) -> list[_Node]:
    """Return the nodes that one more word leads to."""
    reached: list[_Node] = []
    for node in nodes:
        if word is not None:
            inner = node.words.get(word)
            if inner is not None:
                reached.append(inner)
            if node.globs is not None:
                reached += node.globs.find(word)
        elif guess:
            reached += node.words.values()
            if node.globs is not None:
                reached += node.globs.every()
    return reached
