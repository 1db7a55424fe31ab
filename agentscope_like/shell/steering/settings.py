"""Reads a configuration file as a list of settings, one text for each: `table.key = value`.

A file that is not plainly what it should be raises `SettingsError`: another reader might find other
settings in it.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence

from agentscope_like.shell.catalog import Settings

__all__ = ["SettingsError", "settings_in"]

_MAX_DEPTH = 32
_SECTION = re.compile(r'\[([A-Za-z0-9.-]+)(?:\s+"((?:[^"\\\n]|\\["\\])*)")?\]')
_KEY = re.compile(r"([A-Za-z][A-Za-z0-9-]*)\s*(?:=\s*(.*))?")
_STRANGE = re.compile(r"[^\t\n\x20-\x7e\xa0-\U0010ffff]")


class SettingsError(ValueError):
    """The file cannot be read for sure."""


def settings_in(text: str, settings: Settings) -> list[str]:
    """Return the settings of a file.

    Args:
        text: The file's text.
        settings: How it is written. Of "lines" and "yaml" each line is a setting, but for blank
            ones and, in YAML, comments.

    Raises:
        SettingsError: It is written in another way.
    """
    text = text.replace("\r\n", "\n")
    if _STRANGE.search(text):
        raise SettingsError("it has control characters")
    return list(_READERS[settings](text))


def _lines(text: str) -> Iterator[str]:
    return (line.strip() for line in text.split("\n") if line.strip())


def _yaml(text: str) -> Iterator[str]:
    return (line for line in _lines(text) if not line.startswith("#"))


def _toml(text: str) -> Iterator[str]:
    try:
        return _flat("", tomllib.loads(text), 0)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise SettingsError("it is no TOML") from error


def _json(text: str) -> Iterator[str]:
    try:
        return _flat("", json.loads(text, object_pairs_hook=_unique), 0)
    except (ValueError, RecursionError) as error:
        raise SettingsError("it is no JSON") from error


def _unique(pairs: Sequence[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key is there twice")
    return found


def _flat(name: str, value: object, depth: int) -> Iterator[str]:
    if depth > _MAX_DEPTH:
        raise SettingsError("it is nested too deeply")
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _flat(f"{name}.{key}" if name else str(key), inner, depth + 1)
    elif isinstance(value, list):
        for inner in value:
            yield from _flat(f"{name}[]", inner, depth + 1)
    else:
        yield f"{name} = {value}"


def _ini(text: str) -> Iterator[str]:
    """Yield the settings of a file that git would read (git-config(1), "Syntax")."""
    section = ""
    for line in _lines(text):
        rest = line
        if found := _SECTION.match(line):
            name, inner = found.groups()
            section = name.lower() if inner is None else f"{name.lower()}.{inner}"
            rest = line[found.end() :].strip()
        if not rest or rest[0] in "#;":
            continue
        setting = _KEY.fullmatch(rest)
        if setting is None or not section or rest.endswith("\\"):
            raise SettingsError("it has a line that is no setting")
        yield f"{section}.{setting[1].lower()} = {setting[2] or ''}"


_READERS: Mapping[Settings, Callable[[str], Iterator[str]]] = {
    "lines": _lines,
    "yaml": _yaml,
    "toml": _toml,
    "json": _json,
    "ini": _ini,
}
