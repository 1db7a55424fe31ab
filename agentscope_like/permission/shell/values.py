"""What is known, before a command runs, about the arguments that a word becomes.

An argument is a `str` where the program receives exactly that text, else an `Unknown` that keeps
whatever can be proven: a literal beginning, that it cannot begin with a dash, that it is one
argument, that it is a number, that it is one of a few texts, that it matches a glob.
"""

from __future__ import annotations

import re
from enum import IntEnum
from glob import escape as glob_escape
from typing import NamedTuple, Protocol, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from agentscope_like.permission.shell.tree import (
    Arithmetic,
    Glob,
    Literal,
    Segment,
    Substitution,
    Tilde,
    Variable,
    Word,
)

__all__ = [
    "NUMBER",
    "Argument",
    "Environment",
    "Output",
    "Shape",
    "Unknown",
    "element",
    "elements_of",
    "evaluate",
    "join",
    "piece_of",
    "plain",
    "several",
    "shape_of",
]


class Shape(IntEnum):
    """How much is known about a computed text; a higher shape is also every lower one."""

    ANY = 0
    WORD = 1
    """No blank, no glob character, no leading dash: it stays one argument and is no option."""
    ALPHANUMERIC = 2
    """Letters and digits alone: so is every piece of it."""
    INTEGER = 3
    """Decimal digits with at most a sign."""


class Output(NamedTuple):
    """What a command prints.

    `single` tells that it is at most one line; `numbered` is as in `Unknown`, for text that is no
    number but stops whoever takes it for one; `choices` are the only texts that it can be, where
    they are known; `places` tells that each text up to a NUL begins with a place that is no option.
    """

    shape: Shape = Shape.ANY
    single: bool = True
    numbered: str = ""
    choices: tuple[str, ...] = ()
    places: bool = False


class Unknown(Struct, frozen=True):
    """What a word becomes where bash computes some of it.

    Attributes:
        prefix: The literal text that it begins with; empty where that is unknown.
        option: Whether any argument that it becomes may begin with a dash.
        single: Whether it is exactly one argument.
        shape: What is known of the whole text.
        choices: The only texts that it can be, where they are known.
        pattern: The glob that every argument matches, literal characters escaped.
        numbered: The whole text with `NUMBER` for each number in it, where only numbers are
            computed; empty elsewhere.
        rooted: Whether any argument that it becomes may begin with a slash.
        suffix: The literal text that it ends with; empty where that is unknown.
        filled: Whether it is known not to be empty.
        optional: Whether it may be no argument at all where its text turns out to be empty.
    """

    prefix: str = ""
    option: bool = True
    single: bool = True
    shape: Shape = Shape.ANY
    choices: tuple[str, ...] = ()
    pattern: str | None = None
    numbered: str = ""
    rooted: bool = True
    suffix: str = ""
    filled: bool = False
    optional: bool = False

    @property
    def tells(self) -> bool:
        """Return whether something is known of the whole text."""
        return bool(self.shape or self.choices)


Argument: TypeAlias = str | Unknown

NUMBER = "\ue000"
"""Stands for a number that is computed; a text that holds this character itself is not taken."""

_SPECIAL = re.compile(r"[\s*?\[\\]")
_ARGUMENT_COUNT = frozenset("@*")
_INTEGER = re.compile(r"-?[0-9]+")
_TILDE_DIRECTORIES = frozenset("+-")
_MAX_CHOICES = 64


class Environment(Protocol):
    """What `evaluate` asks about the world."""

    @property
    def home(self) -> str | None:
        """Return the home directory that a lone `~` becomes, or None where unknown."""

    def variable(self, segment: Variable, /) -> Argument:
        """Return what a parameter holds."""

    def output(self, segment: Substitution, /) -> Output:
        """Return what a substitution prints."""


def plain(text: str) -> bool:
    """Return whether an unquoted expansion to `text` stays that one argument."""
    return bool(text) and not _SPECIAL.search(text)


def join(values: list[Argument]) -> Argument:
    """Return what is known of a text that is one of `values`."""
    first = values[0]
    if all(value == first for value in values):
        return first
    texts = [text for value in values for text in _texts(value)]
    option = any(_dashed(value) for value in values)
    shape = min(shape_of(value) for value in values)
    rooted = any(map(_rooted, values))
    filled = all(map(_filled, values))
    if not all(isinstance(value, str) or value.single for value in values):
        return Unknown(single=False)
    if all(isinstance(value, str) or value.choices for value in values) and (
        len(texts) <= _MAX_CHOICES
    ):
        choices = tuple(dict.fromkeys(texts))
        return Unknown(option=option, shape=shape, choices=choices, rooted=rooted, filled=filled)
    return Unknown(option=option, shape=shape, rooted=rooted, filled=filled)


def element(value: Argument) -> Argument:
    """Return what is known of one of the arguments that a word becomes."""
    if isinstance(value, str):
        return value
    if value.single:
        return replace(value, optional=False, filled=True) if value.optional else value
    if value.pattern is None:
        return Unknown(option=value.option, shape=value.shape, choices=value.choices)
    return Unknown(
        prefix=value.prefix,
        option=value.option,
        pattern=value.pattern,
        rooted=_rooted(value),
        suffix=value.suffix,
    )


def elements_of(name: str) -> str:
    """Return under which name it is kept what any element of the array `name` holds."""
    return f"{name}[]"


def piece_of(output: Output) -> Unknown:
    """Return what is known of any piece of what a command prints, however it is cut."""
    if output.shape < Shape.ALPHANUMERIC:
        return Unknown()
    return Unknown(option=False, shape=output.shape)


def several(value: Argument) -> Unknown:
    """Return what is known of any number of arguments, none or more, each of which is `value`."""
    if isinstance(value, str):
        return Unknown(option=_dashed(value), single=False, shape=shape_of(value), choices=(value,))
    return replace(value, single=False, numbered="")


def evaluate(word: Word, environment: Environment, *, splits: bool = True) -> Argument:
    """Return what is known of the arguments that `word` becomes.

    Args:
        word: The word as the reader read it.
        environment: Where parameters, substitutions and `~` get their values.
        splits: Whether bash splits and globs it; false for the value of an assignment, the
            subject of a `case` and the words of `[[ ]]`.
    """
    segments = word.segments
    if len(segments) == 1 and isinstance(segments[0], Literal):
        return segments[0].text
    builder = _Builder(environment, splits)
    for segment in segments:
        builder.add(segment)
    return builder.result()


def _texts(value: Argument) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else value.choices


def _dashed(value: Argument) -> bool:
    return value.startswith("-") if isinstance(value, str) else value.option


def _filled(value: Argument) -> bool:
    return bool(value) if isinstance(value, str) else value.filled


def _rooted(value: Argument) -> bool:
    """Return whether a value may begin with a slash; a glob that matches nothing stays as it is."""
    if isinstance(value, str):
        return value.startswith("/")
    start = value.prefix or value.pattern
    return start.startswith("/") if start else value.rooted


def shape_of(value: Argument) -> Shape:
    """Return what is known of a whole text."""
    if isinstance(value, Unknown):
        return value.shape
    if _INTEGER.fullmatch(value):
        return Shape.INTEGER
    if value.isascii() and value.isalnum():
        return Shape.ALPHANUMERIC
    return Shape.WORD if plain(value) and not value.startswith("-") else Shape.ANY


class _Builder:
    """Joins the segments of one word."""

    __slots__ = ("_environment", "_optional", "_parts", "_shape", "_single", "_splits")

    def __init__(self, environment: Environment, splits: bool) -> None:
        self._environment = environment
        self._splits = splits
        self._parts: list[Argument] = []
        self._single = True
        self._optional = splits
        self._shape = Shape.WORD

    def add(self, segment: Segment) -> None:
        """Append what `segment` becomes."""
        value, quoted = self._value(segment)
        if quoted or isinstance(value, str) or value.filled or value.choices:
            self._optional = False
        if isinstance(value, Unknown):
            self._add_unknown(value, quoted=quoted)
        elif quoted or isinstance(segment, Literal | Tilde) or plain(value):
            self._parts.append(value)
        else:
            self._add_unknown(_unquoted(value), quoted=False)

    def _value(self, segment: Segment) -> tuple[Argument, bool]:
        """Return what `segment` becomes, and whether that is neither split nor globbed."""
        match segment:
            case Variable(quoted=quoted, name=name):
                value = self._environment.variable(segment)
                is_one = quoted and self._splits and name[-1] not in "@*]"
                if is_one and isinstance(value, Unknown) and not value.single:
                    value = replace(value, single=True)
                return value, quoted
            case Substitution():
                return self._printed(segment)
            case _:
                return self._fixed(segment), True

    def _fixed(self, segment: Literal | Tilde | Glob | Arithmetic) -> Argument:
        match segment:
            case Literal(text):
                return text
            case Tilde(user):
                known = self._environment.home if not user else None
                is_directory = user in _TILDE_DIRECTORIES or not user
                return known or Unknown(prefix="/" if is_directory else "~", option=False)
            case Glob(text):
                return Unknown(single=False, pattern=text)
            case Arithmetic():
                return Unknown(option=False, shape=Shape.INTEGER, filled=True)

    def _printed(self, segment: Substitution) -> tuple[Argument, bool]:
        shape, single, numbered, choices, _ = self._environment.output(segment)
        if segment.opener in {"<(", ">("}:
            return Unknown(prefix="/dev/fd/", option=False, shape=Shape.WORD), True
        if choices:
            return join(list(choices)), segment.quoted
        single = single or (segment.quoted and self._splits)
        option = shape is Shape.ANY and not numbered
        value = Unknown(option=option, single=single, shape=shape, numbered=numbered)
        return value, segment.quoted

    def _add_unknown(self, value: Unknown, *, quoted: bool) -> None:
        keeps = quoted or value.shape is not Shape.ANY or all(map(plain, value.choices or ("*",)))
        if self._splits and not keeps:
            value = _split(value)
        self._single = self._single and value.single
        self._shape = min(self._shape, value.shape)
        self._parts.append(value)

    def result(self) -> Argument:
        """Return the joined argument."""
        joined = self._joined()
        if self._optional and isinstance(joined, Unknown) and joined.single:
            return replace(joined, optional=True)
        return joined

    def _joined(self) -> Argument:
        parts = self._parts
        if len(parts) == 1 and self._single:
            return parts[0]
        if all(isinstance(part, str) for part in parts):
            return "".join(part for part in parts if isinstance(part, str))
        if self._single and (choices := self._choices()):
            one = join(choices)
            return one if isinstance(one, str) else replace(one, numbered=self._numbered())
        prefix = self._prefix()
        whole = self._single  # and stays so where the value is split later
        if not self._splits:
            self._single = True
        pattern = self._pattern()
        first = parts[0]
        if len(parts) == 1 and isinstance(first, Unknown) and first.tells:
            return first
        split = not self._single and pattern is None
        option = split or self._begins_with_dash()
        shape = Shape.ANY
        if whole and not option and (not prefix or plain(prefix)):
            texts = [part for part in parts if isinstance(part, str)]
            shape = self._shape if all(map(plain, filter(None, texts))) else Shape.ANY
            shape = min(shape, Shape.WORD)
        return Unknown(
            prefix=prefix,
            option=option,
            single=self._single,
            shape=shape,
            pattern=pattern,
            numbered=self._numbered() if self._single else "",
            suffix=self._suffix(),
        )

    def _begins_with_dash(self) -> bool:
        """Return whether the text may begin with a dash, for which parts before it may be empty."""
        for part in self._parts:
            if not isinstance(part, str) and part.prefix:
                return part.prefix.startswith("-")
            if _dashed(part):
                return True
            if _filled(part):
                return False
        return False

    def _choices(self) -> list[Argument]:
        """Return every text that it may be, where each computed part is one of a few."""
        texts = [""]
        for part in self._parts:
            choices = (part,) if isinstance(part, str) else part.choices
            texts = [text + choice for text in texts for choice in choices]
            if len(texts) > _MAX_CHOICES:
                return []
        return list(texts)

    def _numbered(self) -> str:
        """Return the text with a mark for each number, where only numbers are computed."""
        text = ""
        for part in self._parts:
            if isinstance(part, str) and NUMBER not in part:
                text += part
            elif isinstance(part, Unknown) and (part.numbered or part.shape is Shape.INTEGER):
                text += part.numbered or NUMBER
            else:
                return ""
        return text

    def _prefix(self) -> str:
        text = ""
        for part in self._parts:
            if isinstance(part, Unknown):
                return text + part.prefix
            text += part
        return text

    def _suffix(self) -> str:
        text = ""
        for part in reversed(self._parts):
            if isinstance(part, Unknown):
                return part.suffix + text
            text = part + text
        return text

    def _pattern(self) -> str | None:
        """Return the glob of the whole word, where each computed part of it is a glob."""
        parts: list[str] = []
        for part in self._parts:
            if isinstance(part, str):
                parts.append(glob_escape(part))
            elif part.pattern is None:
                return None
            else:
                parts.append(part.pattern)
        return "".join(parts) if any(isinstance(part, Unknown) for part in self._parts) else None


def _split(value: Unknown) -> Unknown:
    """Return what an unquoted expansion may become where an empty text is no argument at all."""
    words: list[Argument] = [choice for choice in value.choices if choice]
    if words and all(plain(word) for word in words if isinstance(word, str)):
        return several(join(words))
    return Unknown(prefix=value.prefix, single=False)


def _unquoted(text: str) -> Unknown:
    """Return what an unquoted expansion to `text` may become: nothing, or several arguments."""
    found = _SPECIAL.search(text)
    return Unknown(prefix=text[: found.start()] if found else "", single=False)
