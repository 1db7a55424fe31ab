"""Tells what a part shows of the files that it reads."""

from __future__ import annotations

from msgspec import Struct

from agentscope_like.shell.analysis import Effect, EffectKind, Part, answered_once
from agentscope_like.shell.catalog import canonical, programs_with
from agentscope_like.toml_tables import Expression, table_beside

__all__ = [
    "choosing_option",
    "counts",
    "follows",
    "is_redirect",
    "lists_only",
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


_table = table_beside(__file__, "showing.toml", _Table)


def lists_only(effect: Effect, part: Part) -> bool:
    """Return whether a part reads only names and metadata."""
    if part.program not in programs_with("shows_names") or is_redirect(effect, part):
        return False
    if part.program == "git":
        moves = part.git_command != "grep" and effect.target in part.values_of(("-C",))
        return moves or part.git_command not in _table().shown_by_git
    return not _takes_names(part)


def choosing_option(program: str | None) -> Expression | None:
    """Return the option by which a search is told the names of the files that it reads, or None."""
    return _table().chosen_by.get(canonical(program or ""))


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


@answered_once
def _takes_names(part: Part) -> bool:
    """Return whether a part may print lines of a file that it reads as names or patterns."""
    option = _table().name_lists.get(canonical(part.program or ""))
    return option is not None and any(map(option.fullmatch, part.options))


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
