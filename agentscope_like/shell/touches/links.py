"""Says whether a command could go through a link that it makes, copies or moves itself.

Where such a link leads can be looked up only once it is there. So a command that puts one somewhere
asks if a later part could go through it, wherever that part goes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from agentscope_like.paths import FileKind, PathError, TooManyFilesError, standard_devices
from agentscope_like.shell.analysis import CHANGES, CommandAnalysis, Effect, EffectKind, Part
from agentscope_like.shell.facts import is_redirect, lists_only
from agentscope_like.shell.surroundings import Surroundings
from agentscope_like.shell.syntax import ArithmeticFor, For, Loop, SimpleCommand

__all__ = ["link_objection", "makes_links", "takes_links"]

_LINKING = re.compile(r"-[^-]*[ls].*|--[ls].*", re.DOTALL)
"""Flags with which `cp` makes links: `-l`, `-s`, `--link`, `--symbolic-link`."""

_TAKEN = frozenset({EffectKind.READ, EffectKind.DELETE})


def link_objection(analysis: CommandAnalysis, around: Surroundings) -> str | None:
    """Return why a link may redirect a part by the time that it runs, or None."""
    has_others = any(map(_is_other, analysis.parts))
    try:
        for number, part in enumerate(analysis.parts):
            later = _after(analysis, number)
            if _may_make_links(part, has_others=has_others) and any(
                any(_changes(each)) for each in later
            ):
                return (
                    f"`{part.name}` may create a link and the command also writes; the link could "
                    "redirect the write"
                )
            if any(map(_touches, later)) and takes_links(part, around):
                return (
                    f"`{part.name}` relocates a symlink and the command also reads or writes; the "
                    "symlink could redirect that"
                )
    except (PathError, TooManyFilesError) as error:
        return str(error)
    return None


def makes_links(part: Part) -> bool:
    """Return whether a part makes links: `ln`, and `cp` with such an option or an unknown one."""
    if part.is_a("linker"):
        return True
    return part.is_a("copier") and (
        any(effect.kind is EffectKind.UNKNOWN for effect in part.effects)
        or any(map(_LINKING.fullmatch, part.options))
    )


def takes_links(part: Part, around: Surroundings) -> bool:
    """Return whether a part copies or moves an existing symlink, or a directory with one.

    Raises:
        PathError: A path cannot be resolved.
    """
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


def _may_make_links(part: Part, *, has_others: bool) -> bool:
    """Return whether a part makes links, or a program that only a rule allows may have made one.

    Such a program may put links where it is known to write, and copies and moves may take them on.
    """
    if makes_links(part) or (has_others and part.is_a("copier", "mover")):
        return True
    return (
        _is_other(part)
        and not part.is_a("keeps_contents")
        and any(
            effect.kind is EffectKind.WRITE and not is_redirect(effect, part)
            for effect in part.effects
        )
    )


def _is_other(part: Part) -> bool:
    """Return whether a part may do more than edit files and write redirections."""
    return not part.is_a("edits") and any(
        doubt.span not in part.redirected for doubt in part.doubts
    )


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


def _changes(part: Part) -> Iterator[Effect]:
    """Yield what a part changes, except devices such as `/dev/null`."""
    for effect in part.effects:
        if effect.kind in CHANGES and effect.path not in standard_devices():
            yield effect


def _touches(part: Part) -> bool:
    """Return whether a part changes anything or reads the content of files."""
    if any(_changes(part)):
        return True
    return any(
        effect.kind is EffectKind.READ
        and effect.path not in standard_devices()
        and not lists_only(effect, part)
        for effect in part.effects
    )
