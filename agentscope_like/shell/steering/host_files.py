"""Reads settings in files that steer programs, and versions of Python of this host."""

from __future__ import annotations

import json
import os
import re
import stat
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from agentscope_like.paths import GitConfigError, git_settings
from agentscope_like.shell.catalog import Settings

__all__ = ["SettingsError", "is_recent", "minor_version", "settings_in", "text_of"]

_MAX_DEPTH = 32
_UNSURE = re.compile(r"^(?![ \t]*(?:[#;]|\[[^\n]*\][ \t]*$))[^\n]*[#;\\]", re.MULTILINE)
"""A setting that a comment may follow, or that may go on in the next line: readers differ."""

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
        SettingsError: It is not plainly that; another reader might find other settings.
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
    if _UNSURE.search(text):
        raise SettingsError("it has a setting that readers may read differently")
    try:
        settings = git_settings(text.encode())
    except GitConfigError as error:
        raise SettingsError("it has a line that is no setting") from error
    return (f"{each.key} = {each.value or ''}" for each in settings)


_READERS: Mapping[Settings, Callable[[str], Iterator[str]]] = {
    "lines": _lines,
    "yaml": _yaml,
    "toml": _toml,
    "json": _json,
    "ini": _ini,
}


_EXECUTABLE = re.compile(r"python3\.(\d+)")
_VERSION = re.compile(r"3\.(\d+)(?:\.\d+)?(?:/envs/[\w.+-]+)?")
_SHIMS = "shims"
"""The directory in which pyenv has its scripts; they start one of the `versions` beside it."""

_OTHERS = frozenset({"system"})


def minor_version(path: str) -> int:
    """Return the 11 of Python 3.11 by the name of the file that a path leads to; 0 if unknown."""
    found = _EXECUTABLE.fullmatch(os.path.basename(os.path.realpath(path)))
    return int(found[1]) if found else 0


def is_recent(
    name: str, search: Iterable[str], since: int, *, above: Iterable[str], chosen: str
) -> bool:
    """Return whether each Python that PATH may find by a name has at least a minor version.

    Args:
        name: The program, such as `python3`.
        search: The directories of PATH.
        since: The minor version.
        above: The directories that it may run in, and all above them.
        chosen: The value of `PYENV_VERSION`.
    """
    for directory in search:
        path = os.path.join(directory, name)
        if not os.path.isfile(path):
            continue
        if os.path.basename(directory.rstrip("/")) != _SHIMS:
            return minor_version(path) >= since
        root = os.path.dirname(directory.rstrip("/"))
        versions = set(_chosen_by_pyenv(root, above, chosen))
        if not all(_version(each) >= since for each in versions - _OTHERS):
            return False
        if versions and versions.isdisjoint(_OTHERS):
            return True
    return False


def _version(name: str) -> int:
    found = _VERSION.fullmatch(name)
    return int(found[1]) if found else 0


def _chosen_by_pyenv(root: str, above: Iterable[str], chosen: str) -> Iterable[str]:
    """Return the versions that a shim may start (pyenv, COMMANDS.md); none means another Python."""
    if chosen:
        return chosen.split(":")
    files = [path for each in above if os.path.lexists(path := f"{each}/.python-version")]
    return [name for path in files or [f"{root}/version"] for name in _names_in(path)]


def _names_in(path: str) -> Sequence[str]:
    """Return the versions in a file; one that cannot be read has an unknown one."""
    try:
        return text_of(path).split() or ("",)
    except FileNotFoundError:
        return ()
    except (OSError, UnicodeDecodeError):
        return ("",)


MAX_BYTES = 1 << 20
"""How much of a file is read; a larger one may hold anything."""


def text_of(path: str) -> str:
    """Return what is in a regular file of this host.

    Raises:
        OSError: It is no regular file, is too large or cannot be read.
        UnicodeDecodeError: It is no text.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    with open(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(f"{path} is no regular file")
        content = file.read(MAX_BYTES + 1)
    if len(content) > MAX_BYTES:
        raise OSError(f"{path} is too large")
    return content.decode("utf-8")
