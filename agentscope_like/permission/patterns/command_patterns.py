"""Compiles the patterns of rules about commands.

A pattern is a list of words, read with the shell's quotes: `git commit:*` is any command that
begins with the words `git commit`; `*` within a word matches any characters of that one word;
without `:*` the words are all there are. A pattern that begins with `= ` is a whole command line;
see `line_patterns`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

from agentscope_like.paths import PatternError
from agentscope_like.permission.patterns.line_patterns import line_in
from agentscope_like.sized_cache import cached_by_size

__all__ = ["CommandPattern", "WordGlob", "compile_command", "quoted"]


MAX_PATTERN_LENGTH = 4096
"""Characters of a pattern."""

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
        line: The whole line that it is instead, or the digest of one; else empty.
    """

    text: str
    words: tuple[str | WordGlob, ...]
    is_prefix: bool
    line: str = ""


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
    if line := line_in(text):
        return CommandPattern(text, (), False, line)
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
