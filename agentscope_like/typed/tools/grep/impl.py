"""Searches files with the built-in Grep."""

from __future__ import annotations

import os

from typing_extensions import override

from agentscope_like.tool.builtin.search import Grep
from agentscope_like.typed.executor import ToolConversation
from agentscope_like.typed.tools.grep.definition import GrepAction, GrepObservation
from agentscope_like.typed.tools.path_tool import (
    PathExecutor,
    PathWork,
    chunk_fields,
    decided_path,
)

__all__ = ["GrepExecutor"]


class GrepExecutor(PathExecutor[GrepAction, GrepObservation]):
    """Searches files; what rules deny to read is left out.

    Args:
        working_dir: Where relative paths start; by default, the process's own directory.
        name: The tool's name in rules and messages.
    """

    def __init__(
        self, working_dir: str | os.PathLike[str] | None = None, *, name: str = "grep"
    ) -> None:
        self._twin = Grep(cwd=working_dir)
        self._grep = Grep(cwd=self._twin.cwd)
        self._grep.name = name
        self._grep.related_tools = ("Read", "Grep", "Glob")

    @override
    def work_of(self, action: GrepAction) -> PathWork:
        """Return the action as a call of Grep."""
        arguments = {"pattern": action.pattern, "path": action.path}
        return PathWork(self._grep, arguments, (self._twin,))

    @override
    async def __call__(  # type: ignore[override] # a coroutine function may do the work
        self, action: GrepAction, conversation: ToolConversation | None = None
    ) -> GrepObservation:
        """Search."""
        chunk = await self._grep.call(
            pattern=action.pattern,
            path=action.path,
            glob=action.include,
            output_mode=action.output_mode,
            i=action.ignore_case,
            context=action.context,
            offset=action.offset,
            _permission_context=None if conversation is None else conversation.prepared.context,
            _decision_basis=decided_path(conversation),
        )
        files, matches = (chunk.metadata.get(key, 0) for key in ("files", "matches"))
        return GrepObservation(**chunk_fields(chunk), files=files, matches=matches)
