"""The table of programs that print names, and how strictly it is read."""

from __future__ import annotations

from typing import Any

import pytest

from agentscope_like.shell import analyze
from agentscope_like.shell.names import Prints, name_source
from agentscope_like.shell.names.name_sources import parse


def table(**fields: Any) -> dict[str, Any]:
    """Return a document with one filter, whose fields are given."""
    row = {"programs": "head", "keeps": "lines", "reason": "head(1)", **fields}
    return {"aliases": {}, "silent": [], "producer": [], "speaker": [], "filter": [row]}


def test_an_entry_says_what_a_program_prints() -> None:
    """Each of its programs has it."""
    (entry,) = parse(table(programs="head tail"))["tail"]
    assert entry.prints is Prints.ITS_LINES


@pytest.mark.parametrize(
    "fields",
    [
        {"keeps": "anything"},
        {"keeps": None},
        {"programs": ""},
        {"reason": ""},
        {"option": "-n"},
    ],
)
def test_an_entry_that_is_not_understood_is_an_error(fields: dict[str, Any]) -> None:
    """A field that there is not, or a value that it cannot have, is never passed over."""
    with pytest.raises(ValueError, match=r"head|programs"):
        parse(table(**fields))


def test_a_table_that_there_is_not_is_an_error() -> None:
    """A misspelt table would leave its entries out."""
    with pytest.raises(ValueError, match="filters"):
        parse({**table(), "filters": []})


@pytest.mark.parametrize(
    ("command", "prints"),
    [
        ("find src", Prints.PATHS),
        ("find src -printf x", None),
        ("ls", Prints.PATHS),
        ("ls src", Prints.NAMES),
        ("git ls-files", Prints.PATHS),
        ("git -C src ls-files", Prints.NAMES),
        ("git ls-files --format=x", None),
        ("grep -l x a", Prints.PATHS),
        ("grep -rn x .", Prints.MATCHES),
        ("grep -rn x a", None),
        ("echo a", Prints.ITS_WORDS),
        ("sort -u", Prints.ITS_LINES),
        ("sort -u f", None),
        ("uniq -c", Prints.ITS_PIECES),
        ("cut -d' ' -f1", Prints.ITS_PIECES),
        ("cut -d: -f1", Prints.FIRST_FIELDS),
        ("cut -d: -f2", None),
        ("cd src", Prints.NOTHING),
        ("no-such-program", None),
    ],
)
def test_what_a_command_prints(command: str, prints: Prints | None) -> None:
    """What it is told has to fit an entry; a program without one prints what nobody knows."""
    assert name_source(analyze(command, directory="/ws").parts[0]) is prints


@pytest.mark.parametrize(
    ("alias", "name"),
    [("gfind .", "find ."), ("fdfind x", "fd x"), ("gls", "ls"), ("egrep -l x a", "grep -l x a")],
)
def test_an_alias_prints_what_its_program_prints(alias: str, name: str) -> None:
    """The same program under another name has the same entries."""
    known, other = (analyze(each, directory="/ws").parts[0] for each in (name, alias))
    assert name_source(other) is name_source(known) is not None
