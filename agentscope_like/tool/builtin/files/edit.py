"""Defines `Edit`, the tool that replaces text in a file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from typing_extensions import override

from agentscope_like.message import ToolChunk
from agentscope_like.paths import FileKind, Location
from agentscope_like.state import AgentState, ReadState
from agentscope_like.tool.builtin.file_errors import FileToolError
from agentscope_like.tool.builtin.file_system import Files, read_whole, require_file
from agentscope_like.tool.builtin.files.changes import ChangingTool, Plan
from agentscope_like.tool.builtin.files.read_record import require_read
from agentscope_like.tool.builtin.files.substitution import substitute
from agentscope_like.tool.builtin.files.text_format import decode

__all__ = ["Edit"]


class Edit(ChangingTool):
    """Replaces exact text in a file that was read (seed 002, "File Tools").

    The rest of the file is unchanged, byte for byte. Its arguments are those of `WritingTool`.
    """

    name = "Edit"
    verb = "edit"
    description = (
        "Replaces exact text in a file, which must have been read with Read first. `old_string` "
        "must be in the file exactly once, unless `replace_all` is set; give it without the line "
        "numbers that Read shows, its indentation exactly. Line ends are kept as they are in the "
        "file."
    )
    input_schema = {  # noqa: RUF012
        "type": "object",
        "properties": {
            "file_path": {
                "type": "string",
                "description": "The file: absolute, or relative to the working directory.",
            },
            "old_string": {"type": "string", "description": "The text to replace."},
            "new_string": {"type": "string", "description": "The text to put in its place."},
            "replace_all": {
                "type": "boolean",
                "default": False,
                "description": "Whether to replace every occurrence.",
            },
        },
        "required": ["file_path", "old_string", "new_string"],
    }

    @override
    async def call(
        self,
        file_path: str,
        old_string: str,
        new_string: str,
        replace_all: bool = False,
        _agent_state: AgentState | None = None,
        _decision_basis: str | None = None,
    ) -> ToolChunk:
        r"""Edit the file.

        Args:
            file_path: The file, absolute or relative to `cwd`.
            old_string: The text to replace; its `\n` matches any line end.
            new_string: The text to put in its place.
            replace_all: Whether to replace every occurrence.
            _agent_state: Records which files were read; without it nothing is changed.
            _decision_basis: Where its path led when the call was decided.
        """
        arguments = {
            "file_path": file_path,
            "old_string": old_string,
            "new_string": new_string,
            "replace_all": replace_all,
        }
        return await self.change(arguments, _agent_state, _decision_basis)

    @override
    def plan(
        self,
        files: Files,
        location: Location,
        tool_input: Mapping[str, Any],
        read_state: ReadState | None,
    ) -> Plan:
        """Return what the file would be with the text replaced."""
        file_path = location.written
        require_file(files, location)
        if location.kind is FileKind.MISSING:
            raise FileToolError(
                f"{file_path} does not exist. Make it with Write, or find it first."
            )
        before = read_whole(files, location)
        require_read(location, before, read_state)
        text, form = decode(before.data, file_path)
        old, new = tool_input["old_string"], tool_input["new_string"]
        every = tool_input.get("replace_all", False)
        changed = substitute(text, old, new, file_path, every=every)
        count = len(changed.lines)
        where = f"at line {changed.lines[0]}" if count == 1 else f"in {count} places"
        return Plan(
            location,
            before,
            form.encode(changed.text, file_path),
            text,
            changed.text,
            f"Edited {self.shown(location.resolved)} {where}.",
            count,
        )
