"""Compiles the TOML table of one program into its grammar, and refuses unknown keys."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TypeAlias, cast

from agentscope_like.nearest import nearest
from agentscope_like.paths import PermissionConfigError
from agentscope_like.shell.catalog.grammar import (
    NOTHING_KNOWN,
    Flag,
    Grammar,
    Operand,
    Role,
    RoleKind,
    When,
)
from agentscope_like.shell.values import Output, Shape

__all__ = ["CatalogError", "parse_program"]

Table: TypeAlias = Mapping[str, object]


class CatalogError(PermissionConfigError):
    """A table of the catalog that cannot be compiled."""


_KEYS = frozenset(
    {
        "about",
        "bare",
        "bounds",
        "builtin",
        "doubt",
        "endless",
        "feed",
        "flags",
        "harmless",
        "helps",
        "local",
        "named",
        "default",
        "needs",
        "needs_first",
        "number",
        "operands",
        "optional",
        "optionless",
        "options_first",
        "others",
        "output",
        "output_flags",
        "output_format",
        "output_needs",
        "output_operands",
        "output_selected",
        "output_values",
        "modules",
        "pairs",
        "recursive",
        "refuses",
        "shared",
        "source",
        "style",
        "sub",
        "use",
        "values",
        "verbatim",
        "when",
        "whole_options",
    }
)
_WHEN_KEYS = frozenset({"operands", "recursive", "sources", "needs", "without", "doubt", "output"})
_SHARED_KEYS = frozenset({"flags", "values", "optional"})
_ABOUT_ONLY = frozenset({"source", "about", "helps", "doubt", "modules"})
_ROLE = re.compile(r"([a-z ]+?)(\.\.\.|\?)?(?::\s*(.*))?", re.DOTALL)
_NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?[a-zA-Z%]{0,3}")
_EXPRESSED = frozenset({RoleKind.MATCHING, RoleKind.NAME, RoleKind.SUFFIX})
_NARROWED = frozenset({RoleKind.READ, RoleKind.LIST, RoleKind.TEXT, RoleKind.CD})
_STYLES = frozenset({"", "single-dash", "bundled"})
_OUTPUTS = {
    "": NOTHING_KNOWN,
    "word": Output(Shape.WORD),
    "hash": Output(Shape.ALPHANUMERIC),
    "hashes": Output(Shape.ALPHANUMERIC, single=False),
    "number": Output(Shape.INTEGER),
    "numbers": Output(Shape.INTEGER, single=False),
    "words": Output(Shape.WORD, single=False),
}


def parse_program(name: str, table: Table) -> Grammar:
    """Compile the table of program `name`.

    Raises:
        CatalogError: A key or a role is unknown, or a value has the wrong type.
    """
    return _Compiler(name).grammar(name, table, {})


class _Subs(Mapping[str, Grammar]):
    """The sub-commands of a program, each compiled when it is first asked for."""

    __slots__ = ("_compiled", "_compiler", "_name", "_shared", "_tables")

    def __init__(
        self,
        compiler: _Compiler,
        name: str,
        tables: Mapping[str, Table],
        shared: Mapping[str, Table],
    ) -> None:
        self._compiler = compiler
        self._name = name
        self._tables = tables
        self._shared = shared
        self._compiled: dict[str, Grammar] = {}

    def __getitem__(self, name: str) -> Grammar:
        found = self._compiled.get(name)
        if found is None:
            table = self._tables[name]
            found = self._compiler.grammar(f"{self._name} {name}", table, self._shared)
            self._compiled[name] = found
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(self._tables)

    def __len__(self) -> int:
        return len(self._tables)


class _Compiler:
    """Compiles one program; knows its name for the errors."""

    def __init__(self, program: str) -> None:
        self._program = program

    def grammar(self, name: str, table: Table, shared: Mapping[str, Table]) -> Grammar:
        """Compile one program or sub-command, whose `use` may name groups of `shared`."""
        self._check(name, table, _KEYS)
        shared = {**shared, **self._tables(name, table, "shared")}
        flags = self._flags(name, table)
        for group in self._words(name, table, "use"):
            if group not in shared:
                raise self._error(name, f"no shared group {group!r}{nearest(group, shared)}")
            self._check(f"{name}.shared.{group}", shared[group], _SHARED_KEYS)
            flags = {**self._flags(name, shared[group]), **flags}
        complete = None
        if "others" in table:
            known = (flag for flag in flags if flag.startswith("--"))
            complete = (*known, *self._words(name, table, "others"))
        style = self._choice(name, table, "style", _STYLES)
        output = self._choice(name, table, "output", _OUTPUTS)
        subs = self._subs(name, table, shared)
        only_about = "about" in table and table.keys() <= _ABOUT_ONLY
        return Grammar(
            name=name,
            source=self._text(name, table, "source"),
            flags=flags,
            complete=complete,
            operands=self._operands(name, table),
            whens=tuple(self._whens(name, table)),
            subs=subs,
            bare=self._switch(name, table, "bare", default=not (subs or only_about)),
            about=frozenset(self._words(name, table, "about")),
            helps=frozenset(self._words(name, table, "helps")),
            needs=frozenset(self._words(name, table, "needs")),
            needs_first=self._switch(name, table, "needs_first"),
            default=self._text(name, table, "default"),
            harmless=self._switch(name, table, "harmless"),
            options_first=self._switch(name, table, "options_first"),
            optionless=self._switch(name, table, "optionless"),
            single_dash=style == "single-dash",
            bundled=style == "bundled",
            number=self._switch(name, table, "number"),
            recursive=self._switch(name, table, "recursive"),
            refuses=self._pattern(name, table, "refuses"),
            local=self._switch(name, table, "local"),
            output=_OUTPUTS[output],
            output_flags=frozenset(self._words(name, table, "output_flags")),
            output_operands=self._count(name, table, "output_operands"),
            output_selected=self._switch(name, table, "output_selected"),
            output_needs=frozenset(self._words(name, table, "output_needs")),
            output_values=tuple(self._output_values(name, table)),
            output_format=self._pattern(name, table, "output_format"),
            verbatim=frozenset(self._words(name, table, "verbatim")),
            feed=self._text(name, table, "feed"),
            modules={
                key: re.compile(self._text(name, self._mapping(name, table, "modules"), key))
                for key in self._mapping(name, table, "modules")
            },
            pairs={
                key: self._operand(name, value).role
                for key, value in self._mapping(name, table, "pairs").items()
            },
            doubt=self._text(name, table, "doubt"),
            builtin=self._switch(name, table, "builtin"),
            whole_options=self._switch(name, table, "whole_options"),
            endless=frozenset(self._words(name, table, "endless")),
            bounds=frozenset(self._words(name, table, "bounds")) if "bounds" in table else None,
        )

    def _flags(self, name: str, table: Table) -> dict[str, Flag]:
        flags = dict.fromkeys(self._words(name, table, "flags"), Flag())
        for key in ("values", "named", "optional"):
            groups = self._mapping(name, table, key)
            for role in groups:
                place = self._operand(name, role)
                flag = Flag(
                    place.role,
                    joined=key == "optional",
                    named=key == "named",
                    many=place.many,
                )
                flags.update(dict.fromkeys(self._words(name, groups, role), flag))
        return flags

    def _output_values(self, name: str, table: Table) -> Iterator[tuple[re.Pattern[str], Output]]:
        kinds = self._mapping(name, table, "output_values")
        for kind in kinds:
            output = _OUTPUTS[
                self._choice(name, {"output_values": kind}, "output_values", _OUTPUTS)
            ]
            yield re.compile(self._text(name, kinds, kind)), output

    def _whens(self, name: str, table: Table) -> Iterator[When]:
        for flags, change in self._tables(name, table, "when").items():
            self._check(f"{name}.when", change, _WHEN_KEYS)
            yield When(
                flags=frozenset(flags.split()),
                operands=self._operands(name, change) if "operands" in change else None,
                recursive=self._switch(name, change, "recursive"),
                sources=self._operand(name, self._text(name, change, "sources")).role
                if "sources" in change
                else None,
                needs=frozenset(self._words(name, change, "needs")),
                without=frozenset(self._words(name, change, "without")),
                doubt=self._text(name, change, "doubt"),
                output=_OUTPUTS[self._choice(name, change, "output", _OUTPUTS)]
                if "output" in change
                else None,
            )

    def _subs(self, name: str, table: Table, shared: Mapping[str, Table]) -> Mapping[str, Grammar]:
        own: dict[str, Table] = {}
        nested: dict[str, dict[str, Table]] = {}
        for key, sub in self._tables(name, table, "sub").items():
            for words in key.split("|"):
                head, _, rest = words.partition(" ")
                if rest:
                    nested.setdefault(head, {})[rest] = sub
                else:
                    own[head] = sub
        for head, below in nested.items():
            holder = own.get(head, {})
            own[head] = {**holder, "sub": {**self._tables(name, holder, "sub"), **below}}
        return _Subs(self, name, own, shared) if own else {}

    def _operands(self, name: str, table: Table) -> tuple[Operand, ...]:
        value = table.get("operands", [])
        texts = [value] if isinstance(value, str) else value
        if not isinstance(texts, list):
            raise self._error(name, "`operands` is neither a role nor a list of roles")
        return tuple(self._operand(name, text) for text in texts)

    def _operand(self, name: str, text: object) -> Operand:
        found = _ROLE.fullmatch(text) if isinstance(text, str) else None
        if found is None:
            raise self._error(name, f"{text!r} is not a role")
        word, times, rest = found.groups()
        known = [kind.value for kind in RoleKind]
        if word not in known:
            raise self._error(name, f"no role {word!r}{nearest(word, known)}")
        kind = RoleKind(word)
        pattern: re.Pattern[str] | None = None
        if kind in _EXPRESSED or (rest and kind in _NARROWED):
            pattern = re.compile(rest)
        elif kind is RoleKind.ONE_OF:
            pattern = re.compile("|".join(map(re.escape, rest.split())))
        elif kind is RoleKind.NUMBER:
            pattern = _NUMBER
        elif rest:
            raise self._error(name, f"the role {word!r} takes nothing after a colon")
        return Operand(Role(kind, pattern), many=times == "...", optional=times == "?")

    def _check(self, name: str, table: Table, known: frozenset[str]) -> None:
        for key in table:
            if key not in known:
                raise self._error(name, f"unknown key {key!r}{nearest(key, known)}")

    def _tables(self, name: str, table: Table, key: str) -> dict[str, Table]:
        tables = self._mapping(name, table, key)
        for inner, value in tables.items():
            if not isinstance(value, dict):
                raise self._error(name, f"`{key}.{inner}` is not a table")
        return cast("dict[str, Table]", tables)

    def _mapping(self, name: str, table: Table, key: str) -> dict[str, object]:
        value = table.get(key, {})
        if not isinstance(value, dict):
            raise self._error(name, f"`{key}` is not a table")
        return value

    def _choice(self, name: str, table: Table, key: str, known: object) -> str:
        value = self._text(name, table, key)
        options = cast("frozenset[str]", known)
        if value not in options:
            raise self._error(name, f"no {key} {value!r}{nearest(value, options)}")
        return value

    def _text(self, name: str, table: Table, key: str) -> str:
        value = table.get(key, "")
        if not isinstance(value, str):
            raise self._error(name, f"`{key}` is not a text")
        return value

    def _pattern(self, name: str, table: Table, key: str) -> re.Pattern[str] | None:
        return re.compile(self._text(name, table, key)) if key in table else None

    def _words(self, name: str, table: Table, key: str) -> list[str]:
        return self._text(name, table, key).split()

    def _switch(self, name: str, table: Table, key: str, *, default: bool = False) -> bool:
        value = table.get(key, default)
        if not isinstance(value, bool):
            raise self._error(name, f"`{key}` is neither true nor false")
        return value

    def _count(self, name: str, table: Table, key: str) -> int:
        value = table.get(key, 0)
        if not isinstance(value, int):
            raise self._error(name, f"`{key}` is not a number")
        return value

    def _error(self, name: str, problem: str) -> CatalogError:
        place = f"[program.{self._program}]" if name == self._program else f"`{name}`"
        return CatalogError(f"The catalog's {place}: {problem}.")
