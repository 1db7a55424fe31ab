"""A workspace with the file tools, for tests."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from agentscope_like.message import DataBlock, TextBlock, ToolChunk, ToolResultState
from agentscope_like.permission import (
    AdditionalWorkingDirectory,
    PermissionContext,
    PermissionDecision,
    PermissionEngine,
    PermissionMode,
    PermissionRule,
)
from agentscope_like.sandbox import SandboxHandle
from agentscope_like.state import AgentState
from agentscope_like.tool import Edit, Glob, Grep, Read, ToolBase, Write

__all__ = ["Workspace", "text_of"]


def text_of(chunk: ToolChunk) -> str:
    """Return the text of a chunk."""
    return "".join(block.text for block in chunk.content if isinstance(block, TextBlock))


class Workspace:
    """A directory, an agent's state, and the five tools in it.

    Args:
        root: The directory.
        backend: The sandbox that the tools work in, which knows the directory by the same path.
    """

    def __init__(self, root: Path, backend: SandboxHandle | None = None) -> None:
        self.root = root
        self.backend = backend
        self.state = AgentState()
        self.read_tool = Read(cwd=root, backend=backend)
        self.write_tool = Write(cwd=root, backend=backend)
        self.edit_tool = Edit(cwd=root, backend=backend)
        self.glob_tool = Glob(cwd=root, backend=backend)
        self.grep_tool = Grep(cwd=root, backend=backend)

    @property
    def tools(self) -> dict[str, ToolBase]:
        """Return the tools by name."""
        tools: list[ToolBase] = [
            self.read_tool,
            self.write_tool,
            self.edit_tool,
            self.glob_tool,
            self.grep_tool,
        ]
        return {tool.name: tool for tool in tools}

    def file(self, name: str, content: str | bytes = "") -> Path:
        """Make a file, and the directories that lead to it."""
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    async def run(self, tool: ToolBase, **arguments: Any) -> ToolChunk:
        """Run a tool as the toolkit would and return its only chunk."""
        if tool.is_state_injected:
            arguments["_agent_state"] = self.state
        chunks = [chunk async for chunk in tool(**arguments)]
        assert len(chunks) == 1
        return chunks[0]

    async def succeed(self, tool: ToolBase, **arguments: Any) -> str:
        """Run a tool that works, and return what it says."""
        chunk = await self.run(tool, **arguments)
        assert chunk.state is ToolResultState.SUCCESS, text_of(chunk)
        return text_of(chunk)

    async def fail(self, tool: ToolBase, **arguments: Any) -> str:
        """Run a tool that cannot do what it should, and return what it says."""
        chunk = await self.run(tool, **arguments)
        assert chunk.state is ToolResultState.ERROR, text_of(chunk)
        return text_of(chunk)

    async def read(self, file_path: str, **arguments: Any) -> str:
        """Read a file."""
        return await self.succeed(self.read_tool, file_path=file_path, **arguments)

    async def data(self, file_path: str) -> DataBlock:
        """Read an image and return its block."""
        chunk = await self.run(self.read_tool, file_path=file_path)
        (block,) = [block for block in chunk.content if isinstance(block, DataBlock)]
        return block

    async def write(self, file_path: str, content: str) -> str:
        """Write a file."""
        return await self.succeed(self.write_tool, file_path=file_path, content=content)

    async def edit(self, file_path: str, old: str, new: str, *, every: bool = False) -> ToolChunk:
        """Edit a file."""
        return await self.run(
            self.edit_tool,
            file_path=file_path,
            old_string=old,
            new_string=new,
            replace_all=every,
        )

    async def grep(self, pattern: str, **arguments: Any) -> str:
        """Search."""
        return await self.succeed(self.grep_tool, pattern=pattern, **arguments)

    async def glob(self, pattern: str, **arguments: Any) -> str:
        """Find files."""
        return await self.succeed(self.glob_tool, pattern=pattern, **arguments)

    def context(
        self,
        mode: PermissionMode = PermissionMode.DEFAULT,
        *rules: PermissionRule,
        directories: Mapping[str, str] | None = None,
    ) -> PermissionContext:
        """Return a policy."""
        context = PermissionContext(
            mode=mode,
            working_directories={
                path: AdditionalWorkingDirectory(path=path, source=source)
                for path, source in (directories or {}).items()
            },
        )
        for rule in rules:
            context.table(rule.behavior).add(rule)
        return context

    async def decide(
        self, tool: str, context: PermissionContext, **arguments: Any
    ) -> PermissionDecision:
        """Decide about a call."""
        return await PermissionEngine(context).check_permission(self.tools[tool], arguments)
