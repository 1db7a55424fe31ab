"""Commands made of the words that stand in the tables of the package.

Each program, word, option, path and variable of a table stands in some commands, and so does what
each alternative of a regular expression matches: what is told of them shows the loss of any.
`tests/data/commands/tables.txt` holds them, and `table_rules.txt` rules with words of the tables;
`python -m tests.table_commands` writes both anew.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import reduce
from itertools import chain
from pathlib import Path
from typing import Any, Final, TypeAlias

import agentscope_like
from tests.record import Situation, command_of, line_of

__all__ = ["read_table_commands", "table_situation"]

Table: TypeAlias = dict[str, Any]
"""A table of TOML: its values are of any kind."""

_DATA: Final = Path(__file__).parent / "data" / "commands"
_COMMANDS: Final = _DATA / "tables.txt"
_RULES: Final = _DATA / "table_rules.txt"
_PACKAGE: Final = Path(agentscope_like.__file__).parent
_MOST_CHARACTERS: Final = 110
_MOST_SAMPLES: Final = 40

_SPEAKS_ONLY: Final = frozenset({"source", "does", "reason", "steers", "harmless", "prints"})
_EXPRESSIONS: Final = frozenset({"any_word", "operands", "options", "needs", "without", "first"})
_WORDS: Final = frozenset({"words", "but", "flags", "lacks", "command"})


def _tables(*folders: str) -> Iterator[tuple[str, Table]]:
    """Yield the tables of some folders of the package by the names of their files."""
    for folder in folders:
        for path in sorted((_PACKAGE / folder).glob("*.toml")):
            yield path.stem, tomllib.loads(path.read_text("utf-8"))


def _texts(value: object) -> Iterator[str]:
    """Yield the texts in a value, at any depth."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        yield from chain.from_iterable(map(_texts, value.values()))
    elif isinstance(value, Sequence):
        yield from chain.from_iterable(map(_texts, value))


def _split(text: str) -> list[str]:
    """Return the words of a text, of which some are quoted."""
    lines = (line for line in text.splitlines() if not line.lstrip().startswith("#"))
    return [quoted or word for quoted, word in re.findall(r'"([^"]+)"|(\S+)', "\n".join(lines))]


# What an expression matches


def _samples(expression: str) -> list[str]:
    """Return texts of which each alternative of a regular expression matches one, or nearly so."""
    parser: Any = re._parser  # type: ignore[attr-defined]  # the only one that reads an expression
    return list(dict.fromkeys(_of_all(parser.parse(expression))))[:_MOST_SAMPLES]


def _of_all(parts: Iterable[tuple[Any, Any]]) -> list[str]:
    """Return what parts match one behind the other, each text of each part in one of them."""
    return reduce(_joined, (_of_one(str(kind), value) for kind, value in parts), [""])


def _joined(before: list[str], after: list[str]) -> list[str]:
    return [*(text + after[0] for text in before), *(before[0] + text for text in after[1:])]


def _of_one(kind: str, value: Any) -> list[str]:
    match kind:
        case "LITERAL":
            found = [chr(value)]
        case "RANGE":
            found = [chr(value[0])]
        case "IN":
            found = [text for each in value[:4] for text in _of_one(str(each[0]), each[1])]
        case "ANY" | "NOT_LITERAL" | "CATEGORY":
            found = ["1"]
        case "BRANCH":
            found = [text for each in value[1] for text in _of_all(each)]
        case "SUBPATTERN":
            found = _of_all(value[-1])
        case "MAX_REPEAT" | "MIN_REPEAT":
            least, _, parts = value
            found = [*(text * max(least, 1) for text in _of_all(parts)), *[""] * (least == 0)]
        case _:
            found = [""]
    return found


# Commands


def _instance(pattern: str) -> str:
    return pattern.replace("**", "a/b").replace("*", "x")


def _shaped(shapes: Iterable[str], subject: str, word: str = "") -> Iterator[str]:
    for shape in shapes:
        yield shape.replace("@", subject).replace("#", word)


class _Maker:
    """Makes commands of tables.

    Args:
        shapes: The shapes of `shapes.toml`.
    """

    def __init__(self, shapes: Table) -> None:
        self._shapes = shapes
        self._programs = {
            name
            for stem, table in _tables("shell/catalog")
            for names in (table.get("program", {}) if stem != "traits" else table["aliases"])
            for name in names.split(" ")
        }

    def commands(self) -> Iterator[str]:
        """Yield all commands; some twice."""
        for stem, table in _tables("paths/sensitive"):
            yield from self._of_paths(table) if stem == "sensitive" else self._of(table, "cat")
        for _, table in _tables("shell/state"):
            yield from self._of_variables(table)
        for stem, table in _tables("shell/walk", "shell/expand", "shell/arguments"):
            if stem == "purposes":
                yield from _of_purposes(table)
            elif stem == "printing":
                yield from self._wrapped(
                    "printing", chain.from_iterable(map(self._words, table.values()))
                )
            else:
                yield from self._of(table, "cat")
        for stem, table in _tables("permission/command", "shell/facts"):
            yield from self._of_options(table) if stem == "rule_options" else self._of(table, "git")
        for _, table in _tables("shell/names"):
            yield from self._wrapped("names", self._of(table, "cat"))
        for stem, table in _tables("shell/catalog"):
            if stem == "traits":
                yield from self._of_traits(table)
            elif stem == "command_families":
                yield from self._of_families(table)
            elif stem != "steered_by":
                yield from self._of_programs(table.get("program", {}), "")

    def _wrapped(self, shape: str, commands: Iterable[str]) -> Iterator[str]:
        for command in commands:
            yield from _shaped(self._shapes[shape], "", command)

    def _of_paths(self, table: Table) -> Iterator[str]:
        shapes = self._shapes["paths"]
        for path in table["harmless_hidden_files"]:
            yield from _shaped([shapes["read"]], _instance(f"~/{path}"))
        for path in chain(table["standard_devices"], table["credential_names"]):
            yield from _shaped([shapes["write"], shapes["named"]], _instance(path))
        for each in table["sensitive"]:
            acts = [shapes[act] for act in each["asks"].split()]
            first, *others = _split(each["paths"])
            for path in (first, *_split(each.get("but", ""))):
                yield from _shaped(acts, _instance(path))
            for path in others:
                yield from _shaped(acts[-1:], _instance(path))

    def _of_variables(self, table: Table) -> Iterator[str]:
        shapes = self._shapes["variables"]
        for name, value in table["exported"]["values"].items():
            for text in ("no-such", *_samples(value)):
                yield from _shaped(shapes["exported"], name.replace("*", "X"), text)
        for key, value in chain(table["exported"].items(), table["own"].items()):
            if key not in {"values", *_SPEAKS_ONLY}:
                for name in chain.from_iterable(map(_split, _texts(value))):
                    yield from _shaped([*shapes["exported"], *shapes["own"]], name, "1")

    def _of_traits(self, table: Table) -> Iterator[str]:
        names = chain.from_iterable(map(_split, _texts(table)))
        for name in dict.fromkeys(chain(names, table["aliases"])):
            yield from _shaped(self._shapes["programs"], name)

    def _of_families(self, table: Table) -> Iterator[str]:
        for key, value in table.items():
            if isinstance(value, dict):
                yield from self._of_families(value)
            for words in chain.from_iterable(map(_split, _texts(value))):
                is_option = words.startswith("-")
                shapes = self._shapes["commands" if is_option else "beginnings"]
                yield from _shaped(shapes, key if is_option else words, words)

    def _of(self, table: Table, program: str) -> Iterator[str]:
        """Yield commands of a table: of its rows, and of its words behind a program."""
        if isinstance(programs := table.get("programs"), str):
            yield from self._of_row(table, _split(programs))
            return
        for key, value in table.items():
            if key in _SPEAKS_ONLY and isinstance(value, str):
                continue
            subject = key if key.partition(" ")[0] in self._programs else program
            if isinstance(value, dict):
                yield from self._of(value, subject)
            elif isinstance(value, list) and value and isinstance(value[0], dict):
                for each in value:
                    yield from self._of(each, program)
            else:
                for word in self._words(value):
                    yield from _shaped(self._shapes["words"], subject, word)
                    yield from _shaped(self._shapes["beginnings"][:1], word)
                    yield from _shaped(self._shapes["lists"].get(key, ()), "", word)

    def _of_options(self, table: Table) -> Iterator[str]:
        """Yield commands with the options that rules cover, and those that none covers."""
        unknown = table["unknown"]
        options = [f"-{letter}" for letter in _split(unknown["letters"])]
        options += [f"--{piece}" for piece in _split(unknown["pieces"])]
        options += [f"--no{ending}" for ending in _split(unknown["endings"])]
        programs = {"tool": " ".join([table["general"], *options])}
        for subject, words in (programs | table["carrying"] | table["programs"]).items():
            for word in _split(words):
                yield from _shaped(self._shapes["words"], subject, word.rstrip("="))
        yield from (f"{program} a=x" for program in _split(table["text_operands"]))

    def _of_row(self, row: Table, programs: list[str]) -> Iterator[str]:
        """Yield each program of a row once, and its first one with each of the words."""
        parts = [list(self._words(value)) for key, value in row.items() if key in _WORDS]
        parts += [
            list(self._words(value, expression=True))
            for key, value in row.items()
            if key in _EXPRESSIONS
        ]
        start = " ".join(part[0] for part in parts if part)
        for program in programs:
            name = program.replace("*", "x")
            yield f"{name} {start}"
            yield from _shaped(self._shapes["beginnings"][:1], name)
        for part in parts:
            for word in part:
                rest = [other[0] for other in parts if other and other is not part]
                yield " ".join([programs[0], *rest, word])
                yield " ".join([programs[0], word, *rest])

    def _words(self, value: object, *, expression: bool = False) -> Iterator[str]:
        for text in _texts(value):
            if expression or re.search(r"[\\|(]|\]\*|\.\*", text):
                yield from _samples(text)
            elif isinstance(value, str):
                yield from _split(text)
            else:
                yield text

    def _of_programs(self, programs: Table, before: str) -> Iterator[str]:
        """Yield commands with the options of programs that take values, and their sub-commands."""
        for names, table in programs.items():
            for name in re.split(r"[ |]", names) if not before else names.split("|")[:1]:
                start = f"{before} {name}".strip()
                for kind in ("values", "optional"):
                    for option in chain.from_iterable(map(_split, _texts(table.get(kind, {})))):
                        yield from _shaped(self._shapes["values"], start, option)
                for word in _split(table.get("needs", "")):
                    yield from _shaped(self._shapes["words"], start, word)
                if not before:
                    yield from self._of_programs(table.get("sub", {}), start)


def _of_purposes(table: Table) -> Iterator[str]:
    for programs, purposes in table.items():
        for program in programs.split(" "):
            yield from (f"{program} {words}" for key in purposes for words in key.split("|"))


def _rules() -> Iterator[str]:
    """Yield rules with words that have other spellings, and with words that have options."""
    tables = dict(_tables("permission/command", "shell/facts"))
    spellings, options = tables["spellings"], tables["rule_options"]
    yield from (f"deny Bash({names[-1]}:*)" for names in spellings["same"])
    yield from (f"deny Bash({name}:*)" for name in _split(spellings["prefixed"]) if name != "[")
    beginnings = ("tool", *options["carrying"], *options["programs"])
    yield from (f"allow Bash({words}:*)" for words in beginnings)


def table_situation() -> Situation:
    """Return where all that the tables say about rules matters."""
    return Situation(
        "rules of the tables", "default", tuple(_RULES.read_text("utf-8").splitlines())
    )


def read_table_commands() -> list[str]:
    """Return the commands that are on record."""
    return [command_of(line) for line in _COMMANDS.read_text("utf-8").splitlines()]


def _write() -> None:
    shapes = tomllib.loads((_DATA / "shapes.toml").read_text("utf-8"))
    made = dict.fromkeys(_Maker(shapes).commands())
    lines = [line_of(command) for command in made if len(command) <= _MOST_CHARACTERS]
    _COMMANDS.write_text("\n".join(lines) + "\n", "utf-8")
    _RULES.write_text("\n".join(_rules()) + "\n", "utf-8")


if __name__ == "__main__":
    _write()
