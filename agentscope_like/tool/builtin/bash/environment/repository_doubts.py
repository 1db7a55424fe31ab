"""Puts a doubt on each git command whose repository may make git show other files."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping

from msgspec.structs import replace

from agentscope_like.exception import ToolArgumentError
from agentscope_like.file_changes import Looks
from agentscope_like.shell import CommandAnalysis, Doubt, Part, PlainRead, Surroundings
from agentscope_like.shell.catalog import programs_with
from agentscope_like.tool.builtin.bash.environment.git_programs import (
    MAX_PLACES,
    GitPlace,
    overrides,
    place_in,
    places_of,
)
from agentscope_like.tool.builtin.bash.environment.repository import Repositories

__all__ = ["is_known_harmless", "with_repository_doubts"]

_MOST_KEPT = 64
_DIRECTORY_VARIABLE = "GIT_DIR"

_harmless: dict[Hashable, Looks] = {}
"""What the repositories of commands without doubts were read from, by what the command reads."""


def with_repository_doubts(
    analysis: CommandAnalysis,
    project: tuple[str, ...],
    around: Callable[[], Surroundings],
    environment: Mapping[str, str],
) -> CommandAnalysis:
    """Return the analysis with a doubt for each proven part that git would not run as proven.

    It is remembered which commands have none, for as long as what git would read is unchanged. The
    run of a command looks at everything again.

    Args:
        analysis: The command.
        project: The directories that say what is the project.
        around: Returns where it runs.
        environment: The variables that git would see.
    """
    key = _key(analysis, project, environment)
    known = _harmless.get(key)
    if known is not None and known.hold():
        return analysis
    parts = list(analysis.parts)
    repositories = Repositories(around(), environment)
    for number, part in enumerate(parts):
        if part.read_only and (objection := _objection(part, analysis, repositories)):
            span = part.words[0].span if part.words else part.span
            parts[number] = replace(part, doubts=(Doubt(objection, span),))
    if parts != list(analysis.parts):
        return replace(analysis, parts=tuple(parts))
    if key is not None and repositories.looks.are_known:
        if len(_harmless) >= _MOST_KEPT:
            _harmless.pop(next(iter(_harmless), None), None)
        _harmless[key] = repositories.looks
    return analysis


def is_known_harmless(
    line: PlainRead, directory: str, project: tuple[str, ...], environment: Mapping[str, str]
) -> bool:
    """Return whether a plain line is known to get no doubt of `with_repository_doubts`.

    Args:
        line: The line.
        directory: Where it runs.
        project: The directories that say what is the project.
        environment: The variables that git would see.
    """
    runs_git, is_alone = programs_with("runs_git"), len(line.commands) == 1
    places = [
        place_in(directory, words, is_alone=is_alone)
        for words in line.commands
        if words[0] in runs_git
    ]
    if not places:
        return True
    known = _harmless.get((*places, environment.get(_DIRECTORY_VARIABLE), project))
    return known is not None and known.hold()


def _key(
    analysis: CommandAnalysis, project: tuple[str, ...], environment: Mapping[str, str]
) -> Hashable:
    """Return all that the doubts depend on but for the files; None where it is not known."""
    places: list[GitPlace] = []
    try:
        for part in analysis.parts:
            if not part.doubts:
                places += places_of(part, analysis)
    except ToolArgumentError:
        return None
    return (*places, environment.get(_DIRECTORY_VARIABLE), project)


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
