"""Defines `Write`, the tool that writes a file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from typing_extensions import override

from agentscope_like.message import ToolChunk
from agentscope_like.paths import FileKind, Location
from agentscope_like.state import AgentState, ReadState
from agentscope_like.tool.builtin.file_system import (
    FileContent,
    Files,
    read_whole,
    require_file,
)
from agentscope_like.tool.builtin.files.changes import ChangingTool, Plan
from agentscope_like.tool.builtin.files.read_record import require_read
from agentscope_like.tool.builtin.files.text_format import (
    TextFormat,
    decode,
    is_binary,
    only_line_end,
)

__all__ = ["Write"]


class Write(ChangingTool):
    """Makes a file, or replaces the whole content of one that was read (seed 002, "File Tools").

    An existing file keeps its mode, encoding, byte order mark and line ends. Its arguments are
    those of `WritingTool`.
    """

    name = "Write"
    verb = "overwrite"
    description = (
        "Writes a file: makes a new one, and the directories that lead to it, or replaces the "
        "whole content of an existing one, which must have been read with Read first. Use Edit to "
        "change a part of a file."
    )
    input_schema = {  # noqa: RUF012
        "type": "object",
        "properties": {
            "file_path": {
                "type": "string",
                "description": "The file: absolute, or relative to the working directory.",
            },
            "content": {"type": "string", "description": "The whole content of the file."},
        },
        "required": ["file_path", "content"],
    }

    @override
    async def call(
        self,
        file_path: str,
        content: str,
        _agent_state: AgentState | None = None,
        _decision_basis: str | None = None,
    ) -> ToolChunk:
        """Write the file.

        Args:
            file_path: The file, absolute or relative to `cwd`.
            content: Its new content.
            _agent_state: Records which files were read; without it no existing file is overwritten.
            _decision_basis: Where its path led when the call was decided.
        """
        arguments = {"file_path": file_path, "content": content}
        return await self.change(arguments, _agent_state, _decision_basis)

    @override
    def plan(
        self,
        files: Files,
        location: Location,
        tool_input: Mapping[str, Any],
        read_state: ReadState | None,
    ) -> Plan:
        """Return the file with its new content."""
        content: str = tool_input["content"]
        require_file(files, location)
        if location.kind is FileKind.MISSING:
            data = TextFormat().encode(content, location.written)
            return Plan(location, None, data, "", content, self._told("Created", location, content))
        before = read_whole(files, location)
        require_read(location, before, read_state)
        old, form = _old_text(before)
        content = _with_line_ends_of(old, content)
        if form.bom:
            content = content.removeprefix("\ufeff")
        data = form.encode(content, location.written)
        return Plan(
            location, before, data, old, content, self._told("Overwrote", location, content)
        )

    def _told(self, done: str, location: Location, content: str) -> str:
        lines = content.count("\n") + (not content.endswith("\n") and bool(content))
        shown = self.shown(location.resolved)
        return f"{done} {shown} ({lines:,} line{'' if lines == 1 else 's'})."


def _old_text(before: FileContent) -> tuple[str, TextFormat]:
    """Return the old text and its format; binary data is replaced by UTF-8 text."""
    if is_binary(before.data):
        return "", TextFormat()
    return decode(before.data, "The file")


def _with_line_ends_of(old: str, content: str) -> str:
    r"""Return `content` with the line end of the old text, if that has only one kind."""
    usual = only_line_end(old)
    if usual in (None, "\n") or "\r" in content:
        return content
    return content.replace("\n", str(usual))
