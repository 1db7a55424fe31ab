"""Defines the tools that list, search and read a workspace."""

from __future__ import annotations

from typing import Any, ClassVar

from agentscope_like.message import ToolChunk
from agentscope_like.workspace.search import search
from agentscope_like.workspace.text_file import (
    MAX_CHARACTERS,
    MAX_LINES,
    Part,
    TextFile,
    limited,
    part_of,
    read_text,
)
from agentscope_like.workspace.tools.workspace_tool import PATH, WorkspaceTool, done
from agentscope_like.workspace.tree import Listed, walk

__all__ = ["ListFiles", "ReadFile", "SearchFiles"]

MAX_ENTRIES = 200
"""Most entries of one list."""

_DEPTH, _MAX_DEPTH = 2, 4
_LIMIT, _MAX_LIMIT = 20, 50
_CONTEXT, _MAX_CONTEXT = 2, 5


class _ReadingTool(WorkspaceTool):
    """A tool that changes nothing."""

    is_concurrency_safe = True
    is_read_only = True
    is_idempotent = True
    related_tools = ("Read", "Grep", "Glob")


class ListFiles(_ReadingTool):
    """Lists the files of the workspace (seed 001, "workspace.list_files")."""

    name = "workspace.list_files"
    description = (
        "Lists files and directories of your workspace, at most 200. path: a directory or file; "
        "without it, all that you see. depth: how many names deep, 2 by default and at most 4."
    )
    input_schema: ClassVar[dict[str, Any]] = {  # type: ignore[misc]
        "type": "object",
        "properties": {
            "path": PATH,
            "depth": {
                "type": "integer",
                "minimum": 1,
                "maximum": _MAX_DEPTH,
                "default": _DEPTH,
            },
        },
    }

    async def call(
        self, path: str | None = None, depth: int = _DEPTH, _decision_basis: str | None = None
    ) -> ToolChunk:
        """Return the entries, directories with a slash at the end."""
        limited("depth", depth, 1, _MAX_DEPTH)
        return await self.work(lambda: self._list(path, depth, _decision_basis))

    def _list(self, path: str | None, depth: int, decided: str | None) -> ToolChunk:
        place = self.workspace.find(path, decided=decided)
        found: list[Listed] = []
        for listed in walk(self.workspace, place, depth):
            if len(found) == MAX_ENTRIES:
                found.append(listed)
                break
            found.append(listed)
        is_truncated = len(found) > MAX_ENTRIES
        shown = sorted(_shown(each) for each in found[:MAX_ENTRIES])
        note = f"[The first {MAX_ENTRIES} entries; name a directory to see more of it.]"
        metadata = {"entries": shown, "truncated": is_truncated}
        return done("\n".join(shown) or "It is empty.", metadata, note if is_truncated else "")


def _shown(listed: Listed) -> str:
    return f"{listed.relative}/" if listed.is_directory else listed.relative


class SearchFiles(_ReadingTool):
    """Searches the text files of the workspace (seed 001, "workspace.search_files")."""

    name = "workspace.search_files"
    description = (
        "Finds lines of the text files of your workspace that have any word of a query, the best "
        "first. path: only in this file or directory. limit: hits, 20 by default and at most 50. "
        "context_lines: lines around each, 2 by default and at most 5."
    )
    input_schema: ClassVar[dict[str, Any]] = {  # type: ignore[misc]
        "type": "object",
        "properties": {
            "query": {"type": "string"},
            "path": PATH,
            "limit": {"type": "integer", "minimum": 1, "maximum": _MAX_LIMIT, "default": _LIMIT},
            "context_lines": {
                "type": "integer",
                "minimum": 0,
                "maximum": _MAX_CONTEXT,
                "default": _CONTEXT,
            },
        },
        "required": ["query"],
    }

    async def call(
        self,
        query: str,
        path: str | None = None,
        limit: int = _LIMIT,
        context_lines: int = _CONTEXT,
        _decision_basis: str | None = None,
    ) -> ToolChunk:
        """Return the hits with their references; files that are no text are named."""
        limited("limit", limit, 1, _MAX_LIMIT)
        limited("context_lines", context_lines, 0, _MAX_CONTEXT)

        def work() -> ToolChunk:
            place = self.workspace.find(path, decided=_decision_basis)
            hits = search(self.workspace, place, query, limit=limit, context_lines=context_lines)
            texts = [f"{hit.ref}\n{_numbered(hit.first_line, hit.lines)}" for hit in hits.found]
            skipped = ", ".join(f"{name} ({code})" for name, code in hits.skipped.items())
            metadata = {"refs": [hit.ref for hit in hits.found], "skipped": hits.skipped}
            note = f"[Not searched: {skipped}.]" if skipped else ""
            return done("\n\n".join(texts) or "Nothing was found.", metadata, note)

        return await self.work(work)


class ReadFile(_ReadingTool):
    """Reads a text file of the workspace (seed 001, "workspace.read_file")."""

    name = "workspace.read_file"
    description = (
        "Reads a text file of your workspace. Without a range, all of it: up to 256 KiB and 1,200 "
        "lines. start_line (from 1) and line_count: some lines. start_char (from 0) and max_chars: "
        "some characters, at most 80,000. Lines are shown with their numbers, which are no part of "
        "the file; characters are shown as they are."
    )
    input_schema: ClassVar[dict[str, Any]] = {  # type: ignore[misc]
        "type": "object",
        "properties": {
            "path": {"type": "string"},
            "start_line": {"type": ["integer", "null"], "minimum": 1},
            "line_count": {"type": ["integer", "null"], "minimum": 1, "maximum": MAX_LINES},
            "start_char": {"type": ["integer", "null"], "minimum": 0},
            "max_chars": {"type": ["integer", "null"], "minimum": 1, "maximum": MAX_CHARACTERS},
        },
        "required": ["path"],
    }

    limits_own_results: ClassVar[bool] = True  # what counts as read has to be shown

    async def call(
        self,
        path: str,
        start_line: int | None = None,
        line_count: int | None = None,
        start_char: int | None = None,
        max_chars: int | None = None,
        _decision_basis: str | None = None,
    ) -> ToolChunk:
        """Return the text, and note that the agent knows it."""

        def work() -> ToolChunk:
            place = self.workspace.find(path, decided=_decision_basis)
            file = read_text(self.workspace, place)
            part = part_of(
                file,
                place,
                start_line=start_line,
                line_count=line_count,
                start_char=start_char,
                max_chars=max_chars,
            )
            digest, length = file.content.digest, len(file.text)
            resolved = place.location.resolved
            self.workspace.tracker.read(resolved, digest, length, part.start, part.end)
            metadata = {
                "path": place.relative,
                "digest": digest,
                "start_char": part.start,
                "end_char": part.end,
                "characters": length,
                "truncated": part.end < length,
            }
            text, note = _part_shown(file, part)
            return done(text or "The file is empty.", metadata, note)

        return await self.work(work)


def _part_shown(file: TextFile, part: Part) -> tuple[str, str]:
    """Return the text of a part, with numbers if it is of lines, and a note on what is left."""
    text = file.text[part.start : part.end]
    if part.lines is None:
        left = len(file.text) - part.end
        note = f"[{left:,} characters follow: start_char={part.end}.]" if left else ""
        return text, note
    ends = [*part.lines[1:], part.end][: len(part.lines)]
    lines = [
        file.text[start:end].removesuffix("\n").removesuffix("\r")
        for start, end in zip(part.lines, ends, strict=True)
    ]
    left = part.line_count - (part.first_line - 1 + len(lines))
    notes = [f"{left:,} lines follow: start_line={part.first_line + len(lines)}."] if left else []
    if "\r\n" in text:
        notes.append(r"Lines end with \r\n.")
    return _numbered(part.first_line, lines), f"[{' '.join(notes)}]" if notes else ""


def _numbered(first: int, lines: list[str]) -> str:
    return "\n".join(f"{number} | {line}" for number, line in enumerate(lines, first))
