"""Says why a command does more than edit files inside the working directories.

Each path that an edit writes lies, with its symlinks followed, inside a working directory and is
not sensitive. No sensitive file gets a name that no rule protects, what is copied brings no
sensitive file with it, and a command that creates a link writes nothing besides (see `links`).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

from agentscope_like.paths import FileKind, Location, PathError, TooManyFilesError
from agentscope_like.paths.sensitive import history_directories
from agentscope_like.shell import (
    CHANGES,
    CommandAnalysis,
    Effect,
    EffectKind,
    Part,
    Surroundings,
    leads_elsewhere,
)
from agentscope_like.shell.touches import (
    copy_objection,
    link_objection,
    more_than_edits,
    pattern_objection,
)

__all__ = ["edit_objection", "part_objection", "redirect_objection"]

_READ, _WRITE, _DELETE = EffectKind.READ, EffectKind.WRITE, EffectKind.DELETE


def edit_objection(analysis: CommandAnalysis, around: Surroundings) -> str | None:
    """Return why a command is more than edits inside the working directories, or None if it is not.

    Every effect of every part is checked, except of parts that are proven to read only.
    """
    if analysis.doubts:
        return analysis.doubts[0].message
    if not analysis.parts:
        return "it contains no command"
    around = around.of(analysis)
    try:
        return (
            _first_objection(analysis, around)
            or pattern_objection(analysis, around)
            or link_objection(analysis, around)
        )
    except (PathError, TooManyFilesError) as error:
        return str(error)


def _first_objection(analysis: CommandAnalysis, around: Surroundings) -> str | None:
    for part in analysis.parts:
        if not part.read_only and (reason := part_objection(part, around)):
            return reason
        for effect in part.effects if part.is_a("enters") else ():
            if leads_elsewhere(effect, around):
                return f"`{effect.target}` may lead to a different directory through a symlink"
    return None


def part_objection(part: Part, around: Surroundings) -> str | None:
    """Return why one part is more than edits inside the working directories, or None.

    Raises:
        PathError: A path cannot be resolved.
        TooManyFilesError: The look budget is spent.
    """
    if reason := more_than_edits(part):
        return reason
    is_symbolic = _is_symbolic(part)
    for effect in part.effects:
        if reason := (
            _place_objection(effect, around, replaces=is_symbolic)
            or (_way_objection(effect, around) if part.program == "mkdir" else None)
            or (_history_objection(effect, around) if not part.is_a("mover") else None)
        ):
            return reason
    if not part.is_a("relocates"):
        return None
    return _name_objection(part, around) or (
        copy_objection(part, around) if part.is_a("copier") else None
    )


def redirect_objection(part: Part, around: Surroundings) -> str | None:
    """Return why the redirections of a part do more than edit, or None."""
    doubted = {each.span: each.message for each in part.doubts if each.span in part.redirected}
    explained = set()
    for effect in part.effects:
        if effect.span in doubted:
            if effect.kind not in (_WRITE, _READ):
                return doubted[effect.span]
            if reason := _place_objection(effect, around):
                return reason
            explained.add(effect.span)
    return next((doubted[span] for span in doubted if span not in explained), None)


def _place_objection(effect: Effect, around: Surroundings, *, replaces: bool = False) -> str | None:
    """Return why an effect leaves the working directories or changes a sensitive path, or None.

    Args:
        effect: The effect.
        around: Where the command runs.
        replaces: Whether all that is below a changed path is changed with it.
    """
    if effect.path is None:
        return f"the path of `{effect.target}` is only known at run time"
    try:
        for location in around.locations(effect) or ():
            if not around.contains(location):
                return _outside(location)
            recursive = effect.recursive or replaces
            if effect.kind in CHANGES and (
                reason := around.write_objection(location, recursive=recursive)
            ):
                return reason
    except (PathError, TooManyFilesError) as error:
        return str(error)
    return None


def _outside(location: Location) -> str:
    return f"`{location.absolute}` lies outside the working directories"


def _way_objection(effect: Effect, around: Surroundings) -> str | None:
    """Return why `mkdir -p x/../y` creates a directory on the way, or None."""
    at = effect.walked.find("/..", 1)
    while at > 0:
        folder = around.locate(effect.walked[:at])
        if not folder.exists:
            return f"`{folder.absolute}` would be created on the way"
        at = effect.walked.find("/..", at + 1)
    return None


def _history_objection(effect: Effect, around: Surroundings) -> str | None:
    """Return why removing a repository would lose its history, or None."""
    if effect.kind is not _DELETE or not effect.recursive:
        return None
    for location in around.locations(effect) or ():
        for path in _histories(location, around):
            history = around.locate(path, follow=False)
            if history.exists and (reason := around.removal_objection(history)):
                return reason
    return None


def _histories(directory: Location, around: Surroundings) -> Iterator[str]:
    """Yield the version control directories in and below a directory, within the look budget."""
    if directory.kind is not FileKind.DIRECTORY:
        return
    yield from (f"{directory.resolved}/{name}" for name in sorted(history_directories()))
    with suppress(TooManyFilesError):
        for entry in around.entries_below(directory):
            if entry.name in history_directories():
                yield entry.path


def _name_objection(part: Part, around: Surroundings) -> str | None:
    """Return why a sensitive file would get a name that no rule protects, or None.

    A symlink also gives a new name to what is sensitive to write; a hard link is a write of it.
    """
    is_symbolic = _is_symbolic(part)
    for target, location in _sources(part, around):
        if is_symbolic and not around.contains(location):
            return f"the link to `{target}` leads outside the working directories"
        reason = around.read_objection(location, recursive=True)
        if reason is None and is_symbolic:
            reason = around.write_objection(location, recursive=True)
        if reason:
            return f"`{target}` would get a name that no rule protects: {reason}"
    return None


def _sources(part: Part, around: Surroundings) -> Iterator[tuple[str, Location]]:
    """Yield what gets another name, also as a symlink takes it: from where it lies itself."""
    kind = _DELETE if part.is_a("mover") else _READ
    sources = [effect for effect in part.effects if effect.kind is kind]
    for effect in sources:
        for place in around.locations(effect) or ():
            yield effect.target, around.locate(place.written)
    if _is_symbolic(part):
        for directory in {path.rpartition("/")[0] for path in part.written}:
            for effect in sources:
                if not effect.target.startswith("/"):
                    yield effect.target, around.locate(f"{directory}/{effect.target}")


def _is_symbolic(part: Part) -> bool:
    """Return whether the options of `ln` or `cp` may ask for symlinks."""
    return part.is_a("linker", "copier") and (
        part.has_flag("s") or any(each.startswith("--s") for each in part.options)
    )
