"""Finds files with the built-in Glob."""

from __future__ import annotations

import os

from typing_extensions import override

from agentscope_like.tool.builtin.search import Glob
from agentscope_like.typed.executor import ToolConversation
from agentscope_like.typed.tools.glob.definition import GlobAction, GlobObservation
from agentscope_like.typed.tools.path_tool import (
    PathExecutor,
    PathWork,
    chunk_fields,
    decided_path,
)

__all__ = ["GlobExecutor"]


class GlobExecutor(PathExecutor[GlobAction, GlobObservation]):
    """Lists files; what rules deny to read is left out.

    Args:
        working_dir: Where relative paths start; by default, the process's own directory.
        name: The tool's name in rules and messages.
    """

    def __init__(
        self, working_dir: str | os.PathLike[str] | None = None, *, name: str = "glob"
    ) -> None:
        self._twin = Glob(cwd=working_dir)
        self._glob = Glob(cwd=self._twin.cwd)
        self._glob.name = name
        self._glob.related_tools = ("Read", "Glob", "Grep")

    @override
    def work_of(self, action: GlobAction) -> PathWork:
        """Return the action as a call of Glob."""
        return PathWork(self._glob, {"pattern": action.pattern, "path": action.path}, (self._twin,))

    @override
    async def __call__(  # type: ignore[override] # a coroutine function may do the work
        self, action: GlobAction, conversation: ToolConversation | None = None
    ) -> GlobObservation:
        """List the files."""
        chunk = await self._glob.call(
            pattern=action.pattern,
            path=action.path,
            _permission_context=None if conversation is None else conversation.prepared.context,
            _decision_basis=decided_path(conversation),
        )
        total = chunk.metadata.get("total_files", 0)
        return GlobObservation(**chunk_fields(chunk), total_files=total)
