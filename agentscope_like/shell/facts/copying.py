"""What `cp`, `mv` and `ln` reach: into a directory or in its place, and through links."""

from __future__ import annotations

from collections.abc import Iterator, Set

from agentscope_like.paths import FileKind, lineage
from agentscope_like.shell.analysis import CommandAnalysis, Effect, EffectKind, Part
from agentscope_like.shell.facts.file_touch import Below
from agentscope_like.shell.facts.links import Carriers, spots
from agentscope_like.shell.surroundings import Surroundings

__all__ = ["Copying"]


class Copying:
    """Looks at what the parts of one command write below their targets.

    Args:
        analysis: The whole command.
        around: Where it runs.
    """

    __slots__ = ("_analysis", "_around", "_carriers", "_files_only", "_holding", "_made")

    def __init__(self, analysis: CommandAnalysis, around: Surroundings) -> None:
        self._analysis = analysis
        self._around = around
        self._carriers = Carriers(analysis, around)
        redirected = {span for part in analysis.parts for span in part.redirected}
        self._made = {
            effect.path
            for part in analysis.parts
            for effect in part.effects
            if effect.path and effect.span in redirected
        }
        self._holding: dict[int, Set[str]] = {}
        self._files_only: dict[int, bool] = {}

    def written_below(self, effect: Effect, part: Part) -> Below | None:
        """Return what is written below the target of one write; None where it does not come about.

        A target has two effects: one on itself and one on the name below it that is written where
        it is a directory. Only one of them comes about.

        Args:
            effect: The write; its path is known.
            part: The part that has it.

        Raises:
            PathError: A path cannot be judged.
            TooManyFilesError: A pattern reaches too many files.
        """
        path = effect.path or ""
        parent = path.rpartition("/")[0]
        if effect.recursive and parent in part.written:
            if not self._is_directory(parent, part):
                return None
        elif (
            path in self._directories_written_in(part)
            and self._around.locate(path).kind is FileKind.DIRECTORY
        ):
            return Below.NOTHING
        if not effect.recursive or self._takes_files_only(part):
            return Below.NOTHING
        return Below.ANYTHING

    def links_made(self, part: Part) -> Iterator[str]:
        """Yield the paths that the part may make symlinks at, or copy or move some to.

        Raises:
            PathError: A path cannot be judged.
        """
        if part.is_a("linker") or self._carriers.include(part):
            for effect in part.effects:
                if effect.path and effect.kind is EffectKind.WRITE:
                    yield from spots(effect, self._around)

    def _directories_written_in(self, part: Part) -> Set[str]:
        """Return every directory, at any height, that holds what the part writes."""
        known = self._holding.get(id(part))
        if known is None:
            known = self._holding[id(part)] = {
                above for path in part.written for above in lineage(path) if above != path
            }
        return known

    def _is_directory(self, path: str, part: Part) -> bool:
        """Return whether a path is a directory, or another part may make it one."""
        return self._around.locate(path).kind is FileKind.DIRECTORY or any(
            path in other.written for other in self._analysis.parts if other is not part
        )

    def _takes_files_only(self, part: Part) -> bool:
        """Return whether all that the part takes is known to be plain files."""
        known = self._files_only.get(id(part))
        if known is None:
            known = self._files_only[id(part)] = all(self._is_file(each) for each in part.effects)
        return known

    def _is_file(self, effect: Effect) -> bool:
        """Return whether what one effect takes is a plain file, or what a redirection makes."""
        if effect.kind is EffectKind.WRITE or effect.path in self._made:
            return True
        locations = self._around.locations(effect)
        return locations is not None and all(each.kind is FileKind.FILE for each in locations)
