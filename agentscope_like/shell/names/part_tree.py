"""The parts of a command by the words that they are made of."""

from __future__ import annotations

from agentscope_like.shell.analysis import Part
from agentscope_like.shell.syntax import Word

__all__ = ["PartTree"]


class PartTree:
    """Finds parts by their words, and those that another part runs.

    Words are told apart by their identity. A part that another one runs, as `cat` in
    `find -exec cat {} +`, has some of its words.

    Args:
        parts: The parts of one command.

    Attributes:
        parts: As given; others are named by their numbers among them.
        made_of: The parts that have just the same words, by the identity of these.
        run_by: The parts that a part runs.
        runner: The part that runs a part, of those that another one runs.
    """

    __slots__ = ("made_of", "parts", "run_by", "runner")

    def __init__(self, parts: tuple[Part, ...]) -> None:
        self.parts = parts
        self.made_of: dict[int, list[int]] = {}
        self.run_by: dict[int, list[int]] = {}
        self.runner: dict[int, int] = {}
        words_of: dict[int, set[int]] = {}
        for number, part in enumerate(parts):
            if not part.words:
                continue
            self.made_of.setdefault(id(part.words), []).append(number)
            if part.parent is not None:
                words = words_of.setdefault(part.parent, set(map(id, parts[part.parent].words)))
                if id(part.words[0]) in words:
                    self.run_by.setdefault(part.parent, []).append(number)
                    self.runner[number] = part.parent

    def words(self, number: int) -> tuple[Word, ...]:
        """Return the words of the command in the tree, of which a part has some."""
        while number in self.runner:
            number = self.runner[number]
        return self.parts[number].words
