"""Compiles the patterns of rules about commands, and suggests such patterns.

A pattern is a list of words, read with the shell's quotes: `git commit:*` is any command that
begins with the words `git commit`; `*` within a word matches any characters of that one word;
without `:*` the words are all there are. A pattern that begins with `= ` is a whole command line:
`= cd src && make > log` names all that it does, its directory and its redirections included. A line
that is long, or has several lines, stands as its digest, with a beginning for a person to read:
`= sha256:9f86... # python3 - <<'E' ...`.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence

from msgspec import Struct

from agentscope_like.paths import PatternError
from agentscope_like.shell import CommandAnalysis, Words
from agentscope_like.shell.catalog import Grammar, RoleKind, families, lookup, program_name
from agentscope_like.sized_cache import cached_by_size

__all__ = [
    "CommandPattern",
    "WordGlob",
    "compile_command",
    "line_digest",
    "line_pattern",
    "quoted",
    "refuse_lone_word",
    "suggest_patterns",
    "suggest_wider_patterns",
]

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
        line: The digest of the whole line that it is instead; else empty.
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
    if line := _line_in(text):
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


_MARK = "= "
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}(?= # |$)")
_LONGEST = 200
_SHOWN_CHARACTERS = 60


def _line_in(pattern: str) -> str:
    """Return the digest of the line that a pattern stands for; empty for a pattern of words."""
    line = pattern.removeprefix(_MARK).strip() if pattern.startswith(_MARK) else ""
    if not line:
        return ""
    digest = _DIGEST.match(line)
    return digest[0] if digest else line_digest(line)


def line_pattern(line: str) -> str:
    """Return the pattern for a whole command line; one that looks like a digest has its own."""
    if len(line) <= _LONGEST and line.isprintable() and not _DIGEST.match(line):
        return _MARK + line
    start = "".join(char if char.isprintable() else " " for char in line[:_SHOWN_CHARACTERS])
    return f"{_MARK}{line_digest(line)} # {start} ..."


def line_digest(line: str) -> str:
    """Return what stands for a whole line; in the text of a pattern, for a long one."""
    return f"sha256:{hashlib.sha256(line.encode('utf-8', 'surrogatepass')).hexdigest()}"


_CHANGED = frozenset({RoleKind.WRITE, RoleKind.DELETE, RoleKind.MOVE, RoleKind.INTO})


def refuse_lone_word(pattern: CommandPattern) -> None:
    """Refuse a pattern that forbids nothing, as one word often does.

    `deny Bash(install)` is the command `install` without an argument, which only complains. Whoever
    wrote it meant `npm install` or `install FILE`.

    Raises:
        PatternError: It is a whole line, or one word that does nothing without arguments; says
            which patterns do.
    """
    if pattern.line:
        raise PatternError(
            f"{pattern.text!r} names a whole line, which only a rule that allows can: any other "
            "spelling of the line would get around a rule that forbids; name the command's words"
        )
    if pattern.is_prefix or len(pattern.words) != 1 or not isinstance(pattern.words[0], str):
        return
    word = pattern.words[0]
    nearest = list(_nearest(word))
    if nearest:
        raise PatternError(
            f"{pattern.text!r} matches only the command `{word}` without arguments, which does "
            f"nothing: write {' or '.join(f'`{each}`' for each in nearest)}"
        )


def _nearest(word: str) -> Iterator[str]:
    """Yield the patterns that may have been meant; none where the word alone does something."""
    grammar = lookup(program_name(word) or word)
    if grammar is None or _needs_operands(grammar):
        if grammar is not None:
            yield f"{word}:*"
        for program in families().programs_with_command(word):
            yield f"{program} {word}:*"


def _needs_operands(grammar: Grammar) -> bool:
    return any(place.role.kind in _CHANGED and not place.optional for place in grammar.operands)


MAX_EXACT_LENGTH = 200
"""Characters of a whole command that is still worth a rule of its own."""

_MOST = 8


def suggest_patterns(analysis: CommandAnalysis) -> list[str]:
    """Return the parts that are not proven to read only, as they are, in their order.

    `git commit -m "fix"` has also `git commit -m *`: its message may be any. Of a part with words
    that bash computes, the first words are a pattern, unless they run whatever they are given.
    """
    found = (pattern for words in _unproven(analysis) for pattern in _patterns(words))
    return list(dict.fromkeys(found))[:_MOST]


def suggest_wider_patterns(analysis: CommandAnalysis) -> list[str]:
    """Return a pattern for each unproven part that opens its operands: `npm run build:*`.

    It is never among the suggestions that a question offers, but is told beside them: more than the
    person saw would run. Shells, interpreters, wrappers and whole families have none.
    """
    prefixes = filter(None, map(_prefix, _unproven(analysis)))
    return list(dict.fromkeys(prefixes))[:_MOST]


def _unproven(analysis: CommandAnalysis) -> Iterator[Words]:
    """Yield the words of each part that is not proven to read only, and whose name is known."""
    for part in analysis.parts if analysis.understood else ():
        if part.argv and part.argv[0] and (analysis.doubts or not part.read_only):
            yield (program_name(part.argv[0]) or part.argv[0], *part.argv[1:])


def _prefix(words: Words) -> str | None:
    prefix = families().prefix_of(words)
    return None if prefix is None else " ".join(map(quoted, prefix)) + ":*"


def _patterns(words: Words) -> Iterator[str]:
    known = [word for word in words if word is not None]
    if len(known) < len(words):
        if prefix := _prefix(words):
            yield prefix
        return
    exact = " ".join(map(quoted, known))
    if len(exact) <= MAX_EXACT_LENGTH and exact.isprintable():
        yield exact
    wider = _with_any_message(known)
    if wider is not None:
        yield wider


def _with_any_message(words: Sequence[str]) -> str | None:
    """Return a pattern of the words with any text for each message; None if they have none."""
    options = families().message_options(words)
    pattern = [
        "*" if number and words[number - 1] in options else quoted(word)
        for number, word in enumerate(words)
    ]
    return " ".join(pattern) if "*" in pattern else None
