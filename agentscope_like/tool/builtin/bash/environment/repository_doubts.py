"""Puts a doubt on each git command whose repository may make git show other files."""

from __future__ import annotations

from collections.abc import Hashable, Mapping

from msgspec.structs import replace

from agentscope_like.exception import ToolArgumentError
from agentscope_like.file_looks import Looks
from agentscope_like.shell import CommandAnalysis, Doubt, Part, Surroundings
from agentscope_like.tool.builtin.bash.environment.git_programs import (
    MAX_PLACES,
    overrides,
    places_of,
)
from agentscope_like.tool.builtin.bash.environment.repository import Repositories

__all__ = ["with_repository_doubts"]

_MOST_KEPT = 64

_harmless: dict[Hashable, Looks] = {}
"""What the repositories of commands without doubts were read from, by what the command reads."""


def with_repository_doubts(
    analysis: CommandAnalysis, around: Surroundings, environment: Mapping[str, str]
) -> CommandAnalysis:
    """Return the analysis with a doubt for each proven part that git would not run as proven.

    Args:
        analysis: The command.
        around: Where it runs.
        environment: The variables that git would see.
    """
    known = _key(analysis, around, environment)
    if known in _harmless and _harmless[known].hold():
        return analysis
    parts = list(analysis.parts)
    repositories = Repositories(around, environment)
    for number, part in enumerate(parts):
        if part.read_only and (objection := _objection(part, analysis, repositories)):
            span = part.words[0].span if part.words else part.span
            parts[number] = replace(part, doubts=(Doubt(objection, span),))
    if parts != list(analysis.parts):
        return replace(analysis, parts=tuple(parts))
    if known is not None and repositories.looks.are_known:
        if len(_harmless) >= _MOST_KEPT:
            _harmless.clear()
        _harmless[known] = repositories.looks
    return analysis


def _key(
    analysis: CommandAnalysis, around: Surroundings, environment: Mapping[str, str]
) -> Hashable:
    """Return all that the doubts depend on but for the files; None where it is not known."""
    try:
        places = [
            place for part in analysis.parts if part.read_only for place in places_of(part, analysis)
        ]
    except ToolArgumentError:
        return None
    chosen = environment.get("GIT_DIR")
    return (*places, chosen, around.directory, around.working, around.root)


def _objection(part: Part, analysis: CommandAnalysis, repositories: Repositories) -> str | None:
    try:
        places = places_of(part, analysis)
        if len(places) > MAX_PLACES:
            return f"Git would run in {len(places)} places, too many to check"
        for place in places:
            found = repositories.keys(place.directory, place.options, tells_names=place.tells_names)
            for _ in overrides(place, found):
                pass
    except ToolArgumentError as error:
        return error.message[:1].upper() + error.message[1:]
    return None
