"""Masks secrets in text, whole or streamed."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from agentscope_like.exception import ConfigurationError
from agentscope_like.observability.forms import SHORTEST_SECRET, forms_of

__all__ = ["MASK", "MaskedStream", "SecretMasker"]

MASK = "[masked]"
"""The text that replaces a secret."""

_BREAKS = (re.compile(r"[\r\n]+"), re.compile(r"(?:[\r\n]|\\{1,2}[rn])+"))
"""Line breaks, also as escaped by JSON once or twice."""

_BREAK_BEGUN = re.compile(r"\\{1,2}\Z")
_MOST_BREAKS = 7
"""The maximum growth in length of a form that is split into lines."""

_Span = tuple[int, int]


class SecretMasker:
    """Replaces registered secrets in text, in any of their forms.

    Args:
        secrets: The first secrets; more may be registered at any time.

    Raises:
        ConfigurationError: As for `register`.
    """

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        self._forms = _Forms((), ())
        for secret in secrets:
            self.register(secret)

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"

    def register(self, value: str) -> None:
        """Mask this value from now on.

        Args:
            value: The secret; surrounding whitespace is ignored.

        Raises:
            ConfigurationError: It has fewer than four characters, which would mask half of any
                text.
        """
        secret = value.strip()
        if len(secret) < SHORTEST_SECRET:
            raise ConfigurationError(
                f"a secret of {len(secret)} characters cannot be told from ordinary text: register "
                f"one of {SHORTEST_SECRET} or more"
            )
        forms = forms_of(secret)
        self._forms = _Forms(
            {*self._forms.plain, *forms.plain}, {*self._forms.wrapped, *forms.wrapped}
        )

    def mask(self, text: str) -> str:
        """Return the text with each secret replaced by `MASK`."""
        spans = self._forms.found(text)
        return _rendered(text, len(text), spans, covered=0) if spans else text

    def mask_value(self, value: Any) -> Any:
        """Return JSON data with all its strings masked, keys included."""
        if isinstance(value, str):
            return self.mask(value)
        if isinstance(value, Mapping):
            return {self.mask_value(key): self.mask_value(item) for key, item in value.items()}
        if isinstance(value, list):
            return [self.mask_value(item) for item in value]
        if isinstance(value, tuple) and type(value) is tuple:
            return tuple(self.mask_value(item) for item in value)
        return value

    def mask_bytes(self, data: bytes) -> bytes:
        """Return the bytes with each secret replaced by as many asterisks."""
        text = data.decode("latin-1")
        for start, end in self._forms.as_bytes().found(text):
            text = f"{text[:start]}{'*' * (end - start)}{text[end:]}"
        return text.encode("latin-1")

    def stream(self) -> MaskedStream:
        """Return a masker for streamed text."""
        return MaskedStream(self)

    @property
    def forms(self) -> _Forms:
        """Return the forms to search for."""
        return self._forms


class MaskedStream:
    """Masks streamed text; a secret that is split between pieces is masked too.

    Its joined output equals `SecretMasker.mask` of its joined input. It holds back only an end that
    may be the beginning of a secret.
    """

    def __init__(self, masker: SecretMasker) -> None:
        self._masker = masker
        self._held = ""
        self._covered = 0  # how much of what is held was masked already

    def feed(self, text: str) -> str:
        """Add a piece and return the text that is safe to show."""
        forms = self._masker.forms
        whole = self._held + text
        cut = forms.earliest_beginning(whole)
        return self._shown(whole, cut, forms.found(whole))

    def flush(self) -> str:
        """Return the text held back, at the end of the stream."""
        whole = self._held
        return self._shown(whole, len(whole), self._masker.forms.found(whole))

    def _shown(self, whole: str, cut: int, found: Sequence[_Span]) -> str:
        spans = _merged([(0, self._covered), *found]) if self._covered else found
        shown = _rendered(whole, cut, spans, covered=self._covered)
        reach = max([self._covered, *(end for start, end in spans if start < cut)])
        self._held = whole[cut:]
        self._covered = max(0, reach - cut)
        return shown


class _Forms:
    """All forms of all secrets, prepared for searching."""

    def __init__(self, plain: Iterable[str], wrapped: Iterable[str]) -> None:
        self.plain = sorted(plain)
        self.wrapped = sorted(wrapped)
        self._heads = frozenset(form[:SHORTEST_SECRET] for form in (*self.plain, *self.wrapped))
        self._longest = max(map(len, (*self.plain, *self.wrapped)), default=0)

    def as_bytes(self) -> _Forms:
        """Return the forms as UTF-8 bytes decoded as Latin-1."""

        def read(forms: Iterable[str]) -> list[str]:
            return [form.encode("utf-8", "surrogatepass").decode("latin-1") for form in forms]

        return _Forms(read(self.plain), read(self.wrapped))

    def found(self, text: str) -> list[_Span]:
        """Return the spans of forms in order; overlapping ones are merged."""
        spans = [span for form in self.plain for span in _occurrences(form, text)]
        for breaks, joined in _joined(text):
            inside = [span for form in self.wrapped for span in _occurrences(form, joined)]
            if inside and len(joined) != len(text):
                places = _places(text, breaks)
                inside = [(places[start], places[end - 1] + 1) for start, end in inside]
            spans += inside
        return _merged(spans)

    def earliest_beginning(self, text: str) -> int:
        """Return where the end of the text may be the beginning of a form."""
        earliest = _earliest(self.plain, self._heads, text, len(text) - self._longest + 1)
        offset = max(0, len(text) - _MOST_BREAKS * self._longest)
        tail = _BREAK_BEGUN.sub("", text[offset:])
        for breaks, joined in _joined(tail):
            place = _earliest(self.wrapped, self._heads, joined, len(joined) - self._longest + 1)
            if place < len(joined):
                earliest = min(earliest, offset + _places(tail, breaks)[place])
        return earliest


def _earliest(forms: Sequence[str], heads: frozenset[str], text: str, first: int) -> int:
    """Return the first position, from `first` on, at which the rest of the text begins a form."""
    whole_heads = len(text) - SHORTEST_SECRET
    for place in range(max(0, first), len(text)):
        if place <= whole_heads and text[place : place + SHORTEST_SECRET] not in heads:
            continue
        if _begins(forms, text[place:]):
            return place
    return len(text)


def _begins(forms: Sequence[str], text: str) -> bool:
    """Return whether the text is a proper prefix of a form; forms are sorted."""
    place = bisect_left(forms, text)
    if place < len(forms) and forms[place] == text:
        place += 1
    return place < len(forms) and forms[place].startswith(text)


def _occurrences(form: str, text: str) -> list[_Span]:
    spans = []
    start = text.find(form)
    while start >= 0:
        spans.append((start, start + len(form)))
        start = text.find(form, start + 1)
    return spans


def _joined(text: str) -> Iterator[tuple[re.Pattern[str], str]]:
    """Yield the text without its line breaks, for each kind of line break in it."""
    plain, escaped = _BREAKS
    yield plain, plain.sub("", text) if "\n" in text or "\r" in text else text
    if "\\n" in text or "\\r" in text:
        yield escaped, escaped.sub("", text)


def _places(text: str, breaks: re.Pattern[str]) -> list[int]:
    """Return the positions of the characters that are not line breaks."""
    places: list[int] = []
    end = 0
    for broken in breaks.finditer(text):
        places += range(end, broken.start())
        end = broken.end()
    return [*places, *range(end, len(text))]


def _merged(spans: Iterable[_Span]) -> list[_Span]:
    merged: list[_Span] = []
    for start, end in sorted(spans):
        if merged and start < merged[-1][1]:
            merged[-1] = merged[-1][0], max(end, merged[-1][1])
        else:
            merged.append((start, end))
    return merged


def _rendered(text: str, cut: int, spans: Iterable[_Span], *, covered: int) -> str:
    """Return the masked text up to `cut`, without the part already returned."""
    pieces: list[str] = []
    shown = 0
    for start, end in spans:
        if start >= cut:
            break
        pieces.append(text[shown:start])
        if start > 0 or not covered:
            pieces.append(MASK)
        shown = end
    pieces.append(text[shown:cut])
    return "".join(pieces)
