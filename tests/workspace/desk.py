"""Calls the tools on a workspace as an agent does."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from agentscope_like.message import TextBlock, ToolCallBlock, ToolResponse, ToolResultState
from agentscope_like.permission import PermissionRule
from agentscope_like.profile import WorkspacePolicy
from agentscope_like.state import AgentState
from agentscope_like.tool import Toolkit
from agentscope_like.workspace import RunControl, Workspace, workspace_tools


class Answer(Struct, frozen=True):
    """What the model is told of a call, and the metadata of the result."""

    text: str
    metadata: dict[str, Any]
    is_error: bool

    @property
    def code(self) -> str | None:
        """Return the code of a recoverable error; None for a success."""
        return self.metadata.get("error_code") if self.is_error else None


class Sink:
    """Keeps the message of each run, as a host would."""

    def __init__(self, failure: Exception | None = None) -> None:
        self.messages: dict[str, str] = {}
        self.failure = failure

    async def commit(self, text: str, *, mode: str, reason: str | None, run_id: str) -> None:
        """Keep the text."""
        del reason
        if self.failure is not None:
            raise self.failure
        before = self.messages.get(run_id, "") if mode == "append" else ""
        self.messages[run_id] = before + text


class Desk:
    """A workspace in a directory, and a toolkit with its tools."""

    def __init__(
        self,
        directory: Path,
        *,
        run_id: str = "run-1",
        policy: WorkspacePolicy | None = None,
        foreground: bool = False,
        persistent: Path | None = None,
        rules: Sequence[str] = ("allow workspace.commit", "allow workspace.finish"),
        sink: Sink | None = None,
        workspace: Workspace | None = None,
    ) -> None:
        self.workspace = workspace or Workspace(
            directory, run_id=run_id, policy=policy, persistent=persistent
        )
        self.control = RunControl(run_id, foreground=foreground)
        self.sink = sink or Sink()
        self.state = AgentState()
        context = self.state.permission_context
        for rule in map(PermissionRule.parse, rules):
            context.table(rule.behavior).add(rule)
        self.toolkit = Toolkit(tools=workspace_tools(self.workspace, self.control, self.sink))

    @property
    def root(self) -> Path:
        """Return the directory of the workspace."""
        return Path(self.workspace.directory)

    def put(self, path: str, content: str | bytes) -> Path:
        """Write a file as another program does."""
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode() if isinstance(content, str) else content)
        return file

    async def decided(self, name: str, **arguments: Any) -> str:
        """Return `allow`, `ask` or `deny` for a call, without running it."""
        decided = await self.toolkit.decide(_call(name, arguments), self.state)
        return "" if decided.decision is None else str(decided.decision.behavior.value)

    async def __call__(self, name: str, **arguments: Any) -> Answer:
        """Call `workspace.<name>` as the model does, and return what it is told."""
        response = ToolResponse(id="call")
        async for each in self.toolkit.call_tool(_call(name, arguments), self.state):
            if isinstance(each, ToolResponse):
                response = each
        texts = [block.text for block in response.content if isinstance(block, TextBlock)]
        is_error = response.state is not ToolResultState.SUCCESS
        return Answer("\n".join(texts), dict(response.metadata), is_error)


def _call(name: str, arguments: dict[str, Any]) -> ToolCallBlock:
    return ToolCallBlock(id="call", name=f"workspace_{name}", input=json.dumps(arguments))
