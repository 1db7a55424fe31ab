"""Adds a doubt to each part of a command whose program is steered by the project.

What a program does by itself is in the catalog. What its project's files make of it is not, so a
program that such a file steers is proven to do nothing. `catalog/steered_by.toml` has the files.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec.structs import replace

from agentscope_like.shell.analysis import CommandAnalysis, Doubt, Effect, EffectKind, Part
from agentscope_like.shell.catalog import Steering, seen_steerings
from agentscope_like.shell.steering.steering_search import SteeringSearch
from agentscope_like.shell.surroundings import Surroundings

__all__ = ["steered"]

_UNSEEN = frozenset({EffectKind.UNKNOWN, EffectKind.EXECUTE, EffectKind.NETWORK})


def steered(analysis: CommandAnalysis, around: Callable[[], Surroundings]) -> CommandAnalysis:
    """Return the analysis with a doubt for each part that the project steers.

    Args:
        analysis: The command, as its text was read.
        around: Returns where it runs, as the file system is now.
    """
    found = list(map(_steerings, analysis.parts))
    if not any(found):
        return analysis
    search = SteeringSearch(analysis, around())
    parts = [_steered_part(*each, search) for each in zip(analysis.parts, found, strict=True)]
    return replace(analysis, parts=tuple(parts))


def _steerings(part: Part) -> Sequence[Steering]:
    """Return what steers a part by files or variables, unless it is asked about anyway."""
    known = () if part.program is None else seen_steerings(part.program)
    words = part.argv[1:]
    found = [each for needed, each in known if needed.issubset(words)] if known else ()
    return () if found and any(effect.kind in _UNSEEN for effect in part.effects) else found


def _steered_part(part: Part, steerings: Sequence[Steering], search: SteeringSearch) -> Part:
    for steering in steerings:
        if reason := search.objection(part, steering):
            effect = Effect(EffectKind.EXECUTE, "", None, part.span)
            doubts = (*part.doubts, Doubt(reason, part.span))
            return replace(part, effects=(*part.effects, effect), doubts=doubts)
    return part
