"""The project's own tables: what a record does not have, or cannot hold, is refused."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from msgspec import Struct

import agentscope_like
from agentscope_like.paths.sensitive import sensitive_table
from agentscope_like.paths.sensitive.sensitive_table import parse_sensitive
from agentscope_like.toml_tables import Expression, TableError, parse_table


class Row(Struct, frozen=True, forbid_unknown_fields=True):
    """A record within another."""

    names: frozenset[str] = frozenset()


class Table(Struct, frozen=True, forbid_unknown_fields=True):
    """A record as the tables have them."""

    pattern: Expression
    row: tuple[Row, ...] = ()


VALID = """
pattern = '(?s)a.*'
[[row]]
names = ["b"]
"""


def parsed(text: str) -> Table:
    """Return the record of a text."""
    return parse_table(text, Table, Row, name="x.toml")


def test_a_text_is_an_expression_where_one_is_wanted() -> None:
    """An expression is written as a text, with its flags in it."""
    table = parsed(VALID)
    assert table.pattern.fullmatch("a\n")
    assert not table.pattern.fullmatch("b")
    assert table.row == (Row(frozenset({"b"})),)


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ("pattern =", "patern =", "unknown field `patern`; did you mean 'pattern'?"),
        ("names =", "namse =", "unknown field `namse` - at `$.row[0]`; did you mean 'names'?"),
        ("pattern = '(?s)a.*'", "", "missing required field `pattern`"),
        ("'(?s)a.*'", "1", "Expected `Expression`, got `int`"),
        ('["b"]', "1", "Expected `array`, got `int` - at `$.row[0].names`"),
        ('["b"]', '["b"', "Unclosed array"),
    ],
)
def test_a_mistake_in_a_table_is_refused(before: str, after: str, message: str) -> None:
    """The error names the table and the place, and the nearest field where one is misspelt."""
    with pytest.raises(TableError, match=re.escape(message)) as refused:
        parsed(VALID.replace(before, after))
    assert str(refused.value).startswith("x.toml: ")
    assert parsed(VALID).row


def test_all_expressions_of_the_tables_can_be_compiled() -> None:
    """An expression is compiled when it is first asked, so that a mistake would wait until then."""
    package = Path(agentscope_like.__file__).parent
    names = ("downloads", "endless", "environment", "history", "printing", "showing", "secrets")
    texts = [
        text
        for name in names
        for file in package.rglob(f"{name}.toml")
        for text in re.findall(r"= '([^'\n]*)'$", file.read_text("utf-8"), re.MULTILINE)
    ]
    assert len(texts) > 20
    for text in texts:
        re.compile(text)
    with pytest.raises(re.error):
        parsed(VALID.replace("(?s)a.*", "(a")).pattern.fullmatch("a")


def test_the_documentation_of_what_is_sensitive_to_read_is_named() -> None:
    """The first line of each list of secrets says where its program documents them."""
    text = Path(sensitive_table.__file__).with_name("sensitive.toml").read_text("utf-8")
    secrets = [each for each in tomllib.loads(text)["sensitive"] if "read" in each["asks"]]
    assert len(secrets) > 10
    for each in secrets:
        assert each["paths"].startswith("# "), each["does"]


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ("asks =", "ask =", "unknown field `ask` - at `$.sensitive[0]`; did you mean 'asks'?"),
        ('asks = "write"', 'asks = "writes"', "nothing asks 'writes'; did you mean 'write'?"),
        ('asks = "write"', 'asks = ""', "has no path, or asks about nothing"),
        (".envrc\n.direnvrc\n.config/direnv/**\n", "", "has no path, or asks about nothing"),
    ],
)
def test_a_mistake_about_sensitive_paths_is_refused(before: str, after: str, message: str) -> None:
    """A path that nobody would be asked about is an error in the table, and no silence."""
    text = Path(sensitive_table.__file__).with_name("sensitive.toml").read_text("utf-8")
    table = parse_sensitive(text)
    assert {act for entry in table.sensitive for act in entry.asks} == {"read", "write", "remove"}
    with pytest.raises(TableError, match=re.escape(message)):
        parse_sensitive(text.replace(before, after, 1))
