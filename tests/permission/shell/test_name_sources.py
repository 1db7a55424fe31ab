"""The table of programs that print names, and how strictly it is read."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from agentscope_like.shell import analyze
from agentscope_like.shell.names.name_sources import Prints, name_source, parse
from agentscope_like.toml_tables import TableError

ROW = {"programs": "'head tail'", "prints": "'lines'", "reason": "'head(1)'"}


def table(**fields: str | None) -> str:
    """Return a table with one filter, some of whose fields are given."""
    row = {**ROW, **fields}
    lines = [f"{name} = {value}" for name, value in row.items() if value is not None]
    return "\n".join(["[[source]]", *lines])


def test_an_entry_says_what_a_program_prints() -> None:
    """Its other fields may be left out."""
    (entry,) = parse(table()).source
    assert entry.prints is Prints.ITS_LINES


@pytest.mark.parametrize(
    "fields",
    [
        {"prints": "'anything'"},
        {"prints": None},
        {"programs": "''"},
        {"programs": None},
        {"reason": "''"},
        {"reason": None},
        {"option": "'-n'"},
        {"needs": "'-n'"},
    ],
)
def test_an_entry_that_is_not_understood_is_an_error(fields: dict[str, str | None]) -> None:
    """A field that there is not, or a value that it cannot have, is never passed over."""
    with pytest.raises(TableError, match=r"name_sources"):
        parse(table(**fields))


def test_a_table_that_there_is_not_is_an_error() -> None:
    """A misspelt table would leave its entries out."""
    with pytest.raises(TableError, match="sources"):
        parse(table().replace("[[source]]", "[[sources]]"))


def printed() -> Iterator[tuple[str, str]]:
    """Yield the commands of `name_sources.txt`, with what they print."""
    text = Path(__file__).with_name("name_sources.txt").read_text("utf-8")
    for line in text.splitlines():
        if line and not line.startswith("#"):
            prints, _, command = line.partition(":")
            yield command.strip(), prints


def test_what_a_command_prints() -> None:
    """What it is told has to fit an entry; a program without one prints what nobody knows."""
    for command, prints in printed():
        found = name_source(analyze(command, directory="/ws").parts[0])
        assert ("unknown" if found is None else found.value) == prints, command


@pytest.mark.parametrize("blank", ["\n", "\t", " "])
def test_a_blank_is_known_as_it_is_written(blank: str) -> None:
    """`tr` makes blanks of others, whether bash or `tr` itself reads an escape."""
    part = analyze(f"tr '{blank}' ' '", directory="/ws").parts[0]
    assert name_source(part) is Prints.ITS_PIECES


@pytest.mark.parametrize(
    ("alias", "name"),
    [("fdfind x", "fd x"), ("dir", "ls"), ("exa", "eza"), ("egrep -l x a", "grep -l x a")],
)
def test_an_alias_prints_what_its_program_prints(alias: str, name: str) -> None:
    """The same program under another name has the same entries."""
    known, other = (analyze(each, directory="/ws").parts[0] for each in (name, alias))
    assert name_source(other) is name_source(known) is not None
