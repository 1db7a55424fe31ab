"""Searches the text files of a workspace by words."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from agentscope_like.exception import RecoverableToolError
from agentscope_like.text_search import SearchQuery, SearchQueryError, rank, snippet_of
from agentscope_like.workspace.places import Place
from agentscope_like.workspace.text_file import read_text
from agentscope_like.workspace.tree import walk
from agentscope_like.workspace.workspace import Workspace

__all__ = ["MAX_LINE", "Hit", "Hits", "search"]

MAX_LINE = 400
"""Most characters that are shown of a line."""


class Hit(Struct, frozen=True):
    """Some lines of a file that a search found.

    Attributes:
        path: The file.
        first_line: The number of the first line, from 1.
        lines: The lines, without their ends, those too long cut around what was found.
    """

    path: str
    first_line: int
    lines: list[str]

    @property
    def ref(self) -> str:
        """Return the reference to the lines."""
        last = self.first_line + len(self.lines) - 1
        return f"workspace:{self.path}#L{self.first_line}-L{last}"


class Hits(Struct, frozen=True):
    """What a search found.

    Attributes:
        found: The best first; no line is in two of them.
        skipped: Files that could not be searched, and why.
    """

    found: list[Hit]
    skipped: dict[str, str]


class _File(Struct, frozen=True):
    path: str
    lines: list[str]


def search(
    workspace: Workspace, place: Place, query: str, *, limit: int, context_lines: int
) -> Hits:
    """Return the lines that have any word of a search, the best first, with lines around them.

    Args:
        workspace: The workspace.
        place: The file, or the directory, below which to search.
        query: The words.
        limit: Most hits.
        context_lines: Lines around each hit.

    Raises:
        RecoverableToolError: The query is blank, or nothing is at the place.
    """
    try:
        wanted = SearchQuery.read(query)
    except SearchQueryError as error:
        raise RecoverableToolError("workspace.invalid_query", f"{error}.") from None
    skipped: dict[str, str] = {}
    files = list(_files(workspace, place, skipped))
    order = [(file, number) for file in files for number in range(len(file.lines))]
    ranked = rank(wanted, (line for file in files for line in file.lines))
    shown: dict[str, list[range]] = {}
    hits: list[Hit] = []
    for each in ranked:
        if len(hits) == limit:
            break
        file, number = order[each.position]
        window = _window(file, number, context_lines, shown.setdefault(file.path, []))
        if window is None:
            continue
        shown[file.path].append(window)
        lines = [snippet_of(wanted, file.lines[index], MAX_LINE) for index in window]
        hits.append(Hit(file.path, window.start + 1, lines))
    return Hits(hits, skipped)


def _files(workspace: Workspace, place: Place, skipped: dict[str, str]) -> Iterator[_File]:
    for listed in walk(workspace, place):
        if listed.is_directory:
            continue
        try:
            text = read_text(workspace, workspace.find(listed.relative)).text
        except RecoverableToolError as error:
            skipped[listed.relative] = error.code
            continue
        yield _File(listed.relative, text.removesuffix("\n").split("\n"))


def _window(file: _File, number: int, context: int, shown: list[range]) -> range | None:
    """Return the lines to show around one, without those that are shown; None if it is one."""
    if any(number in each for each in shown):
        return None
    start, stop = max(0, number - context), min(len(file.lines), number + context + 1)
    for each in shown:
        if each.stop <= number:
            start = max(start, each.stop)
        else:
            stop = min(stop, each.start)
    return range(start, stop)
