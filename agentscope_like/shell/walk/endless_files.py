"""Detects files whose reading may never end: devices and kernel event files."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from agentscope_like.paths import fixed_ends
from agentscope_like.shell.analysis import Doubt, Effect
from agentscope_like.shell.draft import shortened
from agentscope_like.toml_tables import Expression, table_beside

__all__ = ["endless_reads"]


class _Table(Struct, frozen=True, forbid_unknown_fields=True):
    """The tables of `endless.toml`, which says what each field is."""

    paths: Expression
    beginning: Expression
    ending: Expression
    files: tuple[tuple[str, ...], ...]
    folders: tuple[tuple[str, ...], ...]


_table = table_beside(__file__, "endless.toml", _Table)


def endless_reads(effects: Iterable[Effect]) -> list[Doubt]:
    """Return the doubts about reads that may never end or affect a device."""
    what = "reading the device `{}` may never end, or may disturb it"
    found = filter(_is_device, effects)
    return [Doubt(what.format(shortened(each.target)), each.span) for each in found]


def _is_device(effect: Effect) -> bool:
    path, table = effect.path, _table()
    if path is None:
        begins = table.beginning.match(effect.start) is not None
        return begins or table.ending.fullmatch(effect.end) is not None
    is_named = any(map(table.paths.fullmatch, (path, effect.walked)))
    return is_named or (effect.glob and _may_be_endless(path))


def _may_be_endless(pattern: str) -> bool:
    """Return whether a pattern may match what is endless, or a folder of it, but for `/*`.

    Which devices end is not asked about.
    """
    names = pattern.split("/")[1:]
    places = [each for each in _table().files if len(each) == len(names)]
    places += [each for each in _table().folders if len(each) <= len(names)]
    return names != ["*"] and any(all(map(_may_be, names, place)) for place in places)


def _may_be(glob: str, name: str) -> bool:
    """Return whether a pattern may match a name, by what it begins and ends with."""
    if not name or glob == name:
        return True
    start, end = fixed_ends(glob)
    return len(start) < len(glob) and name.startswith(start) and name.endswith(end)
