"""Derives the kernel profile of a command from its permission decision."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum

from msgspec import Struct
from msgspec.structs import replace

from agentscope_like.paths import PathError, TooManyFilesError
from agentscope_like.permission.command import PreparedCommand
from agentscope_like.sandbox.isolation.profile import (
    FORGOTTEN,
    Profile,
    editing,
    nearest_existing,
    reading,
)
from agentscope_like.sandbox.isolation.views import View, view_of
from agentscope_like.shell import CommandAnalysis, Effect, EffectKind, Surroundings

__all__ = ["Scope", "ScopeKind", "edit_scope", "scope_of", "without_paths"]

_STATED = frozenset({EffectKind.READ, EffectKind.WRITE, EffectKind.DELETE, EffectKind.NETWORK})
_CHANGES = frozenset({EffectKind.WRITE, EffectKind.DELETE})
_NOT_FILES = ("/dev", "/proc", "/sys")
_MOST_KEPT = 200


class ScopeKind(StrEnum):
    """How much a command is allowed to do.

    Attributes:
        READ: It is proven to read only.
        EDIT: It is known to edit files in the working directories only, and was allowed as that.
        STATED: It was allowed by a rule or a person, and all its effects are known.
        HOST: It was allowed although its effects are unknown; or it is a proven read that has to
            see the whole host.
    """

    READ = "read"
    EDIT = "edit"
    STATED = "stated"
    HOST = "host"


class Scope(Struct, frozen=True):
    """What a command is allowed to do.

    Attributes:
        kind: How much.
        profile: The kernel profile for that; None if it is not confined.
        because: Why it is not confined; empty if it is.
    """

    kind: ScopeKind
    profile: Profile | None
    because: str = ""


def scope_of(call: PreparedCommand) -> Scope:
    """Return the scope of an allowed command; may look at files.

    Args:
        call: The command, as read for the decision.
    """
    analysis, surroundings = call.analysis, call.surroundings
    if analysis.read_only:
        return _within(ScopeKind.READ, view_of(analysis, surroundings.home))
    try:
        if call.only_edits:
            return edit_scope(analysis, surroundings)
        if reason := _effects_objection(analysis):
            return Scope(ScopeKind.HOST, None, reason)
        return _stated(analysis, surroundings)
    except (PathError, TooManyFilesError, OSError) as error:
        return Scope(ScopeKind.HOST, None, f"where it writes cannot be told: {error}")


def without_paths(scope: Scope, paths: Sequence[str]) -> Scope:
    """Return the scope of a command for which some directories and files are empty.

    Args:
        scope: What it may do; if it is not confined, nothing is hidden.
        paths: Absolute paths of directories and files, without symlinks.
    """
    profile = scope.profile
    if profile is None:
        return scope
    empty = tuple(each for each in paths if os.path.isdir(each))
    hide = tuple(each for each in paths if os.path.isfile(each))
    hidden = replace(profile, empty=(*profile.empty, *empty), hide=(*profile.hide, *hide))
    return replace(scope, profile=hidden)


def edit_scope(analysis: CommandAnalysis, surroundings: Surroundings) -> Scope:
    """Return the scope of a command that was allowed to edit files in the working directories.

    Args:
        analysis: The command.
        surroundings: Where it runs.
    """
    directories = [each.resolved for each in surroundings.working_directories]
    if "/" in directories:
        return Scope(ScopeKind.HOST, None, "the root directory is a working directory")
    looked_at = [*directories, *_on_the_way(directories, _places(analysis, surroundings))]
    kept = _sensitive_in(looked_at, surroundings)
    view = view_of(analysis, surroundings.home)
    return _within(ScopeKind.EDIT, view, directories, keep=kept)


def _stated(analysis: CommandAnalysis, surroundings: Surroundings) -> Scope:
    places = _places(analysis, surroundings)
    if any(
        _is_below(place, root) and not _is_below(place, FORGOTTEN)
        for place in places
        for root in _NOT_FILES
    ):
        return Scope(ScopeKind.HOST, None, "it writes to something that is not a file")
    directories = _written_directories(analysis, surroundings)
    if "/" in directories:
        return Scope(ScopeKind.HOST, None, "it writes to the root directory")
    looked_at = [*directories, *_on_the_way(directories, places)]
    kept = [
        path
        for path in _sensitive_in(looked_at, surroundings)
        if not any(_is_below(place, path) or _is_below(path, place) for place in places)
    ]
    view = view_of(analysis, surroundings.home)
    if any(effect.kind is EffectKind.NETWORK for effect in analysis.effects):
        view = replace(view, sees=view.sees | {"network", "sockets"})
    return _within(ScopeKind.STATED, view, directories, keep=kept)


def _within(
    kind: ScopeKind, view: View, directories: Iterable[str] = (), *, keep: Iterable[str] = ()
) -> Scope:
    """Return the scope of writing to these directories, with what the programs also need."""
    if view.whole_host:
        return Scope(ScopeKind.HOST, None, view.whole_host)
    written = [*directories, *view.writes]
    profile = editing(written, keep=keep) if written else reading()
    return Scope(kind, _seeing(profile, view.sees))


def _effects_objection(analysis: CommandAnalysis) -> str | None:
    """Return why the effects of a command are not all known, or None."""
    if analysis.script is None or analysis.doubts or not analysis.parts:
        return "what it does is not known"
    for part in analysis.parts:
        explained = {effect.span for effect in part.effects if effect.kind in _STATED}
        if any(effect.kind not in _STATED for effect in part.effects):
            return "what it does is not known"
        if any(doubt.span not in explained for doubt in part.doubts):
            return "what it does is not known"
        if any(each.kind in _CHANGES and each.path is None for each in part.effects):
            return "where it writes is not known before it runs"
    return None


def _seeing(profile: Profile, sees: frozenset[str]) -> Profile:
    if not sees:
        return profile
    return replace(
        profile,
        network="network" in sees,
        sockets="sockets" in sees,
        processes="processes" in sees,
        signals={"processes", "signals"} <= sees,
        devices="devices" in sees,
        hide=() if "memory" in sees else (FORGOTTEN,),
    )


def _places(analysis: CommandAnalysis, surroundings: Surroundings) -> list[str]:
    """Return every path that is written or removed, as the kernel would resolve it."""
    changes = (effect for effect in analysis.effects if effect.kind in _CHANGES)
    return list(dict.fromkeys(_resolved(changes, surroundings)))


def _resolved(effects: Iterable[Effect], surroundings: Surroundings) -> Iterator[str]:
    for effect in effects:
        for location in surroundings.locations(effect) or ():
            yield location.resolved


def _written_directories(analysis: CommandAnalysis, surroundings: Surroundings) -> list[str]:
    """Return the directories in which names are created, replaced and removed."""
    found: dict[str, None] = {}
    for part in analysis.parts:
        changes = [effect for effect in part.effects if effect.kind in _CHANGES]
        links = list(part.effects) if changes and part.is_a("linker") else changes
        directories = set(_around(links, surroundings))
        if links is not changes or {effect.kind for effect in changes} >= _CHANGES:
            directories = _joined(directories, surroundings)
        found.update(dict.fromkeys(sorted(directories)))
    return list(found)


def _around(effects: Iterable[Effect], surroundings: Surroundings) -> Iterator[str]:
    for effect in effects:
        for place in _resolved([effect], surroundings):
            is_into = effect.kind is not EffectKind.DELETE and os.path.isdir(place)
            yield place if is_into else nearest_existing(os.path.dirname(place))


def _joined(directories: set[str], surroundings: Surroundings) -> set[str]:
    """Return one directory that holds all of these, if it holds little else.

    Files cannot be renamed or linked across mounts, and each directory is a mount of its own.
    """
    if not directories:
        return directories
    common = os.path.commonpath(directories)
    too_much = ("/", os.path.realpath(surroundings.home or "/"))
    return directories if any(_is_below(each, common) for each in too_much) else {common}


# What stays as it is, in and around what is written


def _sensitive_in(directories: Iterable[str], surroundings: Surroundings) -> Iterator[str]:
    """Yield the sensitive paths directly in the directories.

    Their subdirectories are not searched: that would take longer than the command.
    """
    for directory in dict.fromkeys(directories):
        yield from _sensitive_names(directory, surroundings)


def _on_the_way(directories: Iterable[str], targets: Iterable[str]) -> Iterator[str]:
    """Yield the directories between those that may be written to and each target."""
    roots = tuple(directories)
    for target in targets:
        place = os.path.dirname(target)
        while place not in roots and any(_is_below(place, root) for root in roots):
            yield place
            place = os.path.dirname(place)


def _sensitive_names(directory: str, surroundings: Surroundings) -> Iterator[str]:
    try:
        with os.scandir(directory) as listing:
            names = [item.path for item in listing if _may_matter(item.name, surroundings)]
    except OSError:
        return
    for path in names[:_MOST_KEPT]:
        location = surroundings.locate(path)
        if surroundings.write_objection(location, recursive=True):
            yield path


def _may_matter(name: str, surroundings: Surroundings) -> bool:
    return name.startswith(".") or surroundings.sensitive.occur_in(name)


def _is_below(path: str, directory: str) -> bool:
    return path == directory or path.startswith(f"{directory.rstrip('/')}/")
