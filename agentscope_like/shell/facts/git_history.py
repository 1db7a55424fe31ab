"""Finds the files whose present or past content git shows: `git show HEAD:path`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from msgspec import Struct

from agentscope_like.shell.analysis import CommandAnalysis, Part, answered_once
from agentscope_like.shell.facts.possible_commands import raw_words
from agentscope_like.shell.syntax import Glob, Literal, Word
from agentscope_like.toml_tables import Expression, table_beside

__all__ = [
    "all_words",
    "leaves_out",
    "may_show_content",
    "showing_options",
    "shown_in_history",
    "shows_computed",
    "shows_content",
]


class _Table(Struct, frozen=True, forbid_unknown_fields=True):
    """The tables of `history.toml`, which says what each field is."""

    showing: frozenset[str]
    summaries: Expression
    patches: Expression
    with_patch: frozenset[str]
    with_option: dict[str, Expression]


_table = table_beside(__file__, "history.toml", _Table)


_TAKING_A_PATH = ("-L", "--blob")
_OBJECTS = "cat-file"
_READ_FROM_INPUT = "--stdin"
_LONG_MAGIC = re.compile(r":\(([^)]*)\)(.*)", re.DOTALL)
_SHORT_MAGIC = re.compile(r":([!^/]*):?(.*)", re.DOTALL)
_BLANK = re.compile(r"\s")
_COMPUTED = " "


def shown_in_history(part: Part) -> Iterator[str]:
    """Yield the known paths or patterns that git is asked to show."""
    if not shows_content(part):
        return
    is_summary = _is_summary(part)
    for number in _operands(part):
        word = part.argv[number]
        known = _end(part, number) if word is None else word
        if is_summary and ":" not in known:
            continue
        name = _without_magic(known)
        if name:
            yield _BLANK.sub("_", name)


@answered_once
def shows_computed(part: Part) -> bool:
    """Return whether git shows a path that is only known at run time."""
    if not shows_content(part):
        return False
    return _READ_FROM_INPUT in part.argv or any(
        part.argv[number] is None and ":" not in _end(part, number) for number in _operands(part)
    )


def all_words(analysis: CommandAnalysis) -> Iterator[str]:
    """Yield the words anywhere in a command."""
    words = [word for part in analysis.parts for word in part.argv if word is not None]
    for node in analysis.nodes:
        if isinstance(node, Word):
            words += _known(node).split()
    for word in dict.fromkeys((*raw_words(analysis.command), *words)):
        yield _without_magic(word) or ""


def leaves_out(word: str, part: Part) -> bool:
    """Return whether a word tells git which files to leave out: `:!.env`."""
    return part.git_command is not None and _without_magic(word) is None


def shows_content(part: Part) -> bool:
    """Return whether a part is git and shows the content of present or past files."""
    command = part.git_command
    if command is None or part.doubts or not may_show_content(command, part.options):
        return False
    return command != _OBJECTS or not {"-p", "blob", None}.isdisjoint(part.argv[2:])


def showing_options(command: str) -> Expression | None:
    """Return the options with which alone a sub-command of git shows the content of files.

    None where it shows none, or does not need to be asked.
    """
    table = _table()
    return table.patches if command in table.with_patch else table.with_option.get(command)


def may_show_content(command: str, options: Sequence[str] = ()) -> bool:
    """Return whether a sub-command of git may show the content of files, with these options."""
    if (asked := showing_options(command)) is not None:
        return any(map(asked.fullmatch, options))
    return command == _OBJECTS or command in _table().showing


def _is_summary(part: Part) -> bool:
    """Return whether git prints only a summary of a commit's changes."""
    if part.git_command != "show":
        return False
    options, table = part.options, _table()
    is_summary = any(map(table.summaries.fullmatch, options))
    return is_summary and not any(map(table.patches.fullmatch, options))


def _operands(part: Part) -> Iterator[int]:
    """Yield the positions of the words that may name what is shown."""
    words = part.argv
    is_searching = part.git_command == "grep" and "-e" not in words
    is_behind = False
    for number in range(2, len(words)):
        word = words[number]
        if is_behind:
            yield number
        elif word == "--":
            is_behind = True
        elif word is not None and word.startswith("-"):
            if word.startswith(_TAKING_A_PATH):
                yield number
        elif part.git_command == "grep" and (words[number - 1] == "-e" or _is_number(word)):
            continue
        elif is_searching and number > words.index("grep"):
            is_searching = False  # what is searched for
        else:
            yield number


def _is_number(word: str | None) -> bool:
    return word is not None and word.isdecimal()


def _end(part: Part, number: int) -> str:
    """Return the known end of a computed word."""
    if part.parent is not None or number >= len(part.words):
        return ""  # a carrier may put something in its place
    return _known(part.words[number]).rpartition(_COMPUTED)[2]


def _known(word: Word) -> str:
    """Return a word with a blank for what is computed in it."""
    return "".join(
        each.text if isinstance(each, Literal | Glob) else _COMPUTED for each in word.segments
    )


def _without_magic(word: str) -> str | None:
    """Return the path in a word; None for what is left out (gitglossary(7), "pathspec")."""
    if long := _LONG_MAGIC.match(word):
        return None if "exclude" in long[1].split(",") else long[2]
    if short := _SHORT_MAGIC.match(word):
        return None if {"!", "^"} & set(short[1]) else short[2].rpartition(":")[2]
    return word.rpartition(":")[2]
