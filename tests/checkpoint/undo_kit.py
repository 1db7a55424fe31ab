"""Calls tools that change files, with checkpoints, as an agent does."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from agentscope_like.checkpoint import CheckpointStore
from agentscope_like.message import TextBlock, ToolCallBlock, ToolResponse
from agentscope_like.permission import (
    AdditionalWorkingDirectory,
    PermissionContext,
    PermissionDecision,
    PermissionMode,
    PermissionRule,
)
from agentscope_like.state import AgentState
from agentscope_like.tool import Bash, Checkpoints, Edit, Read, Restore, ToolBase, Toolkit, Write


class Undo:
    """A project, a store of checkpoints, and a toolkit whose changes it keeps."""

    def __init__(
        self,
        project: Path,
        store: CheckpointStore,
        *,
        mode: PermissionMode = PermissionMode.ACCEPT_EDITS,
        rules: Iterable[str] = (),
        tools: Sequence[ToolBase] | None = None,
        session_id: str | None = None,
    ) -> None:
        project.mkdir(exist_ok=True)
        self.project, self.store = project, store
        context = PermissionContext(
            mode=mode,
            working_directories={
                str(project): AdditionalWorkingDirectory(path=str(project), source="test")
            },
        )
        for rule in map(PermissionRule.parse, rules):
            context.table(rule.behavior).add(rule)
        self.state = AgentState(permission_context=context)
        if session_id is not None:
            self.state.session_id = session_id
        self.toolkit = Toolkit(
            tools=tools
            or [
                Read(cwd=project),
                Write(cwd=project, checkpoints=store),
                Edit(cwd=project, checkpoints=store),
                Bash(cwd=project, checkpoints=store, confine="off"),
                Restore(store, cwd=project),
                Checkpoints(store),
            ]
        )

    async def decided(self, name: str, **arguments: Any) -> PermissionDecision:
        """Return the decision about a call, without running it."""
        decided = await self.toolkit.decide(_call(name, arguments), self.state)
        if decided.decision is None:
            raise AssertionError("the call was not decided")
        return decided.decision

    async def __call__(self, name: str, **arguments: Any) -> ToolResponse:
        """Call a tool as the model does, and return its result."""
        response = ToolResponse(id="call")
        async for each in self.toolkit.call_tool(_call(name, arguments), self.state):
            if isinstance(each, ToolResponse):
                response = each
        return response

    def read(self, name: str) -> str | None:
        """Return what a file is; None where there is none."""
        path = self.project / name
        return path.read_text() if path.exists() else None


def text_of(response: ToolResponse) -> str:
    """Return the text of a result."""
    return "\n".join(block.text for block in response.content if isinstance(block, TextBlock))


def _call(name: str, arguments: dict[str, Any]) -> ToolCallBlock:
    return ToolCallBlock(id="call", name=name, input=json.dumps(arguments))
