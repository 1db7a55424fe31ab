"""Whether editing files inside the working directories is all that a command does."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

from agentscope_like.paths import (
    TOO_MANY,
    FileKind,
    Location,
    PathError,
    TooManyFilesError,
)
from agentscope_like.paths.sensitive import history_directories
from agentscope_like.permission.command.copies_of_new_files import why_not_copy_made
from agentscope_like.shell import (
    CHANGES,
    CommandAnalysis,
    Effect,
    EffectKind,
    Part,
    Surroundings,
    leads_elsewhere,
)
from agentscope_like.shell.facts import is_redirect, makes_links, why_not_through_links

__all__ = [
    "redirects_stay_inside",
    "why_not_a_part",
    "why_not_an_edit",
]

_READ = EffectKind.READ


def why_not_an_edit(analysis: CommandAnalysis, surroundings: Surroundings) -> str | None:
    """Return why a command is more than edits inside the working directories, or None if it is not.

    Every effect of every part counts, but for parts that are proven to read only. A link that one
    part makes or moves counts for the paths of all others.

    Args:
        analysis: The command, as it was read.
        surroundings: Where it runs.
    """
    if analysis.script is None or analysis.doubts:
        return analysis.doubts[0].message if analysis.doubts else "it could not be read"
    if not analysis.parts:
        return "there is no command in it"
    surroundings = surroundings.of(analysis)
    try:
        return (
            _why_not_each_part(analysis, surroundings)
            or why_not_copy_made(analysis, surroundings)
            or why_not_through_links(analysis, surroundings)
        )
    except TooManyFilesError:
        return f"it {TOO_MANY}"
    except PathError as error:
        return str(error)


def _why_not_each_part(analysis: CommandAnalysis, surroundings: Surroundings) -> str | None:
    for part in analysis.parts:
        if not part.read_only and (reason := why_not_a_part(part, surroundings)):
            return reason
        if part.is_a("enters") and (reason := _other_directory(part, surroundings)):
            return reason
    return None


def redirects_stay_inside(part: Part, surroundings: Surroundings) -> bool:
    """Return whether all that the redirections of a part write lies in a working directory."""
    spans = {redirect.span for redirect in part.redirects}
    doubted = {doubt.span for doubt in part.doubts if doubt.span in spans}
    explained = set()
    for effect in part.effects:
        if effect.span not in doubted:
            continue
        if effect.kind not in (EffectKind.WRITE, EffectKind.READ):
            return False
        if _why_outside(effect, surroundings):
            return False
        explained.add(effect.span)
    return doubted <= explained


def why_not_a_part(part: Part, surroundings: Surroundings) -> str | None:
    """Return why one part is more than edits inside the working directories, or None."""
    if not part.effects:
        return "nothing in it is known to be an edit"
    places = {effect.span for effect in part.effects if effect.kind in CHANGES}
    for doubt in part.doubts:
        if doubt.span not in places:
            return doubt.message
    for effect in part.effects:
        if reason := (
            _why_no_edit(effect, part)
            or _why_outside(effect, surroundings)
            or (_made_on_the_way(effect, surroundings) if part.program == "mkdir" else None)
            or (_lost_history(effect, surroundings) if not part.is_a("mover") else None)
        ):
            return reason
    if not part.is_a("relocates"):
        return None
    return (
        _hidden_secret(part, surroundings)
        or _sensitive_copy(part, surroundings)
        or _copy_over_links(part, surroundings)
        or (_bad_symlink(part, surroundings) if _is_symbolic(part) else None)
    )


def _other_directory(part: Part, surroundings: Surroundings) -> str | None:
    """Say so where it depends on what is there by then to which directory `cd` goes."""
    try:
        for effect in part.effects:
            if leads_elsewhere(effect, surroundings):
                return f"`{effect.target}` may lead to another directory, through a symlink"
    except PathError as error:
        return str(error)
    return None


def _made_on_the_way(effect: Effect, surroundings: Surroundings) -> str | None:
    """Say so where a directory is made elsewhere on the way: `mkdir -p ../x/../work/y`."""
    end = effect.walked.find("/..", 1)
    while end > 0:
        location = surroundings.locate(effect.walked[:end])
        if not location.exists:
            if not surroundings.contains(location):
                return f"`{location.absolute}` lies outside the working directories"
            if reason := surroundings.why_not_write(location):
                return reason
        end = effect.walked.find("/..", end + 1)
    return None


def _lost_history(effect: Effect, surroundings: Surroundings) -> str | None:
    """Say so where a whole repository would be removed, with what is recorded nowhere else."""
    if effect.kind is not EffectKind.DELETE or not effect.recursive:
        return None
    for location in surroundings.locations(effect) or ():
        for path in _histories(location, surroundings):
            history = surroundings.locate(path, follow=False)
            if history.exists and (reason := surroundings.why_not_remove(history)):
                return reason
    return None


def _histories(directory: Location, surroundings: Surroundings) -> Iterator[str]:
    """Yield where version control may keep what was: in a directory, or below as far as is seen."""
    if directory.kind is not FileKind.DIRECTORY:
        return
    yield from (f"{directory.resolved}/{name}" for name in sorted(history_directories()))
    with suppress(TooManyFilesError):
        for entry in surroundings.entries_below(directory):
            if entry.name in history_directories():
                yield entry.path


def _hidden_secret(part: Part, surroundings: Surroundings) -> str | None:
    """Say so where a secret gets another name: under that, nobody would know it.

    Nor would anybody know what is sensitive to write by the name that a link gives it.
    """
    kind = EffectKind.DELETE if part.is_a("mover") else EffectKind.READ
    links = makes_links(part)
    for effect in part.effects:
        for place in surroundings.locations(effect) or () if effect.kind is kind else ():
            location = surroundings.locate(place.written)
            reason = surroundings.why_not_read(location, recursive=True)
            if reason is None and links:
                reason = surroundings.why_not_write(location, recursive=True)
            if reason:
                return f"`{effect.target}` would get another name, which nobody knows: {reason}"
    return None


def _sensitive_copy(part: Part, surroundings: Surroundings) -> str | None:
    """Say so where a directory is copied that holds what is sensitive wherever it is."""
    if not part.is_a("copier"):
        return None
    for effect in part.effects:
        for place in surroundings.locations(effect) or () if effect.kind is _READ else ():
            try:
                if reason := _sensitive_below(place, surroundings):
                    return f"`{effect.target}` holds something sensitive: {reason}"
            except TooManyFilesError:
                return f"`{effect.target}` holds too many files to look at each"
    return None


def _sensitive_below(directory: Location, surroundings: Surroundings) -> str | None:
    if directory.kind is not FileKind.DIRECTORY:
        return None
    for entry in surroundings.entries_below(directory):
        if surroundings.sensitive.occur_in(entry.path) and (
            reason := surroundings.why_not_write(surroundings.locate(entry.path, follow=False))
        ):
            return reason
    return None


def _copy_over_links(part: Part, surroundings: Surroundings) -> str | None:
    """Say so where a copy of a directory is written through a symlink that is in its place."""
    if not part.is_a("copier"):
        return None
    places: dict[EffectKind, list[Location]] = {EffectKind.READ: [], EffectKind.WRITE: []}
    for effect in part.effects:
        for location in surroundings.locations(effect) or ():
            if location.kind is FileKind.DIRECTORY and not is_redirect(effect, part):
                places[effect.kind].append(location)
    for source in places[EffectKind.READ]:
        try:
            names = [
                each.path[len(source.resolved) :] for each in surroundings.entries_below(source)
            ]
        except TooManyFilesError:
            return f"`{source.absolute}` holds too many files to look at each"
        for target in dict.fromkeys(each.resolved for each in places[EffectKind.WRITE]):
            for name in names:
                path = f"{target}{name}"
                if surroundings.locate(path, follow=False).kind is not FileKind.SYMLINK:
                    continue
                if reason := surroundings.why_not_edit(path):
                    return reason
    return None


def _why_no_edit(effect: Effect, part: Part) -> str | None:
    if effect.kind is EffectKind.READ:
        return None
    if effect.kind not in CHANGES:
        return next((doubt.message for doubt in part.doubts), "it may do anything")
    if not part.is_a("edits") and not is_redirect(effect, part):
        return f"`{part.program}` is no plain edit of files"
    return None


def _why_outside(effect: Effect, surroundings: Surroundings) -> str | None:
    if effect.path is None:
        return f"where `{effect.target}` leads is not known before it runs"
    try:
        locations = surroundings.locations(effect)
    except PathError as error:
        return str(error)
    except TooManyFilesError:
        return f"`{effect.target}` reaches too many paths to look at each"
    for location in locations or ():
        if not surroundings.contains(location):
            return f"`{location.absolute}` lies outside the working directories"
        if effect.kind in CHANGES and (
            reason := surroundings.why_not_write(location, recursive=effect.recursive)
        ):
            return reason
    return None


def _is_symbolic(part: Part) -> bool:
    """Return whether a part that puts something somewhere is told to make symlinks, or may be."""
    words = [word for word in part.argv[1:] if word is not None]
    short = "".join(word[1:] for word in words if word[:1] == "-" and word[:2] != "--")
    return "s" in short or any(word.startswith("--s") for word in words)


def _in_place_of_a_directory(part: Part, surroundings: Surroundings) -> str | None:
    """Say so where a symlink would be a directory in which there is something sensitive."""
    for effect in part.effects:
        for place in surroundings.paths(effect) if effect.kind is EffectKind.WRITE else ():
            link = surroundings.locate(place, follow=False)
            if reason := surroundings.why_not_write(link, recursive=True):
                return f"the link would stand for something sensitive: {reason}"
    return None


def _bad_symlink(part: Part, surroundings: Surroundings) -> str | None:
    """Return why a symlink needs a person's word, from where it stands and where it leads."""
    return _in_place_of_a_directory(part, surroundings) or _leads_astray(part, surroundings)


def _leads_astray(part: Part, surroundings: Surroundings) -> str | None:
    """Say so where a symlink is made to something outside: its target counts from its own place."""
    targets = [effect.target for effect in part.effects if effect.kind is EffectKind.READ]
    links = [effect.path or "" for effect in part.effects if effect.kind is EffectKind.WRITE]
    directories = dict.fromkeys(link.rpartition("/")[0] for link in links)
    for target in targets:
        for directory in () if target.startswith("/") else directories:
            location = surroundings.locate(f"{directory}/{target}")
            if not surroundings.contains(location):
                return f"the link to `{target}` leads outside the working directories"
            reason = surroundings.why_not_write(location, recursive=True)
            if reason := reason or surroundings.why_not_read(location, recursive=True):
                return f"the link leads to something sensitive: {reason}"
    return None
