"""Sockets, devices and network that proven reads need; `views.toml` lists them, with reasons."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from typing import Any

from msgspec import Struct

from agentscope_like.shell import CommandAnalysis, Part
from agentscope_like.shell.catalog import canonical

__all__ = ["View", "network_programs", "programs_with_views", "view_of"]

_KEEPING_NOTHING = frozenset({"/dev/null", "/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/tty"})
_ALL_BUT_HOST = frozenset({"network", "sockets", "processes", "devices"})


class View(Struct, frozen=True):
    """What one command sees of the host besides files.

    Attributes:
        sees: Words of the table's `sees`, but for `host`.
        writes: Absolute existing paths that its programs write to on their own, such as caches.
        whole_host: Why it cannot be confined at all; empty if it can.
    """

    sees: frozenset[str] = frozenset()
    writes: tuple[str, ...] = ()
    whole_host: str = ""


class _Entry(Struct, frozen=True):
    sees: frozenset[str]
    own: tuple[str, ...]
    beside: bool
    because: str


class _Table(Struct, frozen=True):
    """`views.toml`, by the first word of the programs and by paths."""

    filters: frozenset[str]
    programs: dict[str, tuple[tuple[frozenset[str], _Entry], ...]]
    paths: tuple[tuple[str, _Entry], ...]


def view_of(analysis: CommandAnalysis, home: str | None) -> View:
    """Return what a proven read needs of the host in addition to files.

    Args:
        analysis: The analysis of the command.
        home: What `~` stands for; None where that is not known.
    """
    table = _table()
    found = list(_entries_of_path(analysis.directory, table))
    writes: set[str] = set()
    only_hosts = True
    for part in analysis.parts:
        entries = list(_entries(part, table))
        found += entries
        for entry in entries:
            writes |= {os.path.join(home or "/", path) for path in entry.own}
            if entry.beside:
                writes |= {os.path.dirname(path) for path in _paths(part)}
        is_filter = part.program is not None and canonical(part.program) in table.filters
        if not is_filter and all("host" not in each.sees for each in entries):
            only_hosts = False
    sees = frozenset().union(*(entry.sees for entry in found))
    if "host" in sees:
        if only_hosts:
            return View(whole_host=next(each.because for each in found if "host" in each.sees))
        sees = _ALL_BUT_HOST
    return View(sees, tuple(sorted(path for path in writes if os.path.exists(path))))


def programs_with_views() -> frozenset[str]:
    """Return the names of all programs that `views.toml` lists."""
    table = _table()
    return table.filters | table.programs.keys()


def network_programs() -> frozenset[str]:
    """Return the first names of the programs that reach the network, or a daemon."""
    return frozenset(
        name
        for name, entries in _table().programs.items()
        if any(not entry.sees.isdisjoint({"network", "sockets"}) for _, entry in entries)
    )


def _entries(part: Part, table: _Table) -> Iterator[_Entry]:
    if part.program is not None and (known := table.programs.get(canonical(part.program))):
        words = frozenset(word for word in part.argv[1:] if word is not None)
        for needed, entry in known:
            if needed <= words:
                yield entry
    for effect in part.effects:
        yield from _entries_of_path(effect.path, table)


def _entries_of_path(path: str | None, table: _Table) -> Iterator[_Entry]:
    if path is None or path in _KEEPING_NOTHING or path.startswith("/dev/fd/"):
        return
    for place, entry in table.paths:
        if path == place or path.startswith(f"{place}/"):
            yield entry


def _paths(part: Part) -> Iterator[str]:
    """Yield the paths that a part reads, but for patterns."""
    return (effect.path for effect in part.effects if effect.path is not None and not effect.glob)


@cache
def _table() -> _Table:
    text = files(__package__).joinpath("views.toml").read_text("utf-8")
    data = tomllib.loads(text)
    programs: dict[str, list[tuple[frozenset[str], _Entry]]] = {}
    paths: list[tuple[str, _Entry]] = []
    for view in data["view"]:
        entry = _Entry(
            frozenset(view.get("sees", "").split()),
            tuple(path.removeprefix("~/") for path in view.get("own", "").split()),
            view.get("beside", False),
            view["because"],
        )
        for name in _names(view.get("programs", "")):
            first, *rest = name.split()
            programs.setdefault(first, []).append((frozenset(rest), entry))
        paths += [(path, entry) for path in view.get("paths", "").split()]
    return _Table(
        frozenset(data["filters"].split()),
        {name: tuple(entries) for name, entries in programs.items()},
        tuple(paths),
    )


def _names(programs: Any) -> list[str]:
    return programs.split() if isinstance(programs, str) else list(programs)
