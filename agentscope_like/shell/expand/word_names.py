"""Says which file names a word may become, from those that its computed segments may hold."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec.structs import replace

from agentscope_like.shell.syntax import Glob, Literal, Segment, Tilde, Variable, Word
from agentscope_like.shell.values import (
    NO_NAMES,
    SPOKEN_NAMES,
    UNKNOWN_NAMES,
    VARIABLE,
    Argument,
    Names,
    any_of,
    names_of,
    put_together,
    unknown_names,
)

__all__ = ["names_in_text", "names_in_variable", "names_of_word", "shown_text"]

_PLACES = frozenset({"HOME", "PWD"})
"""Variables of a known text in front of a name."""

_NUMBERS = frozenset("#?$!") | {"RANDOM", "LINENO", "SECONDS", "UID", "EUID", "PPID", "BASHPID"}
_DEFAULTS = frozenset({":-", "-", ":=", "="})
_ALTERNATIVES = frozenset({":+", "+"})
_PLAIN = _DEFAULTS | {None, ":?", "?"}
_PIECES_OF_PATHS = frozenset({("##", "*/"), ("%", "/*"), ("#", "./")})


def _is_computed(segment: Segment) -> bool:
    """Return whether the text of a segment does not stand in the command."""
    if isinstance(segment, Variable):
        return segment.name not in _PLACES or segment.operator is not None
    return not isinstance(segment, Literal | Glob | Tilde)


def names_of_word(segments: Sequence[Segment], computed: Mapping[int, Names]) -> Names:
    """Return what is known of the name that a word becomes.

    Args:
        segments: Its segments.
        computed: What is known of those that are computed, by their identity.
    """
    end = segments[-1:]
    if end and isinstance(end[0], Literal) and end[0].text == "\n":  # of a here-document's line
        segments = segments[:-1]
    before, last = _cut_at_name(segments)
    known = [computed.get(id(each), NO_NAMES) for each in (*last, *before) if _is_computed(each)]
    names = any_of([*known, NO_NAMES])
    if len(last) == 1 and _is_computed(last[0]):
        if not before:
            return names
        return put_together(names) if names.spoken else replace(names, exact=False)
    is_told = names.unknown and not names.unknown.startswith(VARIABLE)
    ends_so = not last or (not _is_computed(last[-1]) and not isinstance(last[-1], Glob))
    if names.is_harmless or not any(map(_is_computed, last)):
        return replace(names, unknown=names.unknown if is_told else "", spoken=True, exact=False)
    if ends_so and not is_told:  # its known end is looked at
        return replace(names, unknown="", spoken=True, exact=False)
    return put_together(names)


def names_in_text(word: Word, value: Argument) -> Names:
    """Return what is known of the names in the text of a here-document or here-string."""
    if not any(map(_is_computed, word.segments)):
        return SPOKEN_NAMES
    is_alone = all(isinstance(each, Literal) and each.text == "\n" for each in word.segments[1:])
    return names_of(value) if is_alone else put_together(NO_NAMES)


def names_in_variable(variable: Variable, base: Argument, given: Argument) -> Names:
    """Return what is known of the names that the expansion of a variable becomes."""
    operator = variable.operator
    if operator == "length" or (variable.name in _NUMBERS and operator is None):
        return NO_NAMES
    if operator in _ALTERNATIVES:
        return names_of(given)
    unknown = f"{VARIABLE}{variable.name.partition('[')[0]}`"
    held = names_of(base)
    held = unknown_names(unknown) if held == UNKNOWN_NAMES else replace(held, exact=False)
    if operator in _DEFAULTS:
        return any_of([held, names_of(given)])
    if operator in _PLAIN or held.is_harmless:
        return held
    argument = variable.argument
    text = None if argument is None else shown_text(argument)
    if (operator, text) in _PIECES_OF_PATHS and not held.spoken:
        return held
    return replace(held, unknown=held.unknown or unknown)


def shown_text(word: Word) -> str:
    """Return a word as a person may be shown it."""
    return "".join(_texts(word))


def _texts(word: Word) -> Iterator[str]:
    for segment in word.segments:
        if isinstance(segment, Variable):
            yield f"${segment.name}"
        else:
            yield segment.text if isinstance(segment, Literal | Glob) else "..."


def _cut_at_name(segments: Sequence[Segment]) -> tuple[Sequence[Segment], Sequence[Segment]]:
    """Return the segments of the directory that a word begins with, and of the name behind it."""
    for number in range(len(segments) - 1, -1, -1):
        segment = segments[number]
        if isinstance(segment, Literal | Glob) and "/" in segment.text:
            name = segment.text.rpartition("/")[2]
            begun = (replace(segment, text=name),) if name else ()
            return segments[: number + 1], (*begun, *segments[number + 1 :])
    return (), segments
