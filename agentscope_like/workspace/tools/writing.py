"""Defines the tools that write and patch files of a workspace."""

from __future__ import annotations

from typing import Any, ClassVar

from typing_extensions import override

from agentscope_like.message import ToolChunk
from agentscope_like.paths import PathError
from agentscope_like.tool.resources import DeclaredResources
from agentscope_like.workspace.changes import Changed, patch, write
from agentscope_like.workspace.tools.workspace_tool import WorkspaceTool, done

__all__ = ["ApplyPatch", "WriteFile"]


class _WritingTool(WorkspaceTool):
    """A tool that changes one file."""

    @override
    def resources(self, tool_input: dict[str, Any]) -> DeclaredResources | None:
        """Return the file, which the call needs for itself."""
        try:
            return DeclaredResources(keys=(f"file:{self.locate(tool_input).resolved}",))
        except PathError:
            return None  # it only fails


class WriteFile(_WritingTool):
    """Writes a text file of the workspace (seed 001, "workspace.write_file")."""

    name = "workspace.write_file"
    description = (
        "Writes text to a file of your workspace. mode: `replace` (default) makes content the "
        "whole file; an existing file must have been read in full. `append` adds content exactly "
        "at the end, without a newline of its own, and makes the file if there is none."
    )
    input_schema: ClassVar[dict[str, Any]] = {  # type: ignore[misc]
        "type": "object",
        "properties": {
            "path": {"type": "string"},
            "content": {"type": "string"},
            "mode": {"type": "string", "enum": ["replace", "append"], "default": "replace"},
        },
        "required": ["path", "content"],
    }

    async def call(
        self,
        path: str,
        content: str,
        mode: str = "replace",
        _decision_basis: str | None = None,
    ) -> ToolChunk:
        """Write the file, after its checkpoint."""

        def work() -> ToolChunk:
            place = self.workspace.find_writable(path, decided=_decision_basis)
            changed = write(self.workspace, place, content, mode)
            verb = "Created" if changed.created else "Wrote"
            told = f"{verb} {place.relative} ({changed.characters:,} characters)."
            return _told(told, place.relative, changed)

        return await self.work(work)


class ApplyPatch(_WritingTool):
    """Replaces text in a file of the workspace (seed 001, "workspace.apply_patch")."""

    name = "workspace.apply_patch"
    description = (
        "Replaces old_string by new_string in one file of your workspace. old_string must be text "
        "that you read or wrote, exactly, without line numbers, and be there once; with "
        "replace_all, every match is replaced, and the file must have been read in full. If a "
        "patch fails, read the file in full before the next one."
    )
    input_schema: ClassVar[dict[str, Any]] = {  # type: ignore[misc]
        "type": "object",
        "properties": {
            "path": {"type": "string"},
            "old_string": {"type": "string"},
            "new_string": {"type": "string"},
            "replace_all": {"type": "boolean", "default": False},
        },
        "required": ["path", "old_string", "new_string"],
    }

    async def call(
        self,
        path: str,
        old_string: str,
        new_string: str,
        replace_all: bool = False,
        _decision_basis: str | None = None,
    ) -> ToolChunk:
        """Patch the file, after its checkpoint."""

        def work() -> ToolChunk:
            place = self.workspace.find_writable(path, decided=_decision_basis)
            changed = patch(self.workspace, place, old_string, new_string, replace_all=replace_all)
            places = "1 place" if changed.replaced == 1 else f"{changed.replaced:,} places"
            return _told(f"Patched {place.relative} in {places}.", place.relative, changed)

        return await self.work(work)


def _told(text: str, path: str, changed: Changed) -> ToolChunk:
    metadata = {
        "path": path,
        "checkpoint": changed.checkpoint,
        "digest": changed.digest,
        "occurrences": changed.replaced,
    }
    return done(f"{text} Checkpoint {changed.checkpoint}.", metadata)
