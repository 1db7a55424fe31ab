"""What `cp`, `mv` and `ln` reach: into a directory or in its place, and through links."""

from __future__ import annotations

from collections.abc import Iterator

from agentscope_like.permission.paths import FileKind
from agentscope_like.permission.shell.analysis import CommandAnalysis, Effect, EffectKind, Part
from agentscope_like.permission.shell.links import may_carry_links
from agentscope_like.permission.shell.programs import LINKERS
from agentscope_like.permission.shell.surroundings import Surroundings
from agentscope_like.permission.shell.touch import Below

__all__ = ["links_made", "written_below"]


def written_below(
    effect: Effect, part: Part, analysis: CommandAnalysis, around: Surroundings
) -> Below | None:
    """Return what is written below the target of one write, or None where it does not come about.

    A target has two effects: one on itself and one on the name below it that is written where it is
    a directory. Only one of them comes about.

    Args:
        effect: The write; its path is known.
        part: The part that has it.
        analysis: The whole command.
        around: Where it runs.

    Raises:
        PathError: A path cannot be judged.
        TooManyFilesError: A pattern reaches too many files.
    """
    path = effect.path or ""
    written = [each.path for each in part.effects if each.kind is EffectKind.WRITE and each.path]
    parent = path.rpartition("/")[0]
    if effect.recursive and parent in written:
        if not _is_directory(parent, part, analysis, around):
            return None
    elif (
        any(each.startswith(f"{path}/") for each in written)
        and around.locate(path).kind is FileKind.DIRECTORY
    ):
        return Below.NOTHING
    if not effect.recursive or _takes_files_only(part, analysis, around):
        return Below.NOTHING
    return Below.ANYTHING


def links_made(part: Part, analysis: CommandAnalysis, around: Surroundings) -> Iterator[str]:
    """Yield the paths that the part may make symlinks at, or copy or move some to.

    Raises:
        PathError: A path cannot be judged.
    """
    if part.program in LINKERS or may_carry_links(part, analysis, around):
        for effect in part.effects:
            if effect.path and effect.kind is EffectKind.WRITE:
                yield effect.path


def _is_directory(path: str, part: Part, analysis: CommandAnalysis, around: Surroundings) -> bool:
    """Return whether a path is a directory, or another part may make it one."""
    return around.locate(path).kind is FileKind.DIRECTORY or any(
        effect.kind is EffectKind.WRITE and effect.path == path
        for other in analysis.parts
        if other is not part
        for effect in other.effects
    )


def _takes_files_only(part: Part, analysis: CommandAnalysis, around: Surroundings) -> bool:
    """Return whether all that the part takes is known to be plain files."""
    redirected = {redirect.span for each in analysis.parts for redirect in each.redirects}
    made = {effect.path for effect in analysis.effects if effect.span in redirected}
    for effect in part.effects:
        if effect.kind is EffectKind.WRITE or effect.path in made:
            continue
        locations = around.locations(effect)
        if locations is None or any(each.kind is not FileKind.FILE for each in locations):
            return False
    return True
