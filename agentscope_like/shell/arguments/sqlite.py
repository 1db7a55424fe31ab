"""Proves that the SQL of `sqlite3 -readonly` only queries.

`-readonly` keeps the database file as it is, but SQL can still write other files, load libraries
and attach databases (sqlite.org, "Command Line Shell For SQLite", sections 5, 9 and 17), so only
queries over a short list of functions are accepted. Some functions are tables as well, with
arguments in hidden columns (sqlite.org, "Table-valued Functions").
"""

from __future__ import annotations

import re

__all__ = ["check_sqlite"]

_DOT = re.compile(
    r"\.(?:tables|schema|indexes|indices|databases|dbinfo|fullschema|show|stats"
    r"|(?:mode|headers?|width|nullvalue|separator|timer|echo|explain)) ?[\w%,.| -]*"
)
_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"|`[^`]*`|\[[^\]]*\]")
"""A text, or a name in quotes or brackets (sqlite.org, "SQLite Keywords"); a doubled quote ends one
and begins another."""
_QUOTES = frozenset("'\"`[")
_START = re.compile(
    r"\s*(?:(?:explain\s+(?:query\s+plan\s+)?)?(?:select|with|values)\b"
    r"|pragma\s+(?:table_info|table_xinfo|table_list|index_list|index_info|foreign_key_list"
    r"|database_list|integrity_check|quick_check|user_version|page_count|page_size|compile_options"
    r"|encoding|journal_mode|foreign_keys|schema_version)\s*(?:\([\w'\" ]*\))?\s*$"
    r"|$)",
    re.IGNORECASE,
)
_CALL = re.compile(r"(?<![\"`\]\w])([\"`\]\w]+)\s*\(")
_QUERY_CALL = re.compile(
    r"""
    abs|all|and|as|avg|between|by|case|cast|ceil|changes|char|coalesce|concat|
    concat_ws|count|date|datetime|dense_rank|else|except|exists|filter|floor|
    format|from|glob|group_concat|having|hex|iif|ifnull|in|instr|intersect|is|
    join|json|json_array|json_array_length|json_each|json_extract|json_group_array|
    json_group_object|json_object|json_tree|json_type|julianday|lag|last_value|lead|
    left|length|like|limit|lower|ltrim|max|min|not|nullif|on|or|order|over|
    partition|pragma_table_info|printf|quote|random|rank|replace|right|round|
    row_number|rtrim|select|sign|strftime|string_agg|substr|substring|sum|then|
    time|total|trim|typeof|unicode|unixepoch|union|upper|using|values|when|where|
    with
    """,
    re.VERBOSE | re.IGNORECASE,
)
_CHANGES = re.compile(
    r"\b(?:insert|update|delete|drop|alter|create|attach|detach|vacuum|reindex|replace\s+into)\b",
    re.IGNORECASE,
)
_TABLE = re.compile(
    r"\b(?:fsdir|zipfile|generate_series|wholenumber|sqlite_dbpage|sqlite_dbdata|sqlite_dbptr)\b"
)
"""Functions that are tables as well: of what is in files, or of all numbers."""
_WORD = re.compile(r"\w+")
_MAY_NOT_END = re.compile(r"\bwith\b.*\bunion\b", re.IGNORECASE | re.DOTALL)
"""A table of a query may be read in its own `union` alone (sqlite.org, "The WITH Clause")."""


def check_sqlite(text: str) -> str | None:
    """Return why `text` is not known to only query, or None where it is."""
    if text.startswith("."):
        return None if _DOT.fullmatch(text) else "this dot-command is not known to be harmless"
    bare = _QUOTED.sub(_without_text, text)
    is_open = not _QUOTES.isdisjoint(_QUOTED.sub("", text))
    if is_open or "--" in bare or "/*" in bare:
        return "a comment in SQL, or a quote that is never closed, is not understood"
    if _CHANGES.search(bare):
        return "this SQL may change a database"
    for statement in bare.split(";"):
        if not _START.match(statement):
            return "this SQL is not known to only query"
        is_pragma = statement.lstrip()[:6].casefold() == "pragma"
        for call in () if is_pragma else _CALL.finditer(statement):
            if not _QUERY_CALL.fullmatch(call[1]):
                return f"the SQL function `{call[1]}` is not known to be harmless"
    return _check_tables(text, bare)


def _check_tables(text: str, bare: str) -> str | None:
    """Return why the tables that a query reads are not known to be harmless, or None."""
    if _MAY_NOT_END.search(bare):
        return "a query that names itself may never end"
    table = _TABLE.search(_QUOTED.sub(_name, text).casefold())
    return None if table is None else f"the table `{table.group()}` is not known to be harmless"


def _name(quoted: re.Match[str]) -> str:
    """Return the quoted name; SQLite accepts any kind of quotes around one."""
    inner = quoted.group()[1:-1]
    return f" {inner} " if _WORD.fullmatch(inner) else " '' "


def _without_text(quoted: re.Match[str]) -> str:
    """Return a quoted name unchanged, and an empty string for a text."""
    return "''" if quoted.group().startswith("'") else quoted.group()
