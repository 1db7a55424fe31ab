"""Defines `Glob`, the tool that finds files by name."""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from typing_extensions import override

from agentscope_like.message import ToolChunk
from agentscope_like.middleware import ToolMiddlewareBase
from agentscope_like.paths import FileKind, Location
from agentscope_like.permission import PermissionContext
from agentscope_like.tool.builtin.file_errors import FileToolError
from agentscope_like.tool.builtin.file_system import Files
from agentscope_like.tool.builtin.search.file_tree import (
    FileGlob,
    Tree,
    modified,
    notes_of,
    printable,
)
from agentscope_like.tool.builtin.search.searching_tool import SearchingTool
from agentscope_like.tool.builtin.tool_results import CancelCheck, failed, succeeded

if TYPE_CHECKING:
    from agentscope_like.sandbox import SandboxHandle

__all__ = ["Glob"]

MAX_RESULTS = 500
"""The maximum number of files in one result."""

_LITERAL_START = re.compile(r"[^*?\[\]{}\\]*/")


class Glob(SearchingTool):
    """Finds files by their names (seed 002, "Use Built-in Tools").

    Args:
        backend: The sandbox where the files are; by default they are on this host.
        glob_helper_path: Not used: the sandbox lists files itself.
        middlewares: Layers around `call`.
        cwd: The base of relative paths, and the directory searched by default.
    """

    name = "Glob"
    description = (
        "Finds files by a glob, such as `**/*.py` or `src/{a,b}/*.ts`, the last modified first. "
        "`*` stays within a name and `**` is any number of directories, so `*.py` finds only what "
        "lies directly in the searched directory. Hidden files are found; directories of version "
        "control, dependencies and caches are passed over unless the glob names them. Symlinks are "
        "not followed. At most 500 files are listed."
    )
    input_schema = {  # noqa: RUF012
        "type": "object",
        "properties": {
            "pattern": {"type": "string", "description": "The glob."},
            "path": {
                "type": "string",
                "description": "The directory to search; the working directory by default.",
            },
        },
        "required": ["pattern"],
    }

    def __init__(
        self,
        backend: SandboxHandle | None = None,
        glob_helper_path: str | None = None,
        middlewares: Sequence[ToolMiddlewareBase] | None = None,
        *,
        cwd: str | os.PathLike[str] | None = None,
    ) -> None:
        del glob_helper_path
        super().__init__(cwd=cwd, middlewares=middlewares, backend=backend)

    @override
    def path_of(self, tool_input: Mapping[str, Any]) -> str:
        """Return the searched directory: the start of an absolute glob, else `path`."""
        begins, _ = _split_absolute(str(tool_input["pattern"]))
        return begins or str(tool_input.get("path") or self.cwd)

    @override
    def intention(self, location: Location) -> str:
        return f"Glob would list files below `{self.shown(location.resolved)}`"

    @override
    async def call(
        self,
        pattern: str,
        path: str | None = None,
        _permission_context: PermissionContext | None = None,
        _decision_basis: str | None = None,
    ) -> ToolChunk:
        """List the files.

        Args:
            pattern: The glob, relative to the searched directory; one that begins with `/` or `~`
                sets the directory itself.
            path: The directory to search; `cwd` by default.
            _permission_context: Its rules may hide files.
            _decision_basis: Where its path led when the call was decided.

        Returns:
            One path per line, relative to `cwd` if below it, else absolute, latest change first;
            files with equal times are ordered by path.
        """
        try:
            return await self._files.work(
                lambda files, cancel_check: self._glob(
                    files,
                    pattern,
                    self.located(files, {"pattern": pattern, "path": path}, _decision_basis),
                    cancel_check,
                    _permission_context,
                )
            )
        except FileToolError as error:
            return failed(error.message)

    def _glob(
        self,
        files: Files,
        pattern: str,
        root: Location,
        cancel_check: CancelCheck,
        context: PermissionContext | None,
    ) -> ToolChunk:
        hides = self.hides(root, context)
        _require_directory(root)
        wanted = FileGlob(_split_absolute(pattern)[1])
        tree = Tree(
            files,
            root,
            wanted,
            read_objection=None if self.read_objection(root) else self.read_objection,
            hides=hides,
        )
        found = [(-modified(each.entry), each.relative) for each in tree.walk(cancel_check)]
        found.sort()
        lines = [
            printable(self.shown(posixpath.join(root.resolved, relative)))
            for _, relative in found[:MAX_RESULTS]
        ]
        notes = notes_of(tree)
        if len(found) > MAX_RESULTS:
            notes.append(
                f"The {MAX_RESULTS:,} last modified of {len(found):,} files. Narrow the glob to "
                "see others."
            )
        text = "\n".join(lines) or f"No file below {root.written} matches {pattern}."
        return succeeded(
            text + "".join(f"\n\n({note})" for note in notes), {"total_files": len(found)}
        )


def _split_absolute(pattern: str) -> tuple[str, str]:
    """Split an absolute glob into its directory and the rest; a relative one has none."""
    if not pattern.startswith(("/", "~")):
        return "", pattern
    start = _LITERAL_START.match(pattern)
    if start is None:
        return "", pattern
    return start[0].rstrip("/") or "/", pattern[start.end() :]


def _require_directory(root: Location) -> None:
    if root.kind is FileKind.DIRECTORY:
        return
    if root.kind is FileKind.MISSING:
        raise FileToolError(f"{root.written} does not exist. Search another directory.")
    raise FileToolError(f"{root.written} is not a directory: name the one to search as `path`.")
