"""Compiles the TOML table of one program into its grammar, and refuses unknown keys."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any, TypeAlias

from msgspec import Struct

from agentscope_like.nearest import nearest
from agentscope_like.paths import PermissionConfigError
from agentscope_like.shell.catalog.grammar import (
    NOTHING_KNOWN,
    AsWritten,
    Flag,
    Grammar,
    Operand,
    Role,
    RoleKind,
    When,
)
from agentscope_like.shell.values import Output, Shape
from agentscope_like.toml_tables import TableError, WordSet, convert_table

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
    "": NOTHING_KNOWN,
    "word": Output(Shape.WORD),
    "hash": Output(Shape.ALPHANUMERIC),
    "hashes": Output(Shape.ALPHANUMERIC, single=False),
    "number": Output(Shape.INTEGER),
    "numbers": Output(Shape.INTEGER, single=False),
    "words": Output(Shape.WORD, single=False),
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
    output: str | None = None


class _Written(AsWritten, frozen=True, forbid_unknown_fields=True):
    """The table of a program or sub-command; each of `sub` is read when it is asked for."""

    flags: str = ""
    values: Mapping[str, str] = {}
    optional: Mapping[str, str] = {}
    named: Mapping[str, str] = {}
    operands: str | tuple[str, ...] = ()
    when: Mapping[str, _Change] = {}
    shared: Mapping[str, _Options] = {}
    use: str = ""
    others: str | None = None
    sub: Mapping[str, Any] = {}
    bare: bool | None = None
    style: str = ""
    refuses: str | None = None
    output: str = ""
    output_values: Mapping[str, str] = {}
    output_format: str | None = None
    modules: Mapping[str, str] = {}
    pairs: Mapping[str, str] = {}


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
        shared: Mapping[str, _Options],
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

    def grammar(self, name: str, table: Table, shared: Mapping[str, _Options]) -> Grammar:
        """Compile one program or sub-command, whose `use` may name groups of `shared`."""
        written = self._read(name, table)
        shared = {**shared, **written.shared}
        flags = {**self._flags(name, written), **self._flags_of(name, written.named, named=True)}
        for group in written.use.split():
            if group not in shared:
                raise self._error(name, f"no shared group {group!r}{nearest(group, shared)}")
            flags = {**self._flags(name, shared[group]), **flags}
        complete = None
        if written.others is not None:
            known = (flag for flag in flags if flag.startswith("--"))
            complete = (*known, *written.others.split())
        style = self._choice(name, "style", written.style, _STYLES)
        subs = self._subs(name, written.sub, shared)
        only_about = "about" in table and table.keys() <= _ABOUT_ONLY
        return Grammar(
            **{field: getattr(written, field) for field in AsWritten.__struct_fields__},
            name=name,
            flags=flags,
            complete=complete,
            operands=self._operands(name, written.operands),
            whens=tuple(self._when(name, *each) for each in written.when.items()),
            subs=subs,
            bare=not (subs or only_about) if written.bare is None else written.bare,
            single_dash=style == "single-dash",
            bundled=style == "bundled",
            refuses=_pattern(written.refuses),
            output=self._output(name, written.output),
            output_values=tuple(
                (re.compile(text), self._output(name, kind))
                for kind, text in written.output_values.items()
            ),
            output_format=_pattern(written.output_format),
            modules={key: re.compile(text) for key, text in written.modules.items()},
            pairs={key: self._operand(name, text).role for key, text in written.pairs.items()},
        )

    def _read(self, name: str, table: Table) -> _Written:
        try:
            return convert_table(table, _Written, _Change, _Options, name=self._place(name))
        except TableError as error:
            raise CatalogError(f"The catalog's {error}") from error

    def _flags(self, name: str, options: _Written | _Options) -> dict[str, Flag]:
        return {
            **dict.fromkeys(options.flags.split(), Flag()),
            **self._flags_of(name, options.values),
            **self._flags_of(name, options.optional, joined=True),
        }

    def _flags_of(
        self, name: str, groups: Mapping[str, str], *, joined: bool = False, named: bool = False
    ) -> dict[str, Flag]:
        """Return the options whose values have a role, by the texts of their roles."""
        flags: dict[str, Flag] = {}
        for role, options in groups.items():
            place = self._operand(name, role)
            flag = Flag(place.role, joined=joined, named=named, many=place.many)
            flags.update(dict.fromkeys(options.split(), flag))
        return flags

    def _when(self, name: str, flags: str, change: _Change) -> When:
        return When(
            flags=frozenset(flags.split()),
            operands=None if change.operands is None else self._operands(name, change.operands),
            recursive=change.recursive,
            sources=self._operand(name, change.sources).role if change.sources else None,
            needs=change.needs,
            without=change.without,
            doubt=change.doubt,
            output=None if change.output is None else self._output(name, change.output),
        )

    def _subs(
        self, name: str, tables: Mapping[str, dict[str, Any]], shared: Mapping[str, _Options]
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
        return _Subs(self, name, own, shared) if own else {}

    def _operands(self, name: str, texts: str | tuple[str, ...]) -> tuple[Operand, ...]:
        listed = (texts,) if isinstance(texts, str) else texts
        return tuple(self._operand(name, text) for text in listed)

    def _operand(self, name: str, text: str) -> Operand:
        found = _ROLE.fullmatch(text)
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

    def _output(self, name: str, kind: str) -> Output:
        return _OUTPUTS[self._choice(name, "output", kind, _OUTPUTS)]

    def _choice(self, name: str, key: str, value: str, known: Collection[str]) -> str:
        if value not in known:
            raise self._error(name, f"no {key} {value!r}{nearest(value, known)}")
        return value

    def _place(self, name: str) -> str:
        return f"[program.{self._program}]" if name == self._program else f"`{name}`"

    def _error(self, name: str, problem: str) -> CatalogError:
        return CatalogError(f"The catalog's {self._place(name)}: {problem}.")


def _pattern(text: str | None) -> re.Pattern[str] | None:
    return None if text is None else re.compile(text)
