"""Compiles command patterns and finds the first that matches, in time independent of their number.

A pattern is a list of words, read with the shell's quotes: `git commit:*` is any command that
begins with the words `git commit`; `*` within a word matches any characters of that one word;
without `:*` the words are all there are. Patterns are kept in a tree of words, so that looking one
up costs what the command is long, and globs of one place are filed by how they begin or end.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct, field

from agentscope_like.paths import PatternError
from agentscope_like.shell import Words
from agentscope_like.sized_cache import cached_by_size

__all__ = ["CommandIndex", "CommandPattern", "WordGlob", "compile_command", "quoted"]


MAX_PATTERN_LENGTH = 4096
"""Characters of a pattern."""

_MOST_SOUGHT = 64
"""How many first words are sought in a text one by one, before its commands are."""

_PREFIX_MARK = ":*"
_PLAIN = re.compile(r"[A-Za-z0-9_@%+=:,./-]+")
_PLAIN_WORDS = re.compile(r"[A-Za-z0-9_@%+=:,./ -]+")
_TOKEN = re.compile(
    r"""\s+ | (?P<plain>[^\s'"\\*]+) | (?P<glob>\*+) | '(?P<single>[^']*)'
    | "(?P<double>(?:[^"\\]|\\.)*)" | \\(?P<escaped>.)""",
    re.VERBOSE | re.DOTALL,
)
_IN_DOUBLE_QUOTES = re.compile(r'\\(["\\$`])')
_OPERATOR = re.compile(r"[|&;<>()]+")
_REFUSED = re.compile(r"[\x00-\x1f\x7f\u2028\u2029\ud800-\udfff]")


class WordGlob(Struct, frozen=True):
    """A word with `*` in it: the literal pieces before, between and after them."""

    pieces: tuple[str, ...]

    def matches(self, word: str) -> bool:
        """Return whether the word contains the pieces in this order; linear in its length."""
        first, *middle, last = self.pieces
        end = len(word) - len(last)
        position = len(first)
        if position > end or not word.startswith(first) or not word.endswith(last):
            return False
        for piece in middle:
            found = word.find(piece, position, end)
            if found < 0:
                return False
            position = found + len(piece)
        return True


_ANY_WORD = WordGlob(("", ""))


class CommandPattern(Struct, frozen=True):
    """A compiled command pattern.

    Attributes:
        text: The pattern as written.
        words: Its words.
        is_prefix: Whether more words may follow.
    """

    text: str
    words: tuple[str | WordGlob, ...]
    is_prefix: bool


@cached_by_size(500_000)
def compile_command(text: str) -> CommandPattern:
    """Compile a command pattern.

    Raises:
        PatternError: It could never match a command: it is empty, or has no program, an unclosed
            quote, a shell operator, or a character that no pattern may contain.
    """
    if not text.strip():
        raise PatternError("the pattern is empty: leave the content out to match every command")
    if len(text) > MAX_PATTERN_LENGTH:
        raise PatternError(f"the pattern has {len(text)} characters, over {MAX_PATTERN_LENGTH}")
    if found := _REFUSED.search(text):
        raise PatternError(
            f"{text!r} contains the character U+{ord(found[0]):04X}: a pattern is one line of "
            "visible characters and matches one command"
        )
    is_prefix = text.endswith(_PREFIX_MARK)
    words = tuple(_words(text.removesuffix(_PREFIX_MARK) if is_prefix else text, text))
    if not words:
        raise PatternError(f"{text!r} names no program: write one before `:*`")
    if words == (_ANY_WORD,) and not is_prefix:
        raise PatternError(
            f"{text!r} matches only commands of one word: leave the content out to match every "
            "command"
        )
    if words[0] == "":
        raise PatternError(f"{text!r} begins with an empty word, which is no program")
    return CommandPattern(text, words, is_prefix)


def quoted(word: str) -> str:
    """Return the word so that a pattern takes it literally."""
    if _PLAIN.fullmatch(word):
        return word
    return "'" + word.replace("'", "'\\''") + "'"


def _words(body: str, text: str) -> Iterator[str | WordGlob]:
    if _PLAIN_WORDS.fullmatch(body):
        yield from body.split()
        return
    pieces: list[str] = []
    position = 0
    while position < len(body):
        match = _TOKEN.match(body, position)
        if match is None:
            raise PatternError(f"{text!r} has an unclosed quote or a trailing backslash")
        position = match.end()
        kind, value = match.lastgroup, match[0]
        if kind is None:
            if pieces:
                yield _word(pieces)
            pieces = []
            continue
        if not pieces:
            pieces = [""]
        if kind == "glob":
            pieces.append("")
            continue
        value = match[kind]
        if kind == "plain" and (operator := _OPERATOR.search(value)):
            raise PatternError(
                f"{text!r} contains `{operator[0]}`, which ends a command or redirects it, and a "
                "pattern matches the words of one command: write a pattern for each command, "
                "leave redirections out, and quote what is meant as a word"
            )
        pieces[-1] += _IN_DOUBLE_QUOTES.sub(r"\1", value) if kind == "double" else value
    if pieces:
        yield _word(pieces)


def _word(pieces: list[str]) -> str | WordGlob:
    return pieces[0] if len(pieces) == 1 else WordGlob(tuple(pieces))


class _Node(Struct):
    """A node of the pattern tree: the patterns that begin with the same words."""

    words: dict[str, _Node] = field(default_factory=dict)
    globs: _Globs | None = None
    prefix: int | None = None
    exact: int | None = None


class _Globs:
    """The globs at one node, indexed by their literal beginning, or else by their literal end."""

    __slots__ = ("_ends", "_known", "_others", "_starts")

    def __init__(self) -> None:
        self._known: dict[WordGlob, _Node] = {}
        self._starts: dict[int, dict[str, list[WordGlob]]] = {}
        self._ends: dict[int, dict[str, list[WordGlob]]] = {}
        self._others: list[WordGlob] = []

    def node(self, glob: WordGlob) -> _Node:
        """Return the node behind the glob; a new one if need be."""
        known = self._known.get(glob)
        if known is None:
            known = self._known[glob] = _Node()
            start, end = glob.pieces[0], glob.pieces[-1]
            if start:
                self._starts.setdefault(len(start), {}).setdefault(start, []).append(glob)
            elif end:
                self._ends.setdefault(len(end), {}).setdefault(end, []).append(glob)
            else:
                self._others.append(glob)
        return known

    def find(self, word: str) -> Iterator[_Node]:
        """Yield the nodes behind the globs that match the word."""
        for length, starts in self._starts.items():
            yield from self._matching(starts.get(word[:length], ()), word)
        for length, ends in self._ends.items():
            yield from self._matching(ends.get(word[-length:], ()), word)
        yield from self._matching(self._others, word)

    def every(self) -> Iterator[_Node]:
        """Yield all nodes."""
        yield from self._known.values()

    def _matching(self, globs: Sequence[WordGlob], word: str) -> Iterator[_Node]:
        for glob in globs:
            if glob.matches(word):
                yield self._known[glob]


class CommandIndex:
    """Many command patterns, compiled together.

    Args:
        contents: The patterns, in the order of their rules.
        program: Normalises a program's name, as callers of `find` do.

    Raises:
        PatternError: One of them cannot be compiled.
    """

    __slots__ = ("_earlier", "_offset", "_program", "_root", "_size")

    def __init__(
        self, contents: Sequence[str], *, program: Callable[[str], str] = lambda name: name
    ) -> None:
        self._program = program
        self._earlier: CommandIndex | None = None
        self._offset = 0
        self._size = 0
        self._root = _Node()
        for content in contents:
            self.add(content)

    def __len__(self) -> int:
        return self._offset + self._size

    def add(self, content: str) -> None:
        """Add one more pattern, at the next position.

        Raises:
            PatternError: The pattern cannot be compiled; nothing has changed then.
        """
        self._add(compile_command(content), self._size)
        self._size += 1

    def extended(self, content: str) -> CommandIndex:
        """Return an index of these patterns and one more, without compiling these again.

        Raises:
            PatternError: The pattern cannot be compiled.
        """
        extended = CommandIndex((content,), program=self._program)
        extended._earlier = self
        extended._offset = len(self)
        return extended

    def find(self, words: Words, *, guess: bool = False, open_end: bool = False) -> int | None:
        """Return the position of the first pattern that matches the words, or None.

        Args:
            words: The program's name and its arguments.
            guess: Whether an unknown word matches any pattern word; otherwise only a
                prefix pattern that ends before it matches.
            open_end: Whether there may be more words than are known, or fewer.
        """
        if self._earlier is not None:
            found = self._earlier.find(words, guess=guess, open_end=open_end)
            if found is not None:
                return found
        best: int | None = None
        nodes = [self._root]
        for word in words:
            nodes = _step(nodes, word, guess=guess)
            if not nodes:
                break
            for node in nodes:
                best = _least(best, node.prefix)
                if open_end:
                    best = _least(best, node.exact)
        for node in nodes:
            best = _least(best, node.exact)
        return None if best is None else best + self._offset

    def may_begin_in(self, text: str) -> bool:
        """Return whether the first word of a pattern may stand in a text, folded by `program`."""
        root = self._root
        if self._earlier is not None or root.globs is not None or len(root.words) > _MOST_SOUGHT:
            return True
        return any(map(text.__contains__, root.words))

    def _add(self, pattern: CommandPattern, position: int) -> None:
        node = self._root
        for number, word in enumerate(pattern.words):
            if isinstance(word, WordGlob):
                if node.globs is None:
                    node.globs = _Globs()
                node = node.globs.node(word)
            else:
                name = word if number else self._program(word)
                node = node.words.setdefault(name, _Node())
        if pattern.is_prefix:
            node.prefix = _least(node.prefix, position)
        else:
            node.exact = _least(node.exact, position)


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


def _least(one: int | None, other: int | None) -> int | None:
    if one is None:
        return other
    return one if other is None else min(one, other)
