"""What a part shows of the files that it reads: what is in them, how much, or their names."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from msgspec import Struct

from agentscope_like.shell.analysis import Effect, EffectKind, Part, answered_once
from agentscope_like.shell.catalog import canonical
from agentscope_like.toml_tables import Expression, read_table

__all__ = [
    "choosing_option",
    "counts",
    "follows",
    "is_redirect",
    "lists_only",
    "reads_no_directory",
    "reads_unseen_files",
    "shows_unseen_files",
]

_READ = EffectKind.READ


class _Table(Struct, frozen=True, forbid_unknown_fields=True):
    """The tables of `showing.toml`, which says what each field is."""

    shown_by_git: frozenset[str]
    name_lists: dict[str, Expression]
    chosen_by: dict[str, Expression]
    follow_flags: dict[str, str]


@cache
def _table() -> _Table:
    return read_table(Path(__file__).with_name("showing.toml"), _Table)


def lists_only(effect: Effect, part: Part) -> bool:
    """Return whether a part looks at the name and metadata of what it reads, and no further."""
    if not part.is_a("shows_names") or is_redirect(effect, part):
        return False
    if part.program == "git":
        moves = part.git_command != "grep" and effect.target in part.values_of(("-C",))
        return moves or part.git_command not in _table().shown_by_git
    return not _takes_names(part)


def choosing_option(part: Part) -> Expression | None:
    """Return by which option a search is told the names of the files that it reads, or None."""
    return _table().chosen_by.get(canonical(part.program or ""))


def shows_unseen_files(part: Part) -> bool:
    """Return whether a part shows what is in files that it is only told of while it runs."""
    return reads_unseen_files(part) and not counts(part)


def reads_unseen_files(part: Part) -> bool:
    """Return whether a part reads files that it is only told of while it runs."""
    for effect in part.effects:
        if effect.path is None and effect.kind is _READ and not lists_only(effect, part):
            return True
    return False


def counts(part: Part) -> bool:
    """Return whether a part tells no more of files than how much is in them."""
    return part.is_a("counter") and not _takes_names(part)


def _takes_names(part: Part) -> bool:
    """Return whether a part quotes what is in a file, which it takes for names or patterns."""
    return _name_lists(part) is not None and _is_told_of_names(part)


@answered_once
def _is_told_of_names(part: Part) -> bool:
    option = _name_lists(part)
    return option is not None and any(map(option.fullmatch, part.options))


def _name_lists(part: Part) -> Expression | None:
    return _table().name_lists.get(canonical(part.program or ""))


def reads_no_directory(part: Part) -> bool:
    """Return whether a part reads nothing of a directory, given one."""
    return part.is_a("file_reader")


def follows(part: Part, *, otherwise: bool) -> bool:
    """Return whether a part may follow the symlinks that it comes upon.

    Args:
        part: The part.
        otherwise: The answer for a program of which nobody knows.
    """
    letters = _table().follow_flags.get(canonical(part.program or ""))
    if letters is None:
        return otherwise
    return part.has_flag(letters, "--dereference-recursive", "--dereference", "--follow", "-follow")


def is_redirect(effect: Effect, part: Part) -> bool:
    """Return whether an effect is that of a redirection."""
    return bool(part.redirects) and effect.span in part.redirected
