"""Tells what a part shows of the files it reads, and whether it acts on its working directory."""

from __future__ import annotations

import re
from enum import Enum
from functools import cache
from itertools import pairwise

from msgspec import Struct

from agentscope_like.shell.analysis import CommandAnalysis, Effect, EffectKind, Part, answered_once
from agentscope_like.shell.catalog import canonical, names_of, programs_with
from agentscope_like.toml_tables import Expression, table_beside

__all__ = [
    "Implied",
    "choosing_option",
    "counts",
    "follows",
    "implied",
    "is_redirect",
    "lists_only",
    "may_act_on_files",
    "reads_no_directory",
    "reads_unseen_files",
    "searches_below",
    "shows_unseen_files",
]

_READ = EffectKind.READ


class _Table(Struct, frozen=True, forbid_unknown_fields=True):
    """The tables of `showing.toml`, which says what each field is."""

    shown_by_git: frozenset[str]
    name_lists: dict[str, Expression]
    chosen_by: dict[str, Expression]
    follow_flags: dict[str, str]


_table = table_beside(__file__, "showing.toml", _Table)


@cache
def _choosing() -> dict[str | None, Expression]:
    chosen_by = _table().chosen_by
    return {name: option for first, option in chosen_by.items() for name in names_of(first)}


def lists_only(effect: Effect, part: Part) -> bool:
    """Return whether a part reads only names and metadata."""
    if part.program not in programs_with("shows_names") or is_redirect(effect, part):
        return False
    if part.program == "git":
        moves = part.git_command != "grep" and effect.target in part.values_of(("-C",))
        return moves or part.git_command not in _table().shown_by_git
    return not _takes_names(part)


def choosing_option(part: Part) -> Expression | None:
    """Return the option by which a search reads the names of its files from a file, or None."""
    return _choosing().get(part.program)


def shows_unseen_files(part: Part) -> bool:
    """Return whether a part shows the content of files only known at run time."""
    return reads_unseen_files(part) and not counts(part)


def reads_unseen_files(part: Part) -> bool:
    """Return whether a part reads files that are only known at run time."""
    for effect in part.effects:
        if effect.path is None and effect.kind is _READ and not lists_only(effect, part):
            return True
    return False


def counts(part: Part) -> bool:
    """Return whether a part prints only counts or sizes of files."""
    return part.is_a("counter") and not _takes_names(part)


def _takes_names(part: Part) -> bool:
    """Return whether a part may print lines of a file that it reads as names or patterns."""
    return _name_lists(part) is not None and _is_told_of_names(part)


@answered_once
def _is_told_of_names(part: Part) -> bool:
    option = _name_lists(part)
    return option is not None and any(map(option.fullmatch, part.options))


def _name_lists(part: Part) -> Expression | None:
    return _table().name_lists.get(canonical(part.program or ""))


def reads_no_directory(part: Part) -> bool:
    """Return whether a part reads nothing if given a directory."""
    return part.program in programs_with("file_reader")


def follows(part: Part, *, otherwise: bool) -> bool:
    """Return whether a part may follow the symlinks that it finds.

    Args:
        part: The part.
        otherwise: The answer for an unknown program.
    """
    letters = _table().follow_flags.get(canonical(part.program or ""))
    if letters is None:
        return otherwise
    return part.has_flag(letters, "--dereference-recursive", "--dereference", "--follow", "-follow")


def is_redirect(effect: Effect, part: Part) -> bool:
    """Return whether an effect comes from a redirection."""
    return bool(part.redirects) and effect.span in part.redirected


_PATTERN_FILES = ("--file", "--ignore-file", "--exclude-from", "-p", "--path-to-ignore")
_IGNORE_FILES = ("--ignore-file", "--exclude-from", "-X")
_QUOTES = "'\"\\"
_VALUED = re.compile(r"-[a-zA-Z]*[xX]|--exclude(-from|-per-directory)?|--with-tree|--format")
"""Options of `git ls-files` that take the next word."""

_FOLDER = re.compile(r"(?!.*\.\.)\w[^*?\[\\]*", re.DOTALL)
"""A path that limits git to a part of its working directory."""


class Implied(Enum):
    """What a part does to everything below its working directory."""

    NOTHING = "nothing"
    LISTS = "lists"
    SEARCHES = "searches"


_NOTHING = Implied.NOTHING

_ACTING_IN_GIT = frozenset({"ls-files", "grep"})
"""Sub-commands of git that act on the working directory."""


def may_act_on_files(program: str | None, git_command: str | None) -> bool:
    """Return whether a program may list, search or choose files that no argument of it names.

    Args:
        program: Its name.
        git_command: The sub-command of git; None for another program.
    """
    if git_command is not None:
        return git_command in _ACTING_IN_GIT
    return program in _acting()


@cache
def _acting() -> frozenset[str | None]:
    by_trait = map(programs_with, ("lister", "grep", "searcher"))
    return frozenset[str | None](_choosing()).union(*by_trait)


def implied(part: Part, analysis: CommandAnalysis) -> Implied:
    """Return what a part does to its working directory, if it is given no other path."""
    program = part.program
    if not may_act_on_files(program, part.git_command):
        return _NOTHING
    if program in programs_with("lister"):
        given = _is_given_a_place(part) and not _has_word(part, _IGNORE_FILES)
        return _NOTHING if given else Implied.LISTS
    if program == "git":
        command = part.git_command
        if command == "ls-files":
            return _NOTHING if _is_given_folders(part) else Implied.LISTS
        searches = command == "grep"
    elif program in programs_with("grep"):
        searches = searches_below(part)
    else:
        searches = program in programs_with("searcher") and not _is_piped_into(part, analysis)
    if not searches:
        return _NOTHING
    told_by_file = part.has_flag("f") or _has_word(part, _PATTERN_FILES)
    given = _is_given_a_place(part) and not told_by_file
    return _NOTHING if given else Implied.SEARCHES


@answered_once
def searches_below(part: Part) -> bool:
    """Return whether a part searches everything below a directory that it is given."""
    if part.program in programs_with("searcher"):
        return True
    if part.program not in programs_with("grep"):
        return False
    recursive = part.has_flag("rR", "--recursive", "--dereference-recursive")
    return recursive or any((word or "").endswith("recurse") for word in part.argv)


def _has_word(part: Part, starts: tuple[str, ...]) -> bool:
    """Return whether a word has one of these prefixes; `--files` lists names and names no file."""
    for word in part.argv[1:]:
        if word is not None and word.startswith(starts) and not word.startswith("--files"):
            return True
    return False


def _is_given_a_place(part: Part) -> bool:
    """Return whether a part has an argument that names what to read; `--include=*` does not."""
    return any(
        effect.kind is _READ
        and not is_redirect(effect, part)
        and not effect.target.lstrip(_QUOTES).startswith("-")
        for effect in part.effects
    )


def _is_given_folders(part: Part) -> bool:
    """Return whether `git ls-files` has only arguments below its working directory."""
    words = [word or "" for word in part.argv[part.argv.index("ls-files") :]]
    paths = [
        word
        for before, word in pairwise(words)
        if not word.startswith("-") and not _VALUED.fullmatch(before)
    ]
    return bool(paths) and all(map(_FOLDER.fullmatch, paths))


def _is_piped_into(part: Part, analysis: CommandAnalysis) -> bool:
    while part.parent is not None:
        part = analysis.parts[part.parent]
    before = analysis.command[: part.span.start].rstrip(" \t")
    return before.endswith("|") and not before.endswith("||")
