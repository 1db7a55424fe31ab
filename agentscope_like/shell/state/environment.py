"""Tells which variables a command line may set without changing what its programs do."""

from __future__ import annotations

import re
import tomllib
from functools import lru_cache
from pathlib import Path

from agentscope_like.shell.values import Argument, Shape, Unknown

__all__ = ["exported_doubt", "own_doubt", "special_parameter"]

_FILE = Path(__file__).with_name("environment.toml")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_BLANKS = frozenset(" \t\n")
"""What splits words unless told otherwise: fewer of them split no more words."""

_LOWER = re.compile(r"[a-z][a-z0-9_]*")

_POSIX_INTEGERS = frozenset({"?", "#", "$", "!", "LINENO", "PPID"})
_INTEGERS = _POSIX_INTEGERS | {
    *("BASHPID", "EPOCHSECONDS", "EUID", "RANDOM", "SECONDS", "SRANDOM", "UID"),
}
_PATHS = frozenset({"HOME", "PWD", "OLDPWD"})
_LOGIN_NAMES = frozenset({"USER", "LOGNAME"})
"""The user's name in the environment (environ(7)), which no command line may set."""
_UNSET = frozenset({"OLDPWD"})
"""What is not set at first, before the first `cd`."""


class _Table:
    """The rows of `catalog/environment.toml`."""

    def __init__(self) -> None:
        text = _FILE.read_text("utf-8")
        data = tomllib.loads(text)
        self.values: dict[str, re.Pattern[str]] = {}
        self.families: list[tuple[str, re.Pattern[str]]] = []
        for name, expression in data["exported"]["values"].items():
            pattern = re.compile(expression)
            if name.endswith("*"):
                self.families.append((name[:-1], pattern))
            else:
                self.values[name] = pattern
        own = data["own"]
        self.own = frozenset(own["names"].split())
        self.parts = frozenset(own["parts"].split())
        self.reserved = frozenset(own["reserved"].split())
        self.reserved_prefixes = tuple(own["reserved_prefixes"].split())

    def is_own(self, name: str) -> bool:
        """Return whether no program is known to read a variable of that name."""
        words = name.split("_")
        return name in self.own or (len(words) > 1 and self.parts.issuperset(words))

    def pattern(self, name: str) -> re.Pattern[str] | None:
        """Return what the exported variable `name` may hold, or None where nothing is allowed."""
        found = self.values.get(name)
        if found is None:
            for prefix, pattern in self.families:
                if name.startswith(prefix):
                    return pattern
        return found


@lru_cache(maxsize=1)
def _table() -> _Table:
    return _Table()


def exported_doubt(name: str, value: Argument) -> str | None:
    """Return why `name=value` in the environment of a program is not known to be harmless."""
    pattern = _table().pattern(name)
    if pattern is None:
        return f"`{name}=` may change what the program does"
    if not isinstance(value, str) or not pattern.fullmatch(value):
        return f"this value of `{name}` is not known to be harmless"
    return None


def own_doubt(name: str, value: Argument) -> str | None:
    """Return why assigning `value` to the shell's variable `name` may change a later program.

    bash sets `_` itself for each program that it starts (bash(1), Special Parameters).
    """
    if not _NAME.fullmatch(name):
        return f"`{name}` is not a plain variable name"
    table = _table()
    if name == "IFS" and isinstance(value, str) and set(value) <= _BLANKS:
        return None
    if table.is_own(name) or (name == "_" and isinstance(value, Unknown)):
        return None
    reserved = name in table.reserved or name.startswith(table.reserved_prefixes)
    if not reserved and _LOWER.fullmatch(name):
        return None
    return exported_doubt(name, value)


def special_parameter(
    name: str, directories: tuple[str, ...], home: str | None, *, posix: bool = False
) -> Argument:
    """Return what is known of a parameter that the command line has not set itself.

    Args:
        name: The parameter.
        directories: Where the command may run.
        home: The home directory, or None where unknown.
        posix: Whether a plain `sh` runs the command, to which `RANDOM` is any name.
    """
    if name in (_POSIX_INTEGERS if posix else _INTEGERS):
        return Unknown(option=False, shape=Shape.INTEGER, filled=name != "!")
    if name in {"@", "*"}:
        return Unknown(single=False)
    if name == "HOME" and home:
        return home
    if name == "PWD" and len(directories) == 1:
        return directories[0]
    if name in _PATHS:
        return Unknown(prefix="" if name in _UNSET else "/", option=False)
    return Unknown(option=False, shape=Shape.WORD) if name in _LOGIN_NAMES else Unknown()
