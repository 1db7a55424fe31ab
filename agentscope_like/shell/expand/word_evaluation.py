"""Evaluates a word: what is known of the arguments that its segments expand to."""

from __future__ import annotations

from glob import escape as glob_escape
from typing import Protocol

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
    NO_NAMES,
    NUMBER,
    Argument,
    Names,
    Output,
    Shape,
    Unknown,
    is_filled,
    join,
    may_be_option,
    plain,
    split,
    unquoted,
)

__all__ = ["Environment", "evaluate"]

_TILDE_DIRECTORIES = frozenset("+-")


class Environment(Protocol):
    """The values that `evaluate` needs from the shell."""

    @property
    def home(self) -> str | None:
        """Return the home directory that a lone `~` becomes, or None where unknown."""

    def variable(self, segment: Variable, /) -> tuple[Argument, Names]:
        """Return what a parameter expands to, and what is known of the file names in that."""

    def output(self, segment: Substitution, /) -> Output:
        """Return what a substitution prints."""


def evaluate(word: Word, environment: Environment, *, splits: bool = True) -> Argument:
    """Return what is known of the arguments that `word` expands to.

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
    opened = next((number for number, each in enumerate(segments) if opens(each)), len(segments))
    read = covered(segments)
    for number, segment in enumerate(read):
        if number > opened and not isinstance(segment, Glob):
            builder.add_bracketed(segment)
        else:
            builder.add(segment)
    value = builder.result()
    if isinstance(value, str):
        return value
    return replace(value, names=names_of_word(read, builder.names))


class _Builder:
    """Joins the segments of one word.

    Attributes:
        names: What is known of the file names in the computed segments, by their identity.
    """

    def __init__(self, environment: Environment, splits: bool) -> None:
        self.names: dict[int, Names] = {}
        self._environment = environment
        self._splits = splits
        self._parts: list[Argument] = []
        self._single = True
        self._optional = splits
        self._shape = Shape.WORD

    def add(self, segment: Segment) -> None:
        """Append the expansion of `segment`."""
        value, quoted = self._value(segment)
        if quoted or isinstance(value, str) or value.filled or value.choices:
            self._optional = False
        if isinstance(value, Unknown):
            self._add_unknown(value, quoted=quoted)
        elif quoted or isinstance(segment, Literal | Tilde) or plain(value):
            self._parts.append(value)
        else:
            self._add_unknown(unquoted(value), quoted=False)

    def add_bracketed(self, segment: Segment) -> None:
        """Append what a segment behind an open bracket becomes.

        The `*` that stands for the brackets matches any text without a slash.
        """
        value, quoted = self._value(segment)
        texts = (value,) if isinstance(value, str) else value.choices
        is_one = quoted or all(map(plain, texts))
        if not texts or not is_one or any("/" in text for text in texts):
            self._add_unknown(Unknown(single=False), quoted=False)

    def _value(self, segment: Segment) -> tuple[Argument, bool]:
        """Return the expansion of `segment`, and whether it is neither split nor globbed."""
        match segment:
            case Variable(quoted=quoted, name=name):
                value, self.names[id(segment)] = self._environment.variable(segment)
                is_one = quoted and self._splits and name[-1] not in "@*]"
                if is_one and isinstance(value, Unknown) and not value.single:
                    value = replace(value, single=True)
                return value, quoted
            case Substitution():
                return self._printed(segment)
            case _:
                self.names[id(segment)] = NO_NAMES
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
        shape, single, numbered, choices, _, names = self._environment.output(segment)
        is_pipe = segment.opener in {"<(", ">("}
        self.names[id(segment)] = names
        if is_pipe:
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
            value = split(value)
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
        cut = not self._single and pattern is None
        option = cut or self._begins_with_dash()
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
            tail="" if pattern is not None else self._tail(),
        )

    def _begins_with_dash(self) -> bool:
        """Return whether the text may begin with a dash; leading parts may be empty."""
        for part in self._parts:
            if not isinstance(part, str) and part.prefix:
                return part.prefix.startswith("-")
            if may_be_option(part):
                return True
            if is_filled(part):
                return False
        return False

    def _choices(self) -> list[Argument]:
        """Return all possible texts, if each computed part has only a few."""
        texts = [""]
        for part in self._parts:
            choices = (part,) if isinstance(part, str) else part.choices
            texts = [text + choice for text in texts for choice in choices]
            if len(texts) > MAX_CHOICES:
                return []
        return list(texts)

    def _numbered(self) -> str:
        """Return the text with a mark for each number, if only numbers are computed."""
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

    def _tail(self) -> str:
        """Return the glob at the end of the text, after its last unknown part."""
        parts: list[str] = []
        for part in reversed(self._parts):
            if isinstance(part, str):
                parts.append(glob_escape(part))
            elif part.pattern is not None:
                parts.append(part.pattern)
            else:
                parts.append(part.ending)
                break
        return "".join(reversed(parts))

    def _pattern(self) -> str | None:
        """Return the glob of the whole word, if each computed part is a glob."""
        parts: list[str] = []
        for part in self._parts:
            if isinstance(part, str):
                parts.append(glob_escape(part))
            elif part.pattern is None:
                return None
            else:
                parts.append(part.pattern)
        return "".join(parts) if any(isinstance(part, Unknown) for part in self._parts) else None
