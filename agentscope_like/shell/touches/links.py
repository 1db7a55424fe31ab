"""Detects links that a command creates, copies or moves and that could redirect its writes.

The target of such a link is only known once the link exists. So a command that creates a link
asks if a later part could go through the link.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Set
from contextlib import suppress
from operator import gt

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

__all__ = ["link_objection", "makes_links", "passed", "spots", "takes_links", "ways"]

_FOLLOWING = re.compile(r"-[finuvpx]+|--(?:force|interactive|no-clobber|update|verbose)")
"""Flags with which `cp` follows symlinks, as it does without any."""

_LINKING = re.compile(r"-[^-]*[ls].*|--[ls].*", re.DOTALL)
"""Flags with which `cp` makes links: `-l`, `-s`, `--link`, `--symbolic-link`."""

_TAKEN = frozenset({EffectKind.READ, EffectKind.DELETE})


def link_objection(analysis: CommandAnalysis, around: Surroundings) -> str | None:
    """Return why a link may redirect a part by the time that it runs, or None."""
    is_later = _order_of(analysis)
    if len(analysis.parts) == 1 and not is_later(0, 0):
        return None
    try:
        return _objection_to_edits(analysis, around, is_later) or _objection_to_others(
            analysis, around, is_later
        )
    except PathError as error:
        return str(error)
    except TooManyFilesError:
        return f"it {TOO_MANY}"


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
        _holds_links(effect, around) for effect in _taken(part)
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


def ways(effect: Effect, around: Surroundings) -> Iterator[str]:
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


def _order_of(analysis: CommandAnalysis) -> Callable[[int, int], bool]:
    """Return what tells whether a part may run after another one, or once more after itself."""
    parts, script = analysis.parts, analysis.script
    if (
        script is not None
        and all(isinstance(each.command, SimpleCommand) for each in script.statements)
        and all(each.connector != "&" for each in script.statements)
        and all(part.parent is None for part in parts)
    ):
        return gt  # one after the other, as the text has them
    repeats = any(isinstance(node, For | Loop | ArithmeticFor) for node in analysis.nodes)
    return lambda part, other: part != other or repeats


def _objection_to_edits(
    analysis: CommandAnalysis, around: Surroundings, is_later: Callable[[int, int], bool]
) -> str | None:
    """Return why a part may go through a link that `ln`, `cp` or `mv` creates, or None."""
    for number, part in enumerate(analysis.parts):
        if not part.is_a("relocates"):
            continue
        later = [each for place, each in enumerate(analysis.parts) if is_later(place, number)]
        if makes_links(part) and any(any(_changes(each)) for each in later):
            return (
                f"`{part.program}` creates a link and the command also writes; the link could "
                "redirect the write"
            )
        if (
            _keeps_links(part)
            and any(_touches(each, analysis) for each in later)
            and takes_links(part, around)
        ):
            return (
                f"`{part.program}` relocates a symlink and the command also reads or writes; the "
                "symlink could redirect that"
            )
    return None


def _objection_to_others(
    analysis: CommandAnalysis, around: Surroundings, is_later: Callable[[int, int], bool]
) -> str | None:
    """Return why a change may go through a link that another program creates, or None.

    Only a rule allows such a program. Its files may be copied or moved by other parts.
    """
    if not any(map(_is_other, analysis.parts)):
        return None
    put = {
        number: paths
        for number, part in enumerate(analysis.parts)
        if (_is_other(part) or _keeps_links(part)) and (paths := set(spots(part, around)))
    }
    for number, part in enumerate(analysis.parts):
        for effect in _changes(part):
            reached = {above for path in ways(effect, around) for above in lineage(path)}
            for other, paths in put.items():
                around.effort.spend(ENTRY * len(paths))
                if (
                    other != number
                    and is_later(number, other)
                    and (not paths.isdisjoint(reached) or _goes_below(effect, paths))
                ):
                    return (
                        f"`{effect.target}` may lead elsewhere through a link that another part "
                        "of the command creates"
                    )
    return None


def _goes_below(effect: Effect, paths: Set[str]) -> bool:
    """Return whether a write reaches one of some paths, or may once new files exist."""
    if effect.glob:
        return bool(paths)
    return (
        effect.recursive
        and effect.kind is EffectKind.WRITE
        and any(is_below(path, effect.path or "/") for path in paths)
    )


def _is_other(part: Part) -> bool:
    """Return whether a part may do more than edit files and write redirections."""
    return not part.is_a("edits") and any(
        doubt.span not in part.redirected for doubt in part.doubts
    )


def _taken(part: Part) -> list[Effect]:
    return [each for each in part.effects if each.kind in _TAKEN and not is_redirect(each, part)]


def _keeps_links(part: Part) -> bool:
    """Return whether a part copies or moves links as links; plain `cp a b` does not."""
    if part.is_a("copier"):
        return _has_unknown_option(part) or not all(map(_FOLLOWING.fullmatch, part.options))
    return part.is_a("mover")


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
