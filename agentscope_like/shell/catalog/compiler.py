"""Compiles the TOML table of one program into its grammar, and refuses unknown keys."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from functools import cache
from typing import Any, TypeAlias

from msgspec import Struct

from agentscope_like.nearest import nearest
from agentscope_like.paths import PermissionConfigError
from agentscope_like.shell.catalog.grammar import (
    AsWritten,
    Flag,
    Grammar,
    Operand,
    Role,
    RoleKind,
    When,
)
from agentscope_like.shell.values import Shape, Unknown
from agentscope_like.toml_tables import Expression, TableError, WordSet, convert_table

__all__ = ["CatalogError", "parse_program"]

Table: TypeAlias = Mapping[str, Any]


class CatalogError(PermissionConfigError):
    """A table of the catalog that cannot be compiled."""


_ABOUT_ONLY = frozenset({"source", "about", "helps", "doubt", "modules"})
_ROLE = re.compile(r"([a-z ]+?)(\.\.\.|\?)?(?::\s*(.*))?", re.DOTALL)
_NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?[a-zA-Z%]{0,3}")
_EXPRESSED = frozenset({RoleKind.MATCHING, RoleKind.NAME, RoleKind.SUFFIX})
_NARROWED = frozenset({RoleKind.READ, RoleKind.LIST, RoleKind.TEXT, RoleKind.CD})
_STYLES = frozenset({"", "single-dash", "bundled"})
_OUTPUTS = {
    "": Unknown(),
    "word": Unknown(option=False, shape=Shape.WORD),
    "hash": Unknown(option=False, shape=Shape.ALPHANUMERIC),
    "hashes": Unknown(option=False, shape=Shape.ALPHANUMERIC, single=False),
    "number": Unknown(option=False, shape=Shape.INTEGER),
    "numbers": Unknown(option=False, shape=Shape.INTEGER, single=False),
    "words": Unknown(option=False, shape=Shape.WORD, single=False),
}


class _Options(Struct, forbid_unknown_fields=True):
    """The options of a table, or of a group that several share."""

    flags: str = ""
    values: Mapping[str, str] = {}
    optional: Mapping[str, str] = {}


class _Change(Struct, forbid_unknown_fields=True):
    """What changes where an option is given: a table below `when`."""

    operands: str | tuple[str, ...] | None = None
    recursive: bool = False
    sources: str = ""
    needs: WordSet = WordSet()
    without: WordSet = WordSet()
    doubt: str = ""
    default: str = ""
    output: str | None = None


class _Written(AsWritten, frozen=True, forbid_unknown_fields=True):
    """The table of a program or sub-command; each of `sub` is read when it is asked for."""

    flags: str = ""
    values: Mapping[str, str] = {}
    optional: Mapping[str, str] = {}
    named: Mapping[str, str] = {}
    operands: str | tuple[str, ...] = ()
    paths: str = ""
    when: Mapping[str, _Change] = {}
    shared: Mapping[str, _Options] = {}
    use: str = ""
    others: str | None = None
    sub: Mapping[str, Any] = {}
    bare: bool | None = None
    style: str = ""
    output: str = ""
    output_values: Mapping[str, str] = {}
    pairs: Mapping[str, str] = {}


def parse_program(name: str, table: Table) -> Grammar:
    """Compile the table of program `name`.

    Raises:
        CatalogError: A key or a role is unknown, or a value has the wrong type.
    """
    return _grammar(name, table, {})


class _Subs(Mapping[str, Grammar]):
    """The sub-commands of a program, each compiled when it is first asked for."""

    def __init__(
        self, name: str, tables: Mapping[str, Table], shared: Mapping[str, _Options]
    ) -> None:
        self._tables = tables
        self._compiled = cache(lambda sub: _grammar(f"{name} {sub}", tables[sub], shared))

    def __getitem__(self, name: str) -> Grammar:
        return self._compiled(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._tables)

    def __len__(self) -> int:
        return len(self._tables)


def _grammar(name: str, table: Table, shared: Mapping[str, _Options]) -> Grammar:
    """Compile one program or sub-command, whose `use` may name groups of `shared`.

    Args:
        name: The words that name it, for errors as well.
        table: Its table.
        shared: The groups of the programs around it.
    """
    place = f"`{name}`" if " " in name else f"[program.{name}]"
    try:
        written = convert_table(table, _Written, _Change, _Options, name=place)
        shared = {**shared, **written.shared}
        return _compiled(name, written, shared, only_about=table.keys() <= _ABOUT_ONLY)
    except TableError as error:
        raise CatalogError(f"The catalog's {error}") from error
    except ValueError as error:
        raise CatalogError(f"The catalog's {place}: {error}") from error


def _compiled(
    name: str, written: _Written, shared: Mapping[str, _Options], *, only_about: bool
) -> Grammar:
    flags = {**_flags(written), **_flags_of(written.named, named=True)}
    for group in written.use.split():
        flags = {**_flags(shared[_choice("shared group", group, shared)]), **flags}
    complete = None
    if written.others is not None:
        known = (flag for flag in flags if flag.startswith("--"))
        complete = (*known, *written.others.split())
    style = _choice("style", written.style, _STYLES)
    subs = _subs(name, written.sub, shared)
    only_about = only_about and bool(written.about)
    return Grammar(
        **{field: getattr(written, field) for field in AsWritten.__struct_fields__},
        name=name,
        flags=flags,
        complete=complete,
        operands=_operands(written.operands),
        paths=_operand(written.paths) if written.paths else None,
        whens=tuple(_when(*each) for each in written.when.items()),
        subs=subs,
        bare=not (subs or only_about) if written.bare is None else written.bare,
        single_dash=style == "single-dash",
        bundled=style == "bundled",
        output=_output(written.output),
        output_values=tuple(
            (Expression(text), _output(kind)) for kind, text in written.output_values.items()
        ),
        pairs={key: _operand(text).role for key, text in written.pairs.items()},
    )


def _flags(options: _Written | _Options) -> dict[str, Flag]:
    return {
        **dict.fromkeys(options.flags.split(), Flag()),
        **_flags_of(options.values),
        **_flags_of(options.optional, joined=True),
    }


def _flags_of(
    groups: Mapping[str, str], *, joined: bool = False, named: bool = False
) -> dict[str, Flag]:
    """Return the options whose values have a role, by the texts of their roles."""
    flags: dict[str, Flag] = {}
    for role, options in groups.items():
        place = _operand(role)
        flag = Flag(place.role, joined=joined, named=named, many=place.many)
        flags.update(dict.fromkeys(options.split(), flag))
    return flags


def _when(flags: str, change: _Change) -> When:
    return When(
        flags=frozenset(flags.split()),
        operands=None if change.operands is None else _operands(change.operands),
        recursive=change.recursive,
        sources=_operand(change.sources).role if change.sources else None,
        needs=change.needs,
        without=change.without,
        doubt=change.doubt,
        default=change.default,
        output=None if change.output is None else _output(change.output),
    )


def _subs(
    name: str, tables: Mapping[str, dict[str, Any]], shared: Mapping[str, _Options]
) -> Mapping[str, Grammar]:
    own: dict[str, Table] = {}
    nested: dict[str, dict[str, Table]] = {}
    for key, sub in tables.items():
        for words in key.split("|"):
            head, _, rest = words.partition(" ")
            if rest:
                nested.setdefault(head, {})[rest] = sub
            else:
                own[head] = sub
    for head, below in nested.items():
        holder = own.get(head, {})
        own[head] = {**holder, "sub": {**holder.get("sub", {}), **below}}
    return _Subs(name, own, shared) if own else {}


def _operands(texts: str | tuple[str, ...]) -> tuple[Operand, ...]:
    return tuple(map(_operand, (texts,) if isinstance(texts, str) else texts))


def _operand(text: str) -> Operand:
    found = _ROLE.fullmatch(text)
    if found is None:
        raise ValueError(f"{text!r} is not a role.")
    word, times, rest = found.groups()
    kind = RoleKind(_choice("role", word, [kind.value for kind in RoleKind]))
    pattern: re.Pattern[str] | None = None
    if kind in _EXPRESSED or (rest and kind in _NARROWED):
        pattern = re.compile(rest)
    elif kind is RoleKind.ONE_OF:
        pattern = re.compile("|".join(map(re.escape, rest.split())))
    elif kind is RoleKind.NUMBER:
        pattern = _NUMBER
    elif rest:
        raise ValueError(f"the role {word!r} takes nothing after a colon.")
    return Operand(Role(kind, pattern), many=times == "...", optional=times == "?")


def _output(kind: str) -> Unknown:
    return _OUTPUTS[_choice("output", kind, _OUTPUTS)]


def _choice(what: str, value: str, known: Collection[str]) -> str:
    """Return a value that has to be one of those known."""
    if value not in known:
        raise ValueError(f"no {what} {value!r}{nearest(value, known)}.")
    return value
