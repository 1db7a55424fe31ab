"""Reads the project's TOML tables into records and refuses unknown fields."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import msgspec
from msgspec import Struct

from agentscope_like.lazy_property import lazy_property
from agentscope_like.nearest import nearest

__all__ = [
    "Expression",
    "Lines",
    "TableError",
    "WordSet",
    "convert_table",
    "parse_table",
    "read_table",
    "table_beside",
]

_Record = TypeVar("_Record", bound=Struct)

_Matching: TypeAlias = Callable[[str], re.Match[str] | None]

_UNKNOWN = re.compile(r"Object contains unknown field `(.+?)`")


class TableError(ValueError):
    """A table that does not fit its record."""


class WordSet(frozenset[str]):
    """Words of a table, which are written as one text with blanks between them."""


class Lines(tuple[str, ...]):
    """Lines of a table, which are written as one text; those that begin with `# ` are comments."""

    __slots__ = ()


class Expression:
    """A regular expression of a table, compiled on first use.

    Most decisions need few of a table's expressions, and compiling is slow. An invalid one raises
    `re.error` on first use.

    Args:
        text: The expression as written.
    """

    def __init__(self, text: str) -> None:
        self.text = text

    @lazy_property
    def fullmatch(self) -> _Matching:
        """What returns the match of a whole text, or None."""
        return re.compile(self.text).fullmatch

    @lazy_property
    def match(self) -> _Matching:
        """What returns the match of the beginning of a text, or None."""
        return re.compile(self.text).match


def table_beside(
    module: str, name: str, record: type[_Record], *nested: type[Struct]
) -> Callable[[], _Record]:
    """Return a function that returns the record of a file beside a module, read on first use.

    Args:
        module: The module's `__file__`.
        name: The file's name.
        record: As for `parse_table`.
        nested: As for `parse_table`.
    """
    return cache(lambda: read_table(Path(module).with_name(name), record, *nested))


def read_table(file: Path, record: type[_Record], *nested: type[Struct]) -> _Record:
    """Return the record that a file holds; see `parse_table`."""
    return parse_table(file.read_text("utf-8"), record, *nested, name=file.name)


def parse_table(text: str, record: type[_Record], *nested: type[Struct], name: str) -> _Record:
    """Return the record that a TOML text holds; a string becomes what the record wants.

    Args:
        text: The text, as TOML.
        record: The record, whose type forbids unknown fields.
        nested: The types of its nested records, to suggest the nearest name of an unknown field.
        name: The name of the text in errors.

    Raises:
        TableError: It is not TOML, or its fields do not fit the record.
    """
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise TableError(f"{name}: {error}.") from error
    return convert_table(data, record, *nested, name=name)


def convert_table(data: object, record: type[_Record], *nested: type[Struct], name: str) -> _Record:
    """Return the record that a table holds, as `parse_table` does.

    Raises:
        TableError: Its fields do not fit the record.
    """
    try:
        return msgspec.convert(data, record, dec_hook=_converted)
    except msgspec.ValidationError as error:
        unknown = _UNKNOWN.match(str(error))
        fields = [*record.__struct_fields__]
        fields += (field for each in nested for field in each.__struct_fields__)
        hint = nearest(unknown[1], fields) if unknown else ""
        raise TableError(f"{name}: {error}{hint}.") from error


def _converted(wanted: type, value: Any) -> Any:
    """Return a text as an expression, as words or as lines.

    Raises:
        ValueError: It is no text.
    """
    if wanted not in (Expression, Lines, WordSet) or not isinstance(value, str):
        raise ValueError(f"Expected `{wanted.__name__}`, got `{type(value).__name__}`")
    if wanted is Lines:
        return Lines(line for line in value.split("\n") if line and not line.startswith("# "))
    return Expression(value) if wanted is Expression else WordSet(value.split())
