"""Reads the settings of a git configuration file, without running git.

The grammar is that of git-config(1), "CONFIGURATION FILE". Anything else is refused: a setting that
git sees and this reader does not would be one that nobody switches off.
"""

from __future__ import annotations

import re
from typing import NamedTuple

__all__ = ["MOST_CONFIG_BYTES", "GitConfigError", "GitSetting", "git_settings"]

MOST_CONFIG_BYTES = 1 << 18
"""A larger configuration is not read."""

_BOM = "\ufeff"
_TOKEN = re.compile(
    r"""
    [ \t\r\n]++
    | [\#;] [^\n]*+
    | \[ (?P<section> [A-Za-z0-9.-]++ )
      (?: [ \t]++ " (?P<subsection> (?: [^"\\\n] | \\ [^\n] )*+ ) " )?
      \]
    | (?P<name> [A-Za-z] [A-Za-z0-9-]*+ ) [ \t]*+
      (?: =
        (?P<value> (?:
          [^"\\\n\#;]
          | \\ [tnb"\\\n]
          | " (?: [^"\\\n] | \\ [tnb"\\\n] )*+ "
        )*+ )
        (?: [\#;] [^\n]*+ )?
      )?
      (?: \n | \Z )
    """,
    re.VERBOSE,
)
"""Blanks, a comment, the beginning of a section, or a setting."""

_SUBSECTION_ESCAPE = re.compile(r"\\(.)")
_QUOTING = re.compile(r'"|\\(.)', re.DOTALL)
_ESCAPED = {"t": "\t", "b": "\b", "n": "\n", "\n": ""}


class GitConfigError(ValueError):
    """The data is no git configuration, or one that this reader does not understand."""


class GitSetting(NamedTuple):
    """One setting.

    Attributes:
        key: Its name, in lowercase but for a subsection: `remote.Origin.url`.
        value: Its value; None where it has none, which means true.
    """

    key: str
    value: str | None


def git_settings(data: bytes) -> list[GitSetting]:
    """Return the settings of a configuration file, in their order.

    Args:
        data: The whole file.

    Raises:
        GitConfigError: Not all of it is understood.
    """
    if len(data) > MOST_CONFIG_BYTES:
        raise GitConfigError("it is too large")
    if b"\0" in data:
        raise GitConfigError("it holds a NUL character")
    text = data.decode("utf-8", "surrogateescape").removeprefix(_BOM).replace("\r\n", "\n")
    found: list[GitSetting] = []
    section, at = "", 0
    while at < len(text):
        token = _TOKEN.match(text, at)
        if token is None or (token["name"] and not section):
            raise GitConfigError(f"line {text.count(chr(10), 0, at) + 1} is not understood")
        at = token.end()
        if token["section"]:
            section = token["section"].lower()
            if token["subsection"] is not None:
                section += "." + _SUBSECTION_ESCAPE.sub(r"\1", token["subsection"])
        elif token["name"]:
            value = token["value"]
            value = None if value is None else _unquoted(value.strip(" \t\r"))
            found.append(GitSetting(f"{section}.{token['name'].lower()}", value))
    return found


def _unquoted(text: str) -> str:
    """Return a text without its quotes, and with what its escapes stand for."""
    return _QUOTING.sub(lambda found: _ESCAPED.get(found[1], found[1]) if found[1] else "", text)
