"""The table of programs that print names, and how strictly it is read."""

from __future__ import annotations

import pytest

from agentscope_like.shell import analyze
from agentscope_like.shell.names.name_sources import Prints, name_source, parse
from agentscope_like.toml_tables import TableError

ROW = {"programs": "'head tail'", "prints": "'lines'", "reason": "'head(1)'"}


ENDS = (r"\n", r"\0", r"\000", r"\t", r"\r")
"""How `tr` names a line end, a NUL and a blank."""


def table(**fields: str | None) -> str:
    """Return a table with one filter, some of whose fields are given."""
    row = {**ROW, **fields}
    lines = [f"{name} = {value}" for name, value in row.items() if value is not None]
    return "\n".join(["[aliases]", "[[source]]", *lines])


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


@pytest.mark.parametrize(
    ("command", "prints"),
    [
        ("find src", Prints.PATHS),
        ("find src -printf x", None),
        ("ls", Prints.PATHS),
        ("ls src", Prints.NAMES),
        ("ls -1", Prints.PATHS),
        ("ls -l", Prints.NAMES),
        ("ls --hyperlink src", None),
        ("ls --time-style=+x src", None),
        *((f"{each} src", Prints.NAMES) for each in ("tree", "eza", "du", "du -sh", "eza -l")),
        ("du --time-style=+x src", None),
        *((f"tree {each} src", None) for each in ("--fromfile", "--info", "-H", "-aT", "-J", "-X")),
        *((f"tree {each} src", None) for each in ("--timefmt=x", "--title=x", "--fromtabfile")),
        ("du --files0-from=x", None),
        ("git ls-files", Prints.PATHS),
        ("git -C src ls-files", Prints.NAMES),
        ("git ls-files --format=x", None),
        ("grep -l x a", Prints.PATHS),
        ("grep -rn x .", Prints.MATCHES),
        ("grep -rn x a", None),
        ("echo a", Prints.ITS_WORDS),
        (r"echo '\056env'", Prints.NEW_WORDS),
        (r"printf '%s\n' a b", Prints.ITS_WORDS),
        ("printf '%s%s' a b", Prints.NEW_WORDS),
        ('printf "$x" a', Prints.NEW_WORDS),
        ("basename d/a", Prints.ITS_WORDS),
        ("basename a.py .py", Prints.NEW_WORDS),
        ("sort -u", Prints.ITS_LINES),
        ("sort -u f", None),
        ("uniq -c", Prints.ITS_PIECES),
        ("cut -d' ' -f1", Prints.ITS_PIECES),
        ("cut -d: -f1", Prints.FIRST_FIELDS),
        ("cut -d: -f2", None),
        *((f"tr '{each}' ' '", Prints.ITS_PIECES) for each in (*ENDS, " ", "\n", "\t")),
        *((f"tr -s ' ' '{each}'", Prints.ITS_PIECES) for each in ENDS),
        ("tr a '\\n'", None),
        ("tr '\\n' '\\0/'", None),
        ("tr '\\n' '\\057'", None),
        (r"tr -d '\r'", Prints.ITS_PIECES),
        (r"tr -d '\n'", None),
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
