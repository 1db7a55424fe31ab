"""Defines `Write`, the tool that writes a file."""

from __future__ import annotations

from typing_extensions import override

from agentscope_like.message import ToolChunk
from agentscope_like.paths import FileKind, Location
from agentscope_like.state import AgentState, ReadState
from agentscope_like.tool.builtin.file_system import (
    FileContent,
    Files,
    WritingTool,
    read_whole,
    require_file,
)
from agentscope_like.tool.builtin.files.changes import (
    Change,
    make_change,
    require_read,
    write_anew,
    write_over,
)
from agentscope_like.tool.builtin.files.text_diff import unified_diff
from agentscope_like.tool.builtin.files.text_format import (
    TextFormat,
    decode,
    is_binary,
    only_line_end,
)
from agentscope_like.tool.builtin.tool_results import Checkpoint

__all__ = ["Write"]


class Write(WritingTool):
    """Creates a file, or replaces the whole content of one that was read (seed 002, "File Tools").

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

        def work(files: Files, read_state: ReadState | None, checkpoint: Checkpoint) -> Change:
            location = self.located(files, {"file_path": file_path}, _decision_basis)
            return self._write(files, location, content, read_state, checkpoint)

        return await make_change(self._files, work, _agent_state)

    def _write(
        self,
        files: Files,
        location: Location,
        content: str,
        read_state: ReadState | None,
        checkpoint: Checkpoint,
    ) -> Change:
        require_file(files, location)
        if location.kind is FileKind.MISSING:
            data = TextFormat().encode(content, location.written)
            after = write_anew(files, location, data, checkpoint)
            return self._change(location, "", content, after, "Created")
        before = read_whole(files, location)
        require_read(location, before, read_state)
        old, form = _old_text(before)
        content = _with_line_ends_of(old, content)
        if form.bom:
            content = content.removeprefix("\ufeff")
        data = form.encode(content, location.written)
        after = write_over(files, location, data, before, checkpoint)
        return self._change(location, old, content, after, "Overwrote")

    def _change(
        self, location: Location, old: str, new: str, after: FileContent, done: str
    ) -> Change:
        shown = self.shown(location.resolved)
        lines = new.count("\n") + (not new.endswith("\n") and bool(new))
        return Change(
            summary=f"{done} {shown} ({lines:,} line{'' if lines == 1 else 's'}).",
            diff=unified_diff(old, new, shown),
            entry=after.entry(location.resolved),
        )


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
