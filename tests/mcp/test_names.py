"""The names of MCP tools."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentscope_like.tool.mcp.tool_name import mcp_tool_name

LEGAL = re.compile(r"mcp__[A-Za-z0-9_-]{1,59}")
SERVERS = st.text("ab_-", min_size=1, max_size=70)
TOOLS = st.text("ab_- .é/", max_size=70)


@pytest.mark.parametrize(
    ("server", "tool", "name"),
    [
        ("filesystem", "read_file", "mcp__filesystem__read_file"),
        ("a", "b__c", "mcp__a__b__c"),
        ("a", "_b", "mcp__a___b"),
        ("my-server", "get-sum", "mcp__my-server__get-sum"),
    ],
)
def test_an_ordinary_name_is_kept(server: str, tool: str, name: str) -> None:
    """A name that a model can be told is `mcp__server__tool`."""
    assert mcp_tool_name(server, tool) == name


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("a", "b__c"), ("a__b", "c")),
        (("a", "_b"), ("a_", "b")),
        (("s", "read file"), ("s", "readxfile")),
        (("s", "read file"), ("s", "read/file")),
        (("s", "a" * 80), ("s", "a" * 81)),
        (("s", ""), ("s", "_")),
    ],
)
def test_names_that_look_alike_stay_apart(one: tuple[str, str], other: tuple[str, str]) -> None:
    """Mapping illegal characters, or cutting a long name, never joins two tools."""
    assert mcp_tool_name(*one) != mcp_tool_name(*other)


def test_a_tool_cannot_take_the_name_that_another_is_mapped_to() -> None:
    """A server that names a tool as another's mapped name gets a name of its own for it."""
    mapped = mcp_tool_name("s", "delete all")
    forged = mcp_tool_name("s", mapped.removeprefix("mcp__s__"))
    assert forged != mapped


@given(st.lists(st.tuples(SERVERS, TOOLS), min_size=2, max_size=2, unique=True))
def test_any_two_tools_have_two_legal_names(pairs: list[tuple[str, str]]) -> None:
    """Whatever servers and tools are called, names are legal and differ."""
    first, second = (mcp_tool_name(*pair) for pair in pairs)
    assert LEGAL.fullmatch(first)
    assert LEGAL.fullmatch(second)
    assert first != second
