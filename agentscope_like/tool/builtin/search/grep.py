"""Defines `Grep`, the tool that searches file contents."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from typing_extensions import override

from agentscope_like.message import ToolChunk
from agentscope_like.middleware import ToolMiddlewareBase
from agentscope_like.nearest import nearest
from agentscope_like.paths import FileKind, Location
from agentscope_like.permission import PermissionContext
from agentscope_like.tool.builtin.content_search import MatchLine, OutputMode, Query, SearchResult
from agentscope_like.tool.builtin.file_errors import FileToolError
from agentscope_like.tool.builtin.file_system import Files, require_file
from agentscope_like.tool.builtin.search.file_tree import FileGlob, Tree, notes_of, printable
from agentscope_like.tool.builtin.search.file_types import names_of_type
from agentscope_like.tool.builtin.search.searching_tool import SearchingTool
from agentscope_like.tool.builtin.tool_results import CancelCheck, failed, succeeded

if TYPE_CHECKING:
    from agentscope_like.sandbox import SandboxHandle

__all__ = ["Grep"]

DEFAULT_HEAD_LIMIT = 250
"""The default number of lines or files in one result."""

MAX_SHOWN_CHARACTERS = 100_000
"""The maximum number of characters in one result."""

MAX_LINE_CHARACTERS = 500
"""The length at which a line is cut."""

MAX_CONTEXT_LINES = 100
"""The maximum number of context lines on each side of a match."""

_OPTIONS = ("-A", "-B", "-C")


class _Page(Struct, frozen=True):
    """Selects the shown part of the results."""

    offset: int
    limit: int | None

    def cut(self, lines: Sequence[str]) -> tuple[list[str], str]:
        """Return the lines of the page and a note on the other results."""
        rest = lines[self.offset :]
        wanted = rest if self.limit is None else rest[: self.limit]
        shown: list[str] = []
        size = 0
        for line in wanted:
            size += len(line) + 1
            if size > MAX_SHOWN_CHARACTERS and shown:
                break
            shown.append(line)
        if lines and not rest:
            return [], f"There are only {len(lines):,} results: use a smaller `offset`."
        if len(shown) == len(lines):
            return shown, ""
        last = self.offset + len(shown)
        more = "" if last == len(lines) else f" Continue with `offset={last}`."
        return shown, f"Results {self.offset + 1:,} to {last:,} of {len(lines):,}.{more}"


class _Selection(Struct, frozen=True):
    """Selects the searched files."""

    path: str | None
    decided: str | None
    glob: str | None
    type: str | None


class Grep(SearchingTool):
    """Searches the contents of files (seed 002, "Use Built-in Tools").

    Args:
        middlewares: Layers around `call`.
        backend: The sandbox where the files are; by default they are on this host.
        cwd: The base of relative paths, and the directory searched by default.
    """

    name = "Grep"
    description = (
        "Searches the contents of files with a regular expression, in ripgrep's dialect without "
        "look-around. By default lists the files that match; `output_mode` content shows the "
        "lines, count counts them. Hidden files are searched; binary files are not, nor are "
        "directories of version control, dependencies and caches, unless `path` or `glob` names "
        "them. Results are in the order of their paths; 250 are shown unless `head_limit` says "
        "otherwise (0 for all), `offset` shows later ones."
    )
    input_schema = {  # noqa: RUF012
        "type": "object",
        "properties": {
            "pattern": {"type": "string", "description": "The regular expression."},
            "path": {
                "type": "string",
                "description": "The file or directory to search; the working directory by default.",
            },
            "output_mode": {
                "type": "string",
                "enum": ["content", "files_with_matches", "count"],
                "default": "files_with_matches",
                "description": "What to show: matching lines, files, or lines counted by file.",
            },
            "glob": {
                "type": "string",
                "description": "Only files that match this glob: `*.py` at any depth, "
                "`src/**/*.ts` below the searched directory.",
            },
            "type": {"type": "string", "description": "Only files of this type: py, js, rust ..."},
            "-A": {"type": "integer", "description": "Lines to show after each match."},
            "-B": {"type": "integer", "description": "Lines to show before each match."},
            "-C": {"type": "integer", "description": "Lines to show before and after each match."},
            "context": {"type": "integer", "description": "The same as -C."},
            "n": {
                "type": "boolean",
                "default": True,
                "description": "Whether to show line numbers.",
            },
            "i": {"type": "boolean", "default": False, "description": "Whether to ignore case."},
            "case_insensitive": {
                "type": "boolean",
                "default": False,
                "description": "The same as `i`.",
            },
            "multiline": {
                "type": "boolean",
                "default": False,
                "description": "Whether matches may span lines; `.` then matches line ends.",
            },
            "head_limit": {
                "type": "integer",
                "minimum": 0,
                "description": "How many results to show; 0 for all.",
            },
            "offset": {
                "type": "integer",
                "default": 0,
                "minimum": 0,
                "description": "How many results to leave out first.",
            },
        },
        "required": ["pattern"],
    }

    def __init__(
        self,
        middlewares: Sequence[ToolMiddlewareBase] | None = None,
        backend: SandboxHandle | None = None,
        *,
        cwd: str | os.PathLike[str] | None = None,
    ) -> None:
        super().__init__(cwd=cwd, middlewares=middlewares, backend=backend)

    @override
    def path_of(self, tool_input: Mapping[str, Any]) -> str:
        """Return the searched path: `path`, or the tool's own directory."""
        return str(tool_input.get("path") or self.cwd)

    @override
    def intention(self, location: Location) -> str:
        return f"Grep would search `{self.shown(location.resolved)}`"

    @override
    async def call(
        self,
        pattern: str,
        path: str | None = None,
        output_mode: OutputMode = "files_with_matches",
        glob: str | None = None,
        type: str | None = None,
        i: bool = False,
        case_insensitive: bool = False,
        context: int | None = None,
        multiline: bool = False,
        head_limit: int | None = None,
        offset: int = 0,
        n: bool = True,
        _permission_context: PermissionContext | None = None,
        _decision_basis: str | None = None,
        **kwargs: Any,
    ) -> ToolChunk:
        """Search.

        Args:
            pattern: A regular expression, without look-around and back-references.
            path: The file or directory to search; `cwd` by default.
            output_mode: Whether to show lines, files, or the number of lines per file.
            glob: Search only matching files; without `/` it matches names at any depth.
            type: Search only files of this type.
            i: Whether to ignore case.
            case_insensitive: The same.
            context: Lines around each match, at most 100.
            multiline: Whether matches may span lines; `.` then matches line ends.
            head_limit: The maximum number of results (default 250); 0 for all.
            offset: The number of results to skip.
            n: Whether to show line numbers.
            _permission_context: Its rules may hide files.
            _decision_basis: Where its path led when the call was decided.
            **kwargs: `-A`, `-B` and `-C`: lines after, before and around each match.

        Returns:
            `path:number:line`, `path-number-line` for context, `path:count` or `path` on each line,
            ordered by path. Paths are relative to `cwd` if they are below it.
        """
        try:
            _refuse_unknown(kwargs)
            around = kwargs.get("-C", context)
            query = Query(
                pattern,
                mode=output_mode,
                ignore_case=i or case_insensitive,
                multiline=multiline,
                before=_lines(kwargs.get("-B", around)),
                after=_lines(kwargs.get("-A", around)),
            )
            limit = DEFAULT_HEAD_LIMIT if head_limit is None else head_limit
            page = _Page(max(0, offset), limit or None)
            select = _Selection(path, _decision_basis, glob, type)
            return await self._files.work(
                lambda files, cancel_check: self._grep(
                    files, query, select, page, cancel_check, _permission_context, numbered=n
                )
            )
        except FileToolError as error:
            return failed(error.message)

    def _grep(
        self,
        files: Files,
        query: Query,
        select: _Selection,
        page: _Page,
        cancel_check: CancelCheck,
        context: PermissionContext | None,
        *,
        numbered: bool,
    ) -> ToolChunk:
        query.check()
        root = self.located(files, {"path": select.path}, select.decided)
        hides = self.hides(root, context)
        if root.kind is FileKind.MISSING:
            raise FileToolError(f"{root.written} does not exist. Look for it with Glob.")
        if root.kind is not FileKind.DIRECTORY:
            require_file(files, root)
        wanted = None if select.glob is None else FileGlob(select.glob, anywhere=True)
        tree = Tree(
            files,
            root,
            wanted,
            read_objection=None if self.read_objection(root) else self.read_objection,
            hides=hides,
        )
        directory, relative = root.resolved, []
        if root.kind is FileKind.DIRECTORY:
            of_type = (lambda _: True) if select.type is None else names_of_type(select.type)
            relative = [found.relative for found in tree.walk(cancel_check, also=of_type)]
        else:
            directory, name = posixpath.split(root.resolved)
            relative = [name]
        result = files.search(
            query,
            directory,
            relative,
            cancel_check,
            avoid=(self.cwd, root.resolved),
        )
        lines = list(self._rendered(result, query, directory, numbered=numbered))
        shown, note = page.cut(lines)
        notes = [*filter(None, [note]), *notes_of(tree)]
        if result.cut:
            notes.append("The search was stopped: it found too much. Narrow it.")
        text = "\n".join(shown) or ("" if lines else "No matches found.")
        metadata = {
            "files": len(result.files),
            "matches": sum(each.count for each in result.files),
        }
        return succeeded((text + "".join(f"\n\n({note})" for note in notes)).lstrip("\n"), metadata)

    def _rendered(
        self, result: SearchResult, query: Query, directory: str, *, numbered: bool
    ) -> Iterator[str]:
        """Yield each result; with context, `--` separates lines that are not adjacent."""
        last: tuple[str, int] | None = None
        for each in result.files:
            path = printable(self.shown(posixpath.join(directory, each.relative)))
            if query.mode == "files_with_matches":
                yield path
            elif query.mode == "count":
                yield f"{path}:{each.count}"
            for line in each.lines:
                gap = query.has_context and last not in (None, (path, line.number - 1))
                yield ("--\n" if gap else "") + _rendered_line(path, line, numbered=numbered)
                last = path, line.number


def _rendered_line(path: str, line: MatchLine, *, numbered: bool) -> str:
    mark = ":" if line.is_match else "-"
    number = f"{line.number}{mark}" if numbered else ""
    text = line.text
    if len(text) > MAX_LINE_CHARACTERS:
        text = f"{text[:MAX_LINE_CHARACTERS]} [cut: {len(text):,} characters in all]"
    return f"{path}{mark}{number}{text}"


def _refuse_unknown(options: Mapping[str, Any]) -> None:
    for name in options:
        if name not in _OPTIONS:
            raise FileToolError(
                f"Grep has no argument {name!r}{nearest(name, _OPTIONS) or '.'} "
                "For lines of context there are `-A`, `-B` and `-C`."
            )


def _lines(wanted: int | None) -> int:
    return max(0, min(wanted or 0, MAX_CONTEXT_LINES))
