"""Finds passages in the text files of a skill."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from agentscope_like.exception import RecoverableToolError
from agentscope_like.text_search import SearchQuery, rank, snippet_of
from agentscope_like.tool.builtin.skills.skill_files import SkillFiles

__all__ = ["Passage", "Passages", "lines_of"]

MOST_LINE = 300
"""The most characters that are shown of a line."""

MOST_SEARCHED = 16 << 20
"""The most characters that are searched."""


class Passage(Struct, frozen=True):
    """Lines of a file, around one that was found.

    Attributes:
        path: The file.
        start: The first line, from 1.
        end: The last line.
        text: The lines, long ones shortened.
        score: How well the line that was found fits.
    """

    path: str
    start: int
    end: int
    text: str
    score: float


class Passages(Struct, frozen=True):
    """What a search in a skill found.

    Attributes:
        found: The passages, the best first; none has a line of another.
        files: How many files were searched.
        skipped: How many were not, as they are no text or too many.
    """

    found: tuple[Passage, ...]
    files: int
    skipped: int

    @classmethod
    def search(
        cls, files: SkillFiles, query: SearchQuery, path: str, *, limit: int, context: int
    ) -> Passages:
        """Search the files at or below a path; blocks.

        Args:
            files: The skill's files.
            query: What to find.
            path: A file or directory.
            limit: The most passages.
            context: How many lines to show on each side of one that was found.

        Raises:
            RecoverableToolError: There is no such path, or it is a file that cannot be read.
        """
        paths = files.below(path)
        texts = {one: text for one, text in _texts(files, paths) if text is not None}
        if len(paths) == 1 and not texts:
            files.read(paths[0])  # says why it cannot be read
        lines = {one: lines_of(text) for one, text in texts.items()}
        places = [(one, number) for one, own in lines.items() for number in range(len(own))]
        shown: dict[str, set[int]] = {one: set() for one in lines}
        found: list[Passage] = []
        for hit in rank(query, (lines[one][number] for one, number in places)):
            one, number = places[hit.position]
            if number in shown[one]:
                continue
            if len(found) == limit:
                break
            window = _window(number, len(lines[one]), context, shown[one])
            shown[one].update(window)
            text = _shown(query, lines[one][window.start : window.stop])
            found.append(Passage(one, window.start + 1, window.stop, text, hit.score))
        return cls(tuple(found), len(texts), len(paths) - len(texts))


def lines_of(text: str) -> list[str]:
    """Return the lines of a text, without what ends them."""
    lines = text.split("\n")
    return lines[:-1] if not lines[-1] else lines


def _texts(files: SkillFiles, paths: Sequence[str]) -> Iterator[tuple[str, str | None]]:
    """Yield each file and its text; None where it is none, or enough has been searched."""
    left = MOST_SEARCHED
    for path in paths:
        try:
            text = files.read(path) if left > 0 else None
        except RecoverableToolError:
            text = None
        left -= len(text or "")
        yield path, text


def _window(number: int, count: int, context: int, shown: set[int]) -> range:
    """Return a line and those around it, up to the next one that is shown already."""
    start, stop = number, number + 1
    while start > max(0, number - context) and start - 1 not in shown:
        start -= 1
    while stop < min(count, number + context + 1) and stop not in shown:
        stop += 1
    return range(start, stop)


def _shown(query: SearchQuery, lines: Sequence[str]) -> str:
    return "\n".join(snippet_of(query, line, MOST_LINE) for line in lines)
