"""Detects links that a command creates, copies or moves and that could redirect its writes.

The target of such a link is only known once the link exists. So a command that creates a link
asks if a later part could go through the link.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence, Set
from contextlib import suppress

from agentscope_like.paths import (
    ENTRY,
    TOO_MANY,
    FileKind,
    PathError,
    TooManyFilesError,
    is_below,
    lineage,
    standard_devices,
)
from agentscope_like.shell.analysis import CHANGES, CommandAnalysis, Effect, EffectKind, Part
from agentscope_like.shell.facts import Implied, implied, is_redirect, lists_only
from agentscope_like.shell.surroundings import Surroundings
from agentscope_like.shell.syntax import ArithmeticFor, For, Loop, SimpleCommand

__all__ = ["goes_through", "link_objection", "makes_links", "passed", "spots", "takes_links"]

_LINKING = re.compile(r"-[^-]*[ls].*|--[ls].*", re.DOTALL)
"""Flags with which `cp` makes links: `-l`, `-s`, `--link`, `--symbolic-link`."""

_TAKEN = frozenset({EffectKind.READ, EffectKind.DELETE})


def link_objection(analysis: CommandAnalysis, around: Surroundings) -> str | None:
    """Return why a link may redirect a part by the time that it runs, or None."""
    has_others = any(map(_is_other, analysis.parts))
    try:
        for number, part in enumerate(analysis.parts):
            later = _after(analysis, number)
            if reason := (
                _creation_objection(part, later, analysis, around)
                or _overlap_objection(part, later, around, has_others=has_others)
            ):
                return reason
    except PathError as error:
        return str(error)
    except TooManyFilesError:
        return f"it {TOO_MANY}"
    return None


def makes_links(part: Part) -> bool:
    """Return whether a part makes links: `ln`, and `cp` with such an option or an unknown one."""
    if part.is_a("linker"):
        return True
    return part.is_a("copier") and (
        _has_unknown_option(part) or any(map(_LINKING.fullmatch, part.options))
    )


def takes_links(part: Part, around: Surroundings) -> bool:
    """Return whether a part copies or moves an existing symlink, or a directory with one."""
    return part.is_a("copier", "mover") and any(
        _holds_links(effect, around)
        for effect in part.effects
        if effect.kind in _TAKEN and not is_redirect(effect, part)
    )


def _holds_links(effect: Effect, around: Surroundings) -> bool:
    """Return whether an effect reaches a symlink, a special file, or a directory with a symlink."""
    if effect.path is None:
        return True
    try:
        for path in around.paths(effect):
            location = around.locate(path, follow=False)
            if location.kind is FileKind.DIRECTORY:
                if any(around.links_below(location)):
                    return True
            elif location.kind not in (FileKind.FILE, FileKind.MISSING):
                return True
    except TooManyFilesError:
        return True
    return False


def spots(part: Part, around: Surroundings) -> Iterator[str]:
    """Yield every path of a file that a part creates or moves; `/` for any path.

    Raises:
        PathError: A path cannot be resolved.
    """
    for effect in part.effects:
        if effect.kind is EffectKind.WRITE and not is_redirect(effect, part):
            yield effect.path or "/"
            with suppress(TooManyFilesError):  # then the part is asked about anyway
                for path in around.paths(effect):
                    yield from around.locate(path, follow=False).readings


def _ways(effect: Effect, around: Surroundings) -> Iterator[str]:
    """Yield every directory that the kernel walks through on the way to an effect's path.

    Raises:
        PathError: A path cannot be resolved.
        TooManyFilesError: A pattern reaches too many files.
    """
    yield effect.path or "/"
    for location in around.locations(effect) or ():
        yield from location.readings
    for folder in passed(effect):
        yield from around.locate(folder).readings


def passed(effect: Effect) -> Iterator[str]:
    """Yield the directories that an effect's path, as it was written, enters and leaves by `..`."""
    at = effect.walked.find("/..", 1)
    while at > 0:
        yield effect.walked[:at]
        at = effect.walked.find("/..", at + 1)


def goes_through(effect: Effect, places: Set[str], around: Surroundings) -> bool:
    """Return whether an effect may go through a file at one of some places.

    Raises:
        PathError: A path cannot be resolved.
        TooManyFilesError: A pattern reaches too many files.
    """
    around.effort.spend(ENTRY * len(places))
    if effect.glob and places:
        return True
    if any(not places.isdisjoint(lineage(path)) for path in _ways(effect, around)):
        return True
    copies_trees = effect.recursive and effect.kind is EffectKind.WRITE
    return copies_trees and any(is_below(place, effect.path or "/") for place in places)


def _after(analysis: CommandAnalysis, number: int) -> Sequence[Part]:
    """Return the parts that may run after one, which may be one of them in a loop."""
    parts, script = analysis.parts, analysis.script
    if (
        script is not None
        and all(isinstance(each.command, SimpleCommand) for each in script.statements)
        and all(each.connector != "&" for each in script.statements)
        and all(part.parent is None for part in parts)
    ):
        return parts[number + 1 :]  # one after the other, as the text has them
    if any(isinstance(node, For | Loop | ArithmeticFor) for node in analysis.nodes):
        return parts
    return (*parts[:number], *parts[number + 1 :])


def _creation_objection(
    part: Part, later: Sequence[Part], analysis: CommandAnalysis, around: Surroundings
) -> str | None:
    """Return why a part may go through a link that `ln`, `cp` or `mv` creates, or None."""
    if makes_links(part) and any(any(_changes(each)) for each in later):
        return (
            f"`{part.program}` creates a link and the command also writes; the link could "
            "redirect the write"
        )
    if (
        part.is_a("copier", "mover")
        and any(_touches(each, analysis) for each in later)
        and takes_links(part, around)
    ):
        return (
            f"`{part.program}` relocates a symlink and the command also reads or writes; the "
            "symlink could redirect that"
        )
    return None


def _overlap_objection(
    part: Part, later: Sequence[Part], around: Surroundings, *, has_others: bool
) -> str | None:
    """Return why a change may go through a link that another program creates, or None.

    Only a rule allows such a program. Its files may be copied or moved by other parts.
    """
    if not (_is_other(part) or (has_others and part.is_a("copier", "mover"))):
        return None
    places = set(spots(part, around))
    for effect in (each for other in later if other is not part for each in _changes(other)):
        if goes_through(effect, places, around):
            return (
                f"`{effect.target}` may lead elsewhere through a link that another part of the "
                "command creates"
            )
    return None


def _is_other(part: Part) -> bool:
    """Return whether a part may do more than edit files and write redirections."""
    return not part.is_a("edits") and any(
        doubt.span not in part.redirected for doubt in part.doubts
    )


def _has_unknown_option(part: Part) -> bool:
    return any(effect.kind is EffectKind.UNKNOWN for effect in part.effects)


def _changes(part: Part) -> Iterator[Effect]:
    """Yield what a part changes, except devices such as `/dev/null`."""
    for effect in part.effects:
        if effect.kind in CHANGES and effect.path not in standard_devices():
            yield effect


def _touches(part: Part, analysis: CommandAnalysis) -> bool:
    """Return whether a part changes anything or reads the content of files."""
    if any(_changes(part)) or implied(part, analysis) is Implied.SEARCHES:
        return True
    return any(
        effect.kind is EffectKind.READ
        and effect.path not in standard_devices()
        and not lists_only(effect, part)
        for effect in part.effects
    )
