"""Detects parts that act on their working directory because they are given no path."""

from __future__ import annotations

import re
from enum import Enum
from itertools import pairwise

from agentscope_like.shell.analysis import (
    CommandAnalysis,
    EffectKind,
    Part,
    answered_once,
)
from agentscope_like.shell.catalog import programs_with
from agentscope_like.shell.facts.shown_content import is_redirect

__all__ = ["Implied", "implied", "searches_below"]

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
_READ = EffectKind.READ


def implied(part: Part, analysis: CommandAnalysis) -> Implied:
    """Return what a part does to its working directory, if it is given no other path."""
    program = part.program
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
