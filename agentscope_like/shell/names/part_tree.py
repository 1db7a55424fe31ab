"""The parts of a command by the words that they are made of."""

from __future__ import annotations

from collections.abc import Sequence

from agentscope_like.shell.analysis import Part
from agentscope_like.shell.syntax import Word

__all__ = ["PartTree"]


class PartTree:
    """Finds parts by their words, and those that another part runs.

    Words are told apart by their identity. A part that another one runs, as `cat` in
    `find -exec cat {} +`, has some of its words.

    Args:
        parts: The parts of one command.
    """

    __slots__ = ("_by_words", "_carried", "_children", "parts")

    def __init__(self, parts: tuple[Part, ...]) -> None:
        self.parts = parts
        self._by_words: dict[int, list[int]] = {}
        self._children: dict[int, list[int]] = {}
        words_of: dict[int, set[int]] = {}
        self._carried: set[int] = set()
        for number, part in enumerate(parts):
            if part.words:
                self._by_words.setdefault(id(part.words), []).append(number)
            if part.parent is not None and part.words:
                words = words_of.setdefault(part.parent, set(map(id, parts[part.parent].words)))
                if id(part.words[0]) in words:
                    self._children.setdefault(part.parent, []).append(number)
                    self._carried.add(number)

    def made_of(self, words: tuple[Word, ...]) -> Sequence[int]:
        """Return the numbers of the parts that have just these words."""
        return self._by_words.get(id(words), ())

    def run_by(self, number: int) -> Sequence[int]:
        """Return the numbers of the parts that a part runs."""
        return self._children.get(number, ())

    def runner(self, number: int) -> int | None:
        """Return the number of the part that runs a part, or None."""
        return self.parts[number].parent if number in self._carried else None

    def outermost(self, number: int) -> int:
        """Return the number of the part that stands in the tree, of which a part has some words."""
        runner = self.runner(number)
        while runner is not None:
            number, runner = runner, self.runner(runner)
        return number
