"""Tells which variables a command line may set without changing what its programs do."""

from __future__ import annotations

import re

from msgspec import Struct

from agentscope_like.shell.values import Argument, Shape, Unknown
from agentscope_like.toml_tables import Expression, WordSet, table_beside

__all__ = ["exported_doubt", "own_doubt", "special_parameter"]

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


class _Exported(Struct, frozen=True, forbid_unknown_fields=True):
    source: str
    values: dict[str, Expression]


class _Own(Struct, frozen=True, forbid_unknown_fields=True):
    source: str
    names: WordSet
    parts: WordSet
    reserved: WordSet
    reserved_prefixes: WordSet


class _Table(Struct, frozen=True, forbid_unknown_fields=True):
    """The tables of `environment.toml`, which says what each field is."""

    exported: _Exported
    own: _Own

    def is_own(self, name: str) -> bool:
        """Return whether no program is known to read a variable of that name."""
        words = name.split("_")
        return name in self.own.names or (len(words) > 1 and self.own.parts.issuperset(words))

    def is_reserved(self, name: str) -> bool:
        """Return whether a lowercase name may be one that a program reads."""
        own = self.own
        return name in own.reserved or name.startswith(tuple(own.reserved_prefixes))

    def pattern(self, name: str) -> Expression | None:
        """Return what the exported variable `name` may hold, or None where nothing is allowed."""
        values = self.exported.values
        families = (each for each in values if each.endswith("*") and name.startswith(each[:-1]))
        return values.get(name) or values.get(next(families, ""))


_table = table_beside(__file__, "environment.toml", _Table, _Exported, _Own)


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
    if not table.is_reserved(name) and _LOWER.fullmatch(name):
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
