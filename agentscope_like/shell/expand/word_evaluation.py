"""Evaluates a word: what is known of the arguments that its segments expand to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from glob import escape as glob_escape
from typing import TypeAlias

from msgspec.structs import replace

from agentscope_like.shell.expand.word_names import names_of_word
from agentscope_like.shell.syntax import (
    Arithmetic,
    Glob,
    Literal,
    Segment,
    Substitution,
    Tilde,
    Variable,
    Word,
    covered,
    opens,
)
from agentscope_like.shell.values import (
    MAX_CHOICES,
    NUMBER,
    Argument,
    Names,
    Shape,
    Unknown,
    is_filled,
    join,
    may_be_option,
    plain,
    split,
    unquoted,
)

__all__ = ["evaluate"]

_TILDE_DIRECTORIES = frozenset("+-")


_ValueOf: TypeAlias = Callable[[Variable | Substitution], tuple[Argument, Names]]


def evaluate(word: Word, value_of: _ValueOf, *, home: str | None, splits: bool = True) -> Argument:
    """Return what is known of the arguments that `word` expands to.

    Args:
        word: The word as the reader read it.
        value_of: Returns what a segment expands to, and what is known of the file names in that.
        home: The home directory that a lone `~` becomes, or None where unknown.
        splits: Whether bash splits and globs it; false for the value of an assignment, the
            subject of a `case` and the words of `[[ ]]`.
    """
    segments = word.segments
    if len(segments) == 1 and isinstance(segments[0], Literal):
        return segments[0].text
    builder = _Builder(value_of, home, splits)
    opened = next((number for number, each in enumerate(segments) if opens(each)), len(segments))
    read = covered(segments)
    for number, segment in enumerate(read):
        if number > opened and not isinstance(segment, Glob):
            builder.add_bracketed(segment)
        else:
            builder.add(segment)
    value = _joined(builder.parts, splits=splits)
    if isinstance(value, str):
        return value
    optional = value.optional or (builder.optional and value.single)
    return replace(value, optional=optional, names=names_of_word(read, builder.names))


class _Builder:
    """Expands the segments of one word.

    Attributes:
        parts: What each becomes.
        optional: Whether the word is no argument at all if its text is empty.
        names: What is known of the file names in the computed segments, by their identity.
    """

    def __init__(self, value_of: _ValueOf, home: str | None, splits: bool) -> None:
        self.parts: list[Argument] = []
        self.optional = splits
        self.names: dict[int, Names] = {}
        self._value_of = value_of
        self._home = home
        self._splits = splits

    def add(self, segment: Segment) -> None:
        """Append the expansion of `segment`."""
        value, quoted = self._value(segment)
        if quoted or isinstance(value, str) or value.filled or value.choices:
            self.optional = False
        if isinstance(value, str) and not (quoted or plain(value)):
            value = unquoted(value)
        if self._splits and isinstance(value, Unknown) and not (quoted or _stays_one(value)):
            value = split(value)
        self.parts.append(value)

    def add_bracketed(self, segment: Segment) -> None:
        """Append what a segment behind an open bracket becomes.

        The `*` that stands for the brackets matches any text without a slash.
        """
        value, quoted = self._value(segment)
        texts = (value,) if isinstance(value, str) else value.choices
        is_one = quoted or all(map(plain, texts))
        if not texts or not is_one or any("/" in text for text in texts):
            self.parts.append(Unknown(single=False))

    def _value(self, segment: Segment) -> tuple[Argument, bool]:
        """Return the expansion of `segment`, and whether it is neither split nor globbed."""
        match segment:
            case Literal(text):
                return text, True
            case Tilde(user):
                known = self._home if not user else None
                is_directory = user in _TILDE_DIRECTORIES or not user
                return known or Unknown(prefix="/" if is_directory else "~", option=False), True
            case Glob(text):
                return Unknown(single=False, pattern=text), True
            case Arithmetic():
                return Unknown(option=False, shape=Shape.INTEGER, filled=True), True
            case Substitution(opener="<(" | ">("):
                self._value_of(segment)
                return Unknown(prefix="/dev/fd/", option=False, shape=Shape.WORD), True
            case Substitution() | Variable():
                value, self.names[id(segment)] = self._value_of(segment)
                joins = isinstance(segment, Variable) and segment.name[-1] in "@*]"
                is_one = segment.quoted and self._splits and not joins
                if is_one and isinstance(value, Unknown):
                    value = replace(value, single=True)
                return value, segment.quoted


def _stays_one(value: Unknown) -> bool:
    """Return whether word splitting and globbing leave a value as it is."""
    return value.shape is not Shape.ANY or all(map(plain, value.choices or ("*",)))


def _joined(parts: Sequence[Argument], *, splits: bool) -> Argument:
    """Return what is known of a word of some parts."""
    computed = [part for part in parts if isinstance(part, Unknown)]
    is_one = all(part.single for part in computed)
    if len(parts) == 1 and (is_one or computed[0].tells):
        return parts[0]
    if is_one and (choices := _choices(parts)):
        one = join(choices)
        return one if isinstance(one, str) else replace(one, numbered=_numbered(parts))
    prefix, end = _prefix(parts), _end(parts)
    is_glob = all(part.pattern is not None for part in computed)
    option = (splits and not is_one and not is_glob) or _begins_with_dash(parts)
    texts = [prefix, *(part for part in parts if isinstance(part, str))]
    is_plain = is_one and not option and all(map(plain, filter(None, texts)))
    return Unknown(
        prefix=prefix,
        option=option,
        single=is_one or not splits,
        shape=min(Shape.WORD, *(part.shape for part in computed)) if is_plain else Shape.ANY,
        pattern=end if is_glob else None,
        numbered=_numbered(parts) if is_one or not splits else "",
        end=end,
    )


def _begins_with_dash(parts: Sequence[Argument]) -> bool:
    """Return whether the text may begin with a dash; leading parts may be empty."""
    for part in parts:
        if not isinstance(part, str) and part.prefix:
            return part.prefix.startswith("-")
        if may_be_option(part):
            return True
        if is_filled(part):
            return False
    return False


def _choices(parts: Sequence[Argument]) -> list[Argument]:
    """Return all possible texts, if each computed part has only a few."""
    texts = [""]
    for part in parts:
        choices = (part,) if isinstance(part, str) else part.choices
        texts = [text + choice for text in texts for choice in choices]
        if len(texts) > MAX_CHOICES:
            return []
    return list(texts)


def _numbered(parts: Sequence[Argument]) -> str:
    """Return the text with a mark for each number, if only numbers are computed."""
    text = ""
    for part in parts:
        if isinstance(part, str) and NUMBER not in part:
            text += part
        elif isinstance(part, Unknown) and (part.numbered or part.shape is Shape.INTEGER):
            text += part.numbered or NUMBER
        else:
            return ""
    return text


def _prefix(parts: Sequence[Argument]) -> str:
    """Return the literal text that some parts begin with."""
    text = ""
    for part in parts:
        if isinstance(part, Unknown):
            return text + part.prefix
        text += part
    return text


def _end(parts: Sequence[Argument]) -> str:
    """Return the glob that some parts end with, after the last of which none is known."""
    end = ""
    for part in reversed(parts):
        if isinstance(part, Unknown) and part.pattern is None:
            return part.end + end
        end = (glob_escape(part) if isinstance(part, str) else part.pattern or "") + end
    return end
