"""Says why a command is not to run held: what `holding.toml` and its effects tell of it.

A command that runs held has no network, no services and no place outside to write to. What is known
to need one of these, to run without an end or to wait for a person is better asked about. Safety
does not rest on it.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from msgspec import Struct

from agentscope_like.paths import (
    Location,
    PathError,
    TooManyFilesError,
    inside_any,
    locate_directories,
)
from agentscope_like.permission.command.command_rows import CommandRow, RowTable, start_in
from agentscope_like.shell import (
    CHANGES,
    CommandAnalysis,
    EffectKind,
    Part,
    Surroundings,
    Words,
)
from agentscope_like.shell.facts import started_by
from agentscope_like.toml_tables import WordSet, table_beside

__all__ = ["hold_objection"]


class _Need(Struct, frozen=True, forbid_unknown_fields=True):
    """What some commands do, and the rows that say which; see `holding.toml`."""

    does: str
    rows: tuple[CommandRow, ...]
    of_reads: bool = False
    endless: bool = False
    waits: bool = False


class _Table(Struct, frozen=True, forbid_unknown_fields=True):
    """The tables of `holding.toml`, which says what each field is."""

    temporary: tuple[str, ...]
    ends: WordSet
    editors: WordSet
    about: WordSet
    need: dict[str, _Need]


_table = table_beside(__file__, "holding.toml", _Table, _Need, CommandRow)


def hold_objection(analysis: CommandAnalysis, surroundings: Surroundings) -> str | None:
    """Return why a command is not to run held, or None.

    Args:
        analysis: The command. Every part of it counts, at any depth.
        surroundings: Where it would run.
    """
    if not analysis.understood:
        return analysis.doubts[0].message.rstrip(".")
    around = surroundings.of(analysis)
    try:
        for part in analysis.parts:
            if reason := _effect_objection(part, around) or _row_objection(part, analysis, around):
                return reason
    except (PathError, TooManyFilesError) as error:
        return str(error)
    return None


def _effect_objection(part: Part, around: Surroundings) -> str | None:
    """Return which effect of a part the kernel would refuse, or None."""
    for effect in part.effects:
        if effect.kind is EffectKind.NETWORK:
            return f"`{effect.target}` {_table().need['network'].does}"
        for location in (around.locations(effect) or ()) if effect.kind in CHANGES else ():
            if not around.contains(location) and not inside_any(location, _temporary()):
                return f"`{location.absolute}` lies outside the working directories"
    return None


@cache
def _temporary() -> tuple[Location, ...]:
    return locate_directories(_table().temporary, directory="/")


def _row_objection(part: Part, analysis: CommandAnalysis, around: Surroundings) -> str | None:
    if part.read_only and len(part.argv) == 2 and part.argv[1] in _table().about:  # noqa: PLR2004
        return None
    needs = list(_needs_about(part, analysis))
    for words in started_by(part, analysis, around, lambda: None, guess=False):
        for need, table in needs:
            if row := table.row_for(words):
                return f"`{_label(words, row)}` {need.does}"
    return None


def _label(words: Words, row: CommandRow) -> str:
    named = start_in(words[1:], row.starts) or ()
    return " ".join(filter(None, (words[0], *named)))


def _needs_about(
    part: Part, analysis: CommandAnalysis
) -> Iterator[tuple[_Need, RowTable[CommandRow]]]:
    """Yield the needs that count for a part, each with its table."""
    for need, table in _compiled():
        if part.read_only and not need.of_reads:
            continue
        if need.endless and any(
            each.name in _table().ends for each in (part, *analysis.carriers(part))
        ):
            continue
        if not (need.waits and _is_answered(part, analysis)):
            yield need, table


@cache
def _compiled() -> list[tuple[_Need, RowTable[CommandRow]]]:
    return [(need, RowTable(need.rows)) for need in _table().need.values()]


def _is_answered(part: Part, analysis: CommandAnalysis) -> bool:
    """Return whether a part is given an input or an editor, so that it waits for nobody."""
    if any(redirect.feeds for redirect in part.redirects):
        return True
    if any(each.name in _table().editors for each in part.assignments):
        return True
    return analysis.may_read_a_pipe(part)
