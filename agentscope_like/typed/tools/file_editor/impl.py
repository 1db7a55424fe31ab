"""Views files with the built-in Read, and changes them as Write and Edit do."""

from __future__ import annotations

import os
from typing import Any

from typing_extensions import override

from agentscope_like.message import TextBlock, ToolChunk, ToolResultState
from agentscope_like.paths import FileKind, PathError
from agentscope_like.state import AgentState
from agentscope_like.tool.builtin.file_system import PathTool
from agentscope_like.tool.builtin.files import MAX_LINES, Edit, Read, Write
from agentscope_like.tool.builtin.search import Glob
from agentscope_like.typed.executor import ToolConversation
from agentscope_like.typed.tools.file_editor.definition import (
    FileEditorAction,
    FileEditorObservation,
)
from agentscope_like.typed.tools.file_editor.edits import EditorChanges
from agentscope_like.typed.tools.file_editor.words import in_own_words, note_in_own_words
from agentscope_like.typed.tools.path_tool import (
    PathExecutor,
    PathWork,
    chunk_fields,
    decided_path,
)

__all__ = ["FileEditorExecutor"]

_TWO_LEVELS = "{*,*/*}"


class FileEditorExecutor(PathExecutor[FileEditorAction, FileEditorObservation]):
    """Does the commands of the file editor, and keeps the history of its edits.

    Args:
        working_dir: Where relative paths start; by default, the process's own directory.
        name: The tool's name in rules and messages.
        state: Knows what was read, where the executor is called outside of a session.
    """

    def __init__(
        self,
        working_dir: str | os.PathLike[str] | None = None,
        *,
        name: str = "file_editor",
        state: AgentState | None = None,
    ) -> None:
        self._changes = EditorChanges(name, working_dir)
        cwd = self._changes.cwd
        self._read, self._glob = Read(cwd=cwd), Glob(cwd=cwd)
        self._read.name = self._glob.name = name
        self._glob.related_tools = ("Read", "Glob", "Grep")
        self._reading: tuple[PathTool, ...] = (Read(cwd=cwd),)
        self._creating: tuple[PathTool, ...] = (Write(cwd=cwd),)
        self._editing: tuple[PathTool, ...] = (*self._creating, Edit(cwd=cwd))
        self._state = AgentState() if state is None else state

    @override
    def work_of(self, action: FileEditorAction) -> PathWork:
        """Return the action as a call of Read, Write or Edit."""
        if action.command == "view":
            return PathWork(self._read, {"file_path": action.path}, self._reading)
        twins = self._creating if action.command == "create" else self._editing
        return PathWork(self._changes, _arguments(action), twins)

    @override
    async def __call__(  # type: ignore[override] # a coroutine function may do the work
        self, action: FileEditorAction, conversation: ToolConversation | None = None
    ) -> FileEditorObservation:
        """Do the command."""
        if action.command == "view":
            chunk = await self._view(action, conversation)
        else:
            state = self._state if conversation is None else conversation.state
            decided = decided_path(conversation)
            chunk = await self._changes.change(_arguments(action), state, decided)
        return FileEditorObservation(
            **chunk_fields(chunk),
            command=action.command,
            path=action.path,
            diff=chunk.metadata.get("diff"),
        )

    async def certain_failure(self, action: FileEditorAction, state: AgentState) -> str | None:
        """Return why a change can only fail, where the file may be read unasked."""
        if action.command == "view":
            return None
        return await self._changes.certain_failure(_arguments(action), state)

    async def _view(
        self, action: FileEditorAction, conversation: ToolConversation | None
    ) -> ToolChunk:
        decided = decided_path(conversation)
        if self._is_directory(action.path):
            context = None if conversation is None else conversation.prepared.context
            return await self._glob.call(
                _TWO_LEVELS, action.path, _permission_context=context, _decision_basis=decided
            )
        state = self._state if conversation is None else conversation.state
        offset, limit = _window(action)
        chunk = await self._read.call(
            action.path, offset, limit, _agent_state=state, _decision_basis=decided
        )
        return _told(chunk)

    def _is_directory(self, path: str) -> bool:
        try:
            return self._read.locate({"file_path": path}).kind is FileKind.DIRECTORY
        except PathError:
            return False


def _arguments(action: FileEditorAction) -> dict[str, Any]:
    return {name: getattr(action, name) for name in type(action).model_fields}


def _window(action: FileEditorAction) -> tuple[int, int]:
    """Return the first line to show, and how many at most."""
    first, last = action.view_range or (1, -1)
    return first, MAX_LINES if last == -1 else last - first + 1


def _told(chunk: ToolChunk) -> ToolChunk:
    """Return the result of Read in the words of the file editor."""
    say = in_own_words if chunk.state is ToolResultState.ERROR else note_in_own_words
    content = [
        block.model_copy(update={"text": say(block.text)})
        if isinstance(block, TextBlock)
        else block
        for block in chunk.content
    ]
    return chunk.model_copy(update={"content": content})
