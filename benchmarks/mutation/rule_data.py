"""Mutants of the rules that are data: the catalog of programs, and the tables beside it.

The catalog only allows, so what it does not list is its restriction; so do a few other tables.
Their mutants therefore allow more (a path is any text, a known but unlisted option is listed, a
narrowing is gone) or lose a whole line or table. That one allowed option among thousands is lost
costs a question at most, and is not a mutant. Of the tables that restrict, each word is one.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import PurePath
from typing import NamedTuple

from benchmarks.mutation.expressions import changed_expressions
from benchmarks.mutation.mutant import Mutant

__all__ = ["changes_data", "rule_mutants"]

_KEY = r"""(?:[\w-]+|"[^"\n]*"|'[^'\n]*')"""
_ARRAY = r"""\[(?:[^\]"']|"[^"\n]*"|'[^'\n]*')*\]"""
_TEXT = r'''"""(?:.*?)"""|"[^"\n]*"|'[^'\n]*\''''
_LINE = re.compile(rf"^({_KEY}(?:\.{_KEY})*) = ({_TEXT}|{_ARRAY}|true|false|\d+)", re.M | re.S)
_HEADER = re.compile(r"^\[.*\]$", re.MULTILINE)
_WORD = re.compile(r"\"[^\"\n]*\"|[^\s\"']+")
_COMMENT = re.compile(r"^#.*$", re.MULTILINE)
_STRING = re.compile(r"""'[^'\n]*'|"[^"\n]*\"""")
_ROLE = re.compile(r"[a-z ]+")
_SPEAKS_ONLY = frozenset({"source", "does", "reason"})
_NOT_PROGRAMS = frozenset({"environment.toml", "traits.toml"})
"""Tables of the catalog that restrict, as those outside of it do."""

_ALLOWING_TOO = frozenset({"name_sources.toml", "private_files.toml", "rule_options.toml"})
"""Tables outside of the catalog that allow."""

_SENTENCES = frozenset({"purposes.toml"})
"""Tables of which no single word decides anything."""

_TO_THE_END = frozenset({"command", "script"})
"""Roles that take all that follows, however many they are said to be."""

_RESTRICTING_KEYS = frozenset({"needs", "pieces", "endings"})
"""Keys of tables that allow, whose words each restrict."""

_WORD_LISTS = frozenset({"needs", "reserved", "reserved_prefixes"})


class _Line(NamedTuple):
    """One `key = value`, and where it and its value stand."""

    key: str
    value: str
    start: int
    value_start: int
    end: int


class _Part(NamedTuple):
    """A change, in characters."""

    start: int
    end: int
    text: str
    operator: str


def rule_mutants(file: str, source: bytes) -> Iterator[Mutant]:
    """Yield the mutants of the TOML file `file`; `changes_data` says which of them are any."""
    text = source.decode()
    name = PurePath(file).name
    allows = PurePath(file).parent.name == "catalog" and name not in _NOT_PROGRAMS
    if allows or name in _ALLOWING_TOO or name in _SENTENCES:
        parts = _allowing(text)
    else:
        parts = _restricting(text, values=name == "environment.toml")
    for part in parts:
        lines = (text.count("\n", 0, part.start) + 1, text.count("\n", 0, part.end) + 1)
        start, end = (len(text[:offset].encode()) for offset in (part.start, part.end))
        yield Mutant(file, start, end, part.text, part.operator, lines)


def changes_data(mutant: Mutant, source: bytes) -> bool:
    """Return whether the mutant makes another table of a TOML file, and one that can be read."""
    try:
        changed = tomllib.loads(mutant.applied(source).decode())
    except tomllib.TOMLDecodeError:
        return False
    return changed != tomllib.loads(source.decode())


def _lines(text: str) -> Iterator[_Line]:
    for found in _LINE.finditer(text):
        yield _Line(found[1], found[2], found.start(), found.start(2), found.end())


def _tables(text: str) -> Iterator[_Part]:
    headers = list(_HEADER.finditer(text))
    if not headers:
        return
    ends = [*(header.start() for header in headers[1:]), len(text)]
    for header, end in zip(headers, ends, strict=True):
        yield _Part(header.start(), end, "", "remove table")


def _restricting(text: str, *, values: bool) -> Iterator[_Part]:
    """Yield the changes of a file whose words each restrict something."""
    yield from _tables(text)
    for line in _lines(text):
        if line.key in _SPEAKS_ONLY:
            continue
        yield _Part(line.start, line.end, "", "remove line")
        if values and line.key.startswith('"'):
            yield _Part(line.value_start, line.end, "'.*'", "any value")
        elif not values and line.value.startswith("'"):
            yield from _expressions(line)
        elif not values or line.key in _WORD_LISTS:
            yield from _fewer_words(line)


def _allowing(text: str) -> Iterator[_Part]:
    """Yield the changes of a file of the catalog."""
    yield from _tables(text)
    for line in _lines(text):
        if line.key in _SPEAKS_ONLY:
            continue
        yield _Part(line.start, line.end, "", "remove line")
        role, _, rest = line.key.strip("'").partition(".")
        if role in {"values", "optional"} and _role_of(rest) != "text":
            yield _Part(line.start, line.value_start, f"{role}.text = ", "any text")
        elif line.key == "operands":
            yield from _operands(line)
        elif line.key in _RESTRICTING_KEYS:
            yield from _fewer_words(line)
        elif line.key == "others":
            yield from _listed(text, line)


def _role_of(text: str) -> str:
    found = _ROLE.match(text.strip("\"'"))
    return found[0] if found and not text.strip("\"'")[found.end() :].startswith(":") else ""


def _operands(line: _Line) -> Iterator[_Part]:
    for string in _STRING.finditer(line.value):
        role = string[0].strip("\"'")
        start, end = line.value_start + string.start(), line.value_start + string.end()
        name, more = role.partition(":")[0].rstrip(".?"), role.partition(":")[0]
        suffix = more[len(name) :]
        if role != f"text{suffix}":
            yield _Part(start, end, f'"text{suffix}"', "any text")
        if suffix != "..." and name not in _TO_THE_END:
            yield _Part(start, end, f"'{role.replace(more, name + '...', 1)}'", "more operands")


def _listed(text: str, line: _Line) -> Iterator[_Part]:
    """Yield the table with one of the long options that exist, but are not allowed, allowed."""
    end = _HEADER.search(text, line.end)
    section = text[line.end : end.start() if end else len(text)]
    flags = re.search(r'^flags = ("""\n|")', section, re.MULTILINE)
    if flags is None:
        return
    at = line.end + flags.end()
    for word in _WORD.findall(line.value.strip('"')):
        yield _Part(at, at, f"{word} ", "allow option")


def _fewer_words(line: _Line) -> Iterator[_Part]:
    """Yield the line with a word of its texts left out, or one of the word sequences of `words`."""
    for string in re.finditer(_TEXT, line.value, re.DOTALL):
        quotes = 3 if string[0].startswith('"""') else 1
        begin = line.value_start + string.start() + quotes
        inner = string[0][quotes:-quotes]
        if line.key == "words" and line.value.startswith("["):
            yield _Part(begin, begin + len(inner), "no such word", "remove word")
            continue
        comments = [comment.span() for comment in _COMMENT.finditer(inner)]
        for word in _WORD.finditer(inner):
            if any(first <= word.start() < last for first, last in comments):
                continue
            yield _Part(begin + word.start(), begin + word.end(), "", "remove word")


def _expressions(line: _Line) -> Iterator[_Part]:
    for changed in changed_expressions(line.value.strip("'")):
        yield _Part(line.value_start, line.end, f"'{changed}'", "expression")
