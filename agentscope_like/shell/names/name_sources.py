"""Programs that print file names or pass them on: the compiled `name_sources.toml`."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from enum import Enum
from functools import lru_cache
from pathlib import Path
from typing import Any

from msgspec import Struct

from agentscope_like.shell.analysis import Effect, EffectKind, Part, answered_once
from agentscope_like.shell.catalog import canonical
from agentscope_like.shell.facts import is_redirect
from agentscope_like.shell.values import Shape

__all__ = ["Prints", "name_source", "parse", "plain_name"]

_FIELDS = frozenset(
    {"programs", "command", "needs", "without", "options", "operands", "prints", "keeps", "reason"}
)
_ANYTHING, _NOTHING = ".*", "(?!)"
_ANY_OPTION, _ANY_FILE, _ANY_OPERAND = "-\0", "\0", "\1"
"""Stand for words that are not known: any at all, a file that may be called so, no option."""

_A_NUMBER = "1"


class Prints(Enum):
    """The kinds of file names that a program prints."""

    NOTHING = "nothing"
    """Nothing, or nothing that names a credential."""

    PATHS = "paths"
    """Paths of files, relative to the directory in which it runs."""

    NAMES = "names"
    """Names of files, relative to another directory or with other words beside them."""

    MATCHES = "matches"
    """Lines that begin with the path of a file and a colon."""

    ITS_WORDS = "its words"
    """The words that it is given, or a part of their path."""

    ITS_LINES = "lines"
    """Whole lines of its input."""

    ITS_PIECES = "words"
    """Pieces of its input between blanks."""

    FIRST_FIELDS = "first fields"
    """What stands before the first colon of each line of its input."""


_KINDS = {
    "silent": (Prints.NOTHING,),
    "producer": (Prints.PATHS, Prints.NAMES, Prints.MATCHES),
    "speaker": (Prints.ITS_WORDS,),
    "filter": (Prints.ITS_LINES, Prints.ITS_PIECES, Prints.FIRST_FIELDS),
}
_PASSING = frozenset(_KINDS["filter"])
_TOLD_BY = {"producer": "prints", "filter": "keeps"}
_STRICT = frozenset({"speaker", "filter"})


class _Entry(Struct, frozen=True, eq=False):
    """One entry of the table, its expressions compiled."""

    prints: Prints
    commands: frozenset[str]
    needs: tuple[re.Pattern[str], ...]
    without: re.Pattern[str]
    options: re.Pattern[str]
    operands: re.Pattern[str]

    def fits(self, words: Sequence[str]) -> bool:
        """Return whether the arguments of a program match the entry."""
        if _ANY_OPTION in words and self.without.pattern != _NOTHING:
            return False
        if self.prints is Prints.ITS_WORDS:  # no option of them makes another name
            words = [_ANY_OPERAND if word == _ANY_OPTION else word for word in words]
        options = [word for word in words if word[:1] == "-"]
        others = [word for word in words if word[:1] != "-"]
        return (
            all(map(self.options.fullmatch, options))
            and all(map(self.operands.fullmatch, others))
            and not any(map(self.without.fullmatch, options))
            and all(any(map(need.fullmatch, options)) for need in self.needs)
        )


@answered_once
def name_source(part: Part) -> Prints | None:
    """Return which file names a part prints; None if unknown.

    Args:
        part: The part. Redirections and arguments added by other commands are ignored.
    """
    words = list(_words(part))[1:]
    if part.git_command is not None:
        words = words[words.index(part.git_command) + 1 :]
    for entry in _table().get(plain_name(part.program or ""), ()):
        if entry.commands and part.git_command not in entry.commands:
            continue
        if entry.prints in _PASSING and _reads_files(part):
            continue
        if entry.prints is Prints.MATCHES and not all(map(_is_folder, part.effects)):
            continue
        if entry.fits(words):
            return _where(entry.prints, part)
    return None


def _words(part: Part) -> Iterator[str]:
    """Yield the arguments, with a marker for those that are only known at run time."""
    computed = iter(part.computed)
    for word in part.argv:
        known = next(computed, None) if word is None else None
        if word is not None:
            yield word
        elif known is not None and known.shape is Shape.INTEGER:
            yield _A_NUMBER
        else:
            may_be_option = known is None or known.option
            is_file = known is not None and known.pattern is not None
            yield (_ANY_FILE if is_file else _ANY_OPTION) if may_be_option else _ANY_OPERAND


def _where(prints: Prints, part: Part) -> Prints:
    """Return what is printed; names of `ls src` and `git -C src ls-files` need a directory."""
    elsewhere = part.git_command != part.argv[1] if part.program == "git" else _lists_others(part)
    return Prints.NAMES if prints is Prints.PATHS and elsewhere else prints


def _lists_others(part: Part) -> bool:
    reads = any(effect.kind is EffectKind.READ for effect in part.effects)
    return reads and plain_name(part.program or "") == "ls"


def _reads_files(part: Part) -> bool:
    return any(not is_redirect(effect, part) for effect in part.effects)


def _is_folder(effect: Effect) -> bool:
    """Return whether a search is sure to be told of a directory, of whose files it gives names."""
    return effect.target in {".", ".."} or effect.target.endswith("/")


def plain_name(program: str) -> str:
    """Return a program's name in the table."""
    first = canonical(program)
    return _aliases().get(first, first)


@lru_cache(maxsize=1)
def _document() -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_name("name_sources.toml").read_text("utf-8"))


@lru_cache(maxsize=1)
def _aliases() -> dict[str, str]:
    aliases = _document()["aliases"]
    return {other: name for name, others in aliases.items() for other in others.split()}


@lru_cache(maxsize=1)
def _table() -> dict[str, list[_Entry]]:
    return parse(_document())


def parse(document: dict[str, Any]) -> dict[str, list[_Entry]]:
    """Return the entries of a document, by the program.

    Args:
        document: The tables of `name_sources.toml`.

    Raises:
        ValueError: A table, field or value is none that there is, or lacks.
    """
    _check({"aliases", *_KINDS}, document, "name_sources.toml")
    found: dict[str, list[_Entry]] = {}
    for kind in _KINDS:
        for row in document[kind]:
            entry = _entry(kind, row)
            for program in row["programs"].split():
                found.setdefault(program, []).append(entry)
    return found


def _entry(kind: str, row: dict[str, Any]) -> _Entry:
    name = f"{kind} `{row.get('programs')}`"
    _check(_FIELDS, row, name)
    kinds = {each.value: each for each in _KINDS[kind]}
    prints = kinds.get(str(row.get(_TOLD_BY[kind]))) if kind in _TOLD_BY else _KINDS[kind][0]
    if not row.get("programs") or not row.get("reason") or prints is None:
        raise ValueError(f"{name} needs `programs`, `reason` and `{_TOLD_BY.get(kind)}`")
    otherwise = _NOTHING if kind in _STRICT else _ANYTHING
    return _Entry(
        prints=prints,
        commands=frozenset(row.get("command", "").split()),
        needs=tuple(map(_compiled, row.get("needs", ()))),
        without=_compiled(row.get("without", _NOTHING)),
        options=_compiled(row.get("options", otherwise)),
        operands=_compiled(row.get("operands", otherwise)),
    )


def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.DOTALL)


def _check(known: Iterable[str], given: Iterable[str], name: str) -> None:
    if unknown := set(given) - set(known):
        raise ValueError(f"{name} has unknown fields: {sorted(unknown)}")
