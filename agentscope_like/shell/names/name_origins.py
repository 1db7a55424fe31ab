"""Traces the names of files that a command reads, but that are not in its text.

`find . | xargs cat`, `cat $(git ls-files)`, `while read f; do cat "$f"; done`: such names pass
where each program that prints them is known to print names, and each one behind it to pass them on
(`name_sources.toml`). Every other name is unknown.
"""

from __future__ import annotations

from msgspec.structs import replace

from agentscope_like.shell.analysis import CommandAnalysis, Effect, Part
from agentscope_like.shell.catalog import programs_with
from agentscope_like.shell.draft import shortened
from agentscope_like.shell.facts import is_redirect
from agentscope_like.shell.names.known_names import (
    NO_NAMES,
    SPOKEN_NAMES,
    Names,
    any_of,
    put_together,
    unknown_names,
)
from agentscope_like.shell.names.name_cutting import cuts_oddly
from agentscope_like.shell.names.name_sources import name_source, plain_name
from agentscope_like.shell.names.printed_names import is_known
from agentscope_like.shell.names.word_names import WordNames
from agentscope_like.shell.syntax import Substitution, Word

__all__ = ["Origins"]

_ONLY_AT_RUN_TIME = "files whose names are only known at run time"

_PIPES = frozenset({"<(", ">("})
_BRACES = frozenset({"{}"})

_PROCESS = "/dev/fd/"
"""What the name of a process substitution begins with."""


class Origins(WordNames):
    """Finds where the names come from that the parts of one command are told of.

    Args:
        analysis: The whole command.
    """

    __slots__ = ("_numbers",)

    def __init__(self, analysis: CommandAnalysis) -> None:
        super().__init__(analysis)
        self._numbers = {id(part): number for number, part in enumerate(analysis.parts)}

    def of(self, effect: Effect, part: Part) -> Names:
        """Return what is known of the names that an effect without a path has.

        Args:
            effect: The effect.
            part: The part that has it.
        """
        if effect.start.startswith(_PROCESS):
            return NO_NAMES
        number = self._numbers[id(part)]
        is_nested = self._is_nested(number)
        if is_nested and effect.target in part.argv[1:]:
            return SPOKEN_NAMES
        words = [
            each.target
            for each in part.redirects
            if isinstance(each.target, Word) and (is_nested or each.span == effect.span)
        ]
        arguments = [
            index
            for index in range(1, len(part.argv))
            if part.argv[index] is None and (is_nested or _stands_at(effect, part, index))
        ]
        found = [self._argument(number, index, effect) for index in arguments]
        found += map(self._word, words)
        return any_of(found) if found else unknown_names(_ONLY_AT_RUN_TIME)

    def feeders(self, effect: Effect, part: Part) -> tuple[Part, ...] | None:
        """Return the parts in whose places all lies that an effect without a path acts on.

        Args:
            effect: The effect.
            part: The part that has it.

        Returns:
            The parts; none for a process substitution, which is no file; None where nobody can say.
        """
        inner = part.sole_segments.get(effect.span)
        if isinstance(inner, Substitution) and inner.opener in _PIPES:
            return ()
        names = self.of(effect, part)
        producers = [self._tree.parts[number] for number in names.producers]
        if names.unknown or names.spoken or not names.exact:
            return None
        if any(each.directories != part.directories for each in producers):
            return None
        return tuple(producers) or None

    def listed(self, effect: Effect, part: Part) -> list[Part]:
        """Return the parts that print the names of what an effect without a path reads.

        Args:
            effect: The effect.
            part: The part that has it.
        """
        return [self._tree.parts[number] for number in self.of(effect, part).producers]

    def _is_nested(self, number: int) -> bool:
        """Return whether a part stands in the text of a script, where places say nothing."""
        words = self._tree.parts[self._tree.outermost(number)].words
        return id(words) in self._flow.nested

    def _argument(self, number: int, index: int, effect: Effect | None = None) -> Names:
        """Return what is known of a computed argument of a part."""
        part = self._tree.parts[number]
        word = part.words[index] if index < len(part.words) else None
        names = NO_NAMES if word is not None and word.literal is None else self._handed_to(number)
        if word is None:
            return names
        if word.literal is None:
            return self._word(word)
        if word.literal in self._placeholders(number):
            return names if effect is not None else replace(names, exact=False)
        is_there = effect is not None and effect.target == word.literal
        if is_there and effect is not None and effect.end:
            return replace(names, spoken=True, exact=False)  # its known end is looked at
        follows = is_there and effect is not None and effect.start.endswith("/")
        return put_together(names) if names.spoken or not follows else replace(names, exact=False)

    def _placeholders(self, number: int) -> frozenset[str]:
        """Return what stands for a name, as it is, among the words that are handed to a part."""
        parent = self._tree.parts[number].parent
        xargs = None if parent is None else self._tree.parts[parent]
        return _BRACES if xargs is None else _BRACES | xargs.values_of(("-I", "-i", "--replace"))

    def _handed_to(self, number: int) -> Names:
        """Return what is known of the names that `find` or `xargs` hands to a part."""
        runner = self._tree.runner(number)
        while runner is not None:
            program = plain_name(self._tree.parts[runner].program or "")
            if program in programs_with("finder"):
                return self._found_by(runner)
            if program == "xargs":
                return self._from_input(runner, number)
            number, runner = runner, self._tree.runner(runner)
        return unknown_names(_ONLY_AT_RUN_TIME)

    def _found_by(self, number: int) -> Names:
        finder = self._tree.parts[number]
        names = Names((number,), exact=is_known(finder) and name_source(finder) is not None)
        if plain_name(finder.program or "") == "fd" and name_source(finder) is None:
            return replace(names, unknown=f"files whose names `{finder.program}` changes")
        return names

    def _from_input(self, number: int, child: int) -> Names:
        """Return what is known of the names that `xargs` takes from its input for its command."""
        xargs = self._tree.parts[number]
        if lists := [each.target for each in xargs.effects if not is_redirect(each, xargs)]:
            return unknown_names(f"the files listed in `{shortened(lists[0])}`")
        names = self._input_of(number)
        if cuts_oddly(xargs, self._tree.parts[child]):
            return replace(names, unknown="files whose names are cut from other text", exact=False)
        return names


def _stands_at(effect: Effect, part: Part, index: int) -> bool:
    """Return whether an argument is that of an effect; what is added to a command has its place."""
    if index < len(part.words):
        return effect.span == part.words[index].span
    return effect.span == part.span
