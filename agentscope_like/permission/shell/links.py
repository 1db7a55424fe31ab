"""Links that a command makes, copies or moves, and what is reached through them.

A path at or below a link that one part makes cannot be judged beforehand: where it leads is known
only once the part has run.
"""

from __future__ import annotations

import re

from msgspec import Struct

from agentscope_like.permission.paths import FileKind
from agentscope_like.permission.paths.location import is_below
from agentscope_like.permission.shell.analysis import (
    CHANGES,
    CommandAnalysis,
    Effect,
    EffectKind,
    Part,
)
from agentscope_like.permission.shell.expansion import TooManyFilesError
from agentscope_like.permission.shell.programs import COPIERS, LINKERS, MOVERS
from agentscope_like.permission.shell.showing import is_redirect, lists_only
from agentscope_like.permission.shell.surroundings import Surroundings
from agentscope_like.permission.shell.tree import Script, SimpleCommand

__all__ = ["PLAIN", "may_carry_links", "why_not_through_links"]

PLAIN = frozenset({"mkdir", "touch", "rm", "rmdir", "sed", "gsed", "tee", "grm"})
"""Programs that edit files, and never make a link nor move one to another place."""

_HARMLESS_COPY = re.compile(r"-[finuvpx]+|--(?:force|interactive|no-clobber|update|verbose)")
"""Flags with which `cp` follows symlinks, as it does without any."""

_TAKEN = frozenset({EffectKind.READ, EffectKind.DELETE})


class _Act(Struct, frozen=True):
    """One effect of one part."""

    part: Part
    effect: Effect


def why_not_through_links(analysis: CommandAnalysis, around: Surroundings) -> str | None:
    """Return why a path may lead elsewhere by the time that it is used, or None.

    Args:
        analysis: The command, as it was read.
        around: Where it runs.
    """
    acts = [_Act(part, effect) for part in analysis.parts for effect in part.effects]
    makers = [act for act in acts if _may_make_links(act)]
    if not makers:
        return None
    in_order = analysis.script is not None and _is_sequence(analysis.script)
    for maker in makers:
        later = acts[acts.index(maker) :] if in_order else acts
        carries = None
        for other in later:
            if other.part is maker.part or not _is_through(other, maker):
                continue
            if other.effect.kind not in CHANGES:
                if carries is None:
                    carries = may_carry_links(maker.part, analysis, around)
                if not carries:
                    continue
            return (
                f"`{other.effect.target}` is reached through `{maker.effect.target}`, which may "
                "have become a link by then"
            )
    return None


def may_carry_links(part: Part, analysis: CommandAnalysis, around: Surroundings) -> bool:
    """Return whether a part may copy or move symlinks that nobody has looked at.

    Args:
        part: A part; only `cp` and `mv` do so.
        analysis: The whole command.
        around: Where it runs.
    """
    if part.program not in COPIERS | MOVERS:
        return False
    for effect in part.effects:
        if effect.kind not in _TAKEN or is_redirect(effect, part):
            continue
        if effect.path is None or _is_made(effect.path, part, analysis):
            return True
        try:
            if any(_is_link_or_holds_one(path, around) for path in around.paths(effect)):
                return True
        except TooManyFilesError:
            return True
    return False


def _is_link_or_holds_one(path: str, around: Surroundings) -> bool:
    location = around.locate(path, follow=False)
    if location.kind is FileKind.DIRECTORY:
        return next(around.links_below(location), None) is not None
    return location.kind not in (FileKind.FILE, FileKind.MISSING)


def _is_made(path: str, part: Part, analysis: CommandAnalysis) -> bool:
    """Return whether another part puts something at a path that may be a link, or hold one."""
    return any(
        other is not part
        and other.program in COPIERS | MOVERS | LINKERS
        and effect.kind is EffectKind.WRITE
        and not is_redirect(effect, other)
        and (effect.path is None or is_below(path, effect.path) or is_below(effect.path, path))
        for other in analysis.parts
        for effect in other.effects
    )


def _is_through(act: _Act, maker: _Act) -> bool:
    """Return whether a path is used at or below the one that may have become a link."""
    path = act.effect.path
    if act.effect.kind in CHANGES:
        return is_below(path or "/", maker.effect.path or "/")
    if act.effect.kind is not EffectKind.READ or lists_only(act.effect, act.part):
        return False
    return path is None or maker.effect.path is None or is_below(path, maker.effect.path)


def _may_make_links(act: _Act) -> bool:
    part, effect = act.part, act.effect
    if effect.kind is not EffectKind.WRITE or is_redirect(effect, part):
        return False
    if part.program not in COPIERS:
        return part.program not in PLAIN
    flags = [word for word in part.argv[1:] if word is None or word.startswith("-")]
    return not all(word is not None and _HARMLESS_COPY.fullmatch(word) for word in flags)


def _is_sequence(script: Script) -> bool:
    """Return whether simple commands, one after the other, are all there is."""
    return all(
        isinstance(statement.command, SimpleCommand) and statement.connector != "&"
        for statement in script.statements
    )
