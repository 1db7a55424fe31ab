"""Makes the changes of the file editor: planned, shown before they are made, then made."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, ClassVar

from typing_extensions import override

from agentscope_like.paths import FileKind, Location
from agentscope_like.state import ReadState
from agentscope_like.tool.builtin.file_system import (
    FileContent,
    Files,
    FileToolError,
    read_whole,
    require_file,
)
from agentscope_like.tool.builtin.files import (
    ChangingTool,
    Edit,
    Plan,
    Write,
    decode,
    line_end_at,
    line_starts,
    require_read,
)
from agentscope_like.typed.tools.file_editor.history import EditHistory
from agentscope_like.typed.tools.file_editor.words import in_own_words

__all__ = ["EditorChanges"]


class EditorChanges(ChangingTool):
    """Plans and makes the changes of `create`, `str_replace`, `insert` and `undo_edit`.

    Args:
        name: The name of the typed tool, for rules and messages.
        cwd: Where relative paths start.
    """

    name = "file_editor"
    verb: ClassVar[str] = "edit"
    description = "Changes a file for the file editor."
    input_schema = {"type": "object", "properties": {}}  # noqa: RUF012

    def __init__(self, name: str, cwd: str | os.PathLike[str] | None) -> None:
        super().__init__(cwd=cwd)
        self.name = name
        self._write = Write(cwd=self.cwd)
        self._edit = Edit(cwd=self.cwd)
        self._history = EditHistory()

    @override
    def path_of(self, tool_input: Mapping[str, Any]) -> str:
        return str(tool_input["path"])

    @override
    def plan(
        self,
        files: Files,
        location: Location,
        tool_input: Mapping[str, Any],
        read_state: ReadState | None,
    ) -> Plan:
        """Return what the command would make of the file."""
        plans = {
            "create": self._created,
            "str_replace": self._replaced,
            "insert": self._inserted,
            "undo_edit": self._undone,
        }
        plan = plans[tool_input["command"]]
        try:
            return plan(files, location, tool_input, read_state)
        except FileToolError as error:
            raise FileToolError(in_own_words(error.message)) from None

    def _created(
        self,
        files: Files,
        location: Location,
        tool_input: Mapping[str, Any],
        read_state: ReadState | None,
    ) -> Plan:
        require_file(files, location)
        if location.kind is not FileKind.MISSING:
            raise FileToolError(
                f"{location.written} exists, and `create` overwrites nothing. View it and change "
                "it with `str_replace`, or choose another path."
            )
        content = {"content": tool_input["file_text"]}
        return self._write.plan(files, location, content, read_state)

    def _replaced(
        self,
        files: Files,
        location: Location,
        tool_input: Mapping[str, Any],
        read_state: ReadState | None,
    ) -> Plan:
        texts = {
            "old_string": tool_input["old_str"],
            "new_string": tool_input.get("new_str") or "",
        }
        return self._edit.plan(files, location, texts, read_state)

    def _inserted(
        self,
        files: Files,
        location: Location,
        tool_input: Mapping[str, Any],
        read_state: ReadState | None,
    ) -> Plan:
        shown, line = location.written, tool_input["insert_line"]
        before = _existing(files, location)
        require_read(location, before, read_state)
        text, form = decode(before.data, shown)
        starts = line_starts(text)
        if line >= len(starts):
            raise FileToolError(
                f"{shown} has {len(starts) - 1:,} lines: `insert_line` is from 0 to "
                f"{len(starts) - 1:,}."
            )
        at = starts[line]
        new = f"{text[:at]}{_lines(text, at, tool_input['new_str'])}{text[at:]}"
        told = f"Inserted into {self.shown(location.resolved)} after line {line:,}."
        return Plan(location, before, form.encode(new, shown), text, new, told)

    def _undone(
        self,
        files: Files,
        location: Location,
        tool_input: Mapping[str, Any],
        read_state: ReadState | None,
    ) -> Plan:
        del tool_input, read_state
        shown = location.written
        now = _existing(files, location)
        last = self._history.last(location.resolved)
        if last is None:
            raise FileToolError(
                f"There is no edit of {shown} left to undo. View it, and change it with "
                "`str_replace`."
            )
        data, after = last
        if now.digest != after:
            raise FileToolError(
                f"{shown} changed since its last edit, and undoing that would lose the change. "
                "View it, and change it with `str_replace`."
            )
        old, new = decode(now.data, shown)[0], decode(data, shown)[0]
        told = f"Undid the last edit of {self.shown(location.resolved)}."
        return Plan(location, now, data, old, new, told)

    @override
    def made(self, plan: Plan, after: FileContent) -> None:
        """Keep what the file was; an edit that was undone is forgotten."""
        path, last = plan.location.resolved, self._history.last(plan.location.resolved)
        if plan.before is None:
            return
        if last == (plan.data, plan.before.digest):
            self._history.drop(path)
        else:
            self._history.add(path, plan.before.data, after.digest)


def _existing(files: Files, location: Location) -> FileContent:
    require_file(files, location)
    if location.kind is FileKind.MISSING:
        raise FileToolError(f"{location.written} does not exist. Make it with `create`.")
    return read_whole(files, location)


def _lines(text: str, at: int, new: str) -> str:
    """Return new lines for a place in the text, with the line end that is used there."""
    end = line_end_at(text, at, at)
    lines = new if "\r" in new else new.replace("\n", end)
    if at == len(text) and text and not text.endswith(("\n", "\r")):
        return end + lines
    return lines if lines.endswith(("\n", "\r")) else lines + end
