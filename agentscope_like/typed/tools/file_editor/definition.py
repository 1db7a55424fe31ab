"""Defines `FileEditorTool`, with which a model views and changes files."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, Literal, Self

from pydantic import Field, model_validator
from typing_extensions import override

from agentscope_like.state import AgentState
from agentscope_like.typed.action import Action
from agentscope_like.typed.annotations import ToolAnnotations
from agentscope_like.typed.observation import Observation
from agentscope_like.typed.tools.path_tool import PathActionTool

__all__ = ["FileEditorAction", "FileEditorObservation", "FileEditorTool"]

Command = Literal["view", "create", "str_replace", "insert", "undo_edit"]

_TAKEN: Mapping[str, tuple[str, ...]] = {
    "view": (),
    "create": ("file_text",),
    "str_replace": ("old_str",),
    "insert": ("insert_line", "new_str"),
    "undo_edit": (),
}
_ALSO_TAKEN: Mapping[str, tuple[str, ...]] = {"view": ("view_range",), "str_replace": ("new_str",)}
_FIELDS = ("file_text", "old_str", "new_str", "insert_line", "view_range")


class FileEditorAction(Action):
    """One command about one file."""

    command: Command = Field(description="What to do.")
    path: str = Field(description="The file: absolute, or relative to the working directory.")
    file_text: str | None = Field(
        default=None, description="For `create`: the whole content of the new file."
    )
    old_str: str | None = Field(
        default=None, description="For `str_replace`: the text to replace, which is there once."
    )
    new_str: str | None = Field(
        default=None,
        description="For `str_replace`: the text to put in its place, by default none. For "
        "`insert`: the lines to insert.",
    )
    insert_line: int | None = Field(
        default=None,
        ge=0,
        description="For `insert`: the line after which to insert; 0 for the beginning.",
    )
    view_range: tuple[int, int] | None = Field(
        default=None,
        description="For `view`: the first and last line to show, from 1; -1 is the last of all.",
    )

    @model_validator(mode="after")
    def _fits(self) -> Self:
        given = {name for name in _FIELDS if getattr(self, name) is not None}
        needed = _TAKEN[self.command]
        missing = [name for name in needed if name not in given]
        if missing:
            raise ValueError(f"`{self.command}` needs `{missing[0]}`")
        for name in sorted(given.difference(needed, _ALSO_TAKEN.get(self.command, ()))):
            raise ValueError(f"`{self.command}` takes no `{name}`: leave it out")
        if self.view_range is not None:
            first, last = self.view_range
            if first < 1 or (last < first and last != -1):
                raise ValueError("`view_range` is two line numbers from 1 on: [5, 20], [5, -1]")
        return self


class FileEditorObservation(Observation):
    """What came of a command.

    Attributes:
        command: The command.
        path: The file, as the action named it.
        diff: What a change was, in the unified format.
    """

    command: Command
    path: str
    diff: str | None = None


class FileEditorTool(PathActionTool[FileEditorAction, FileEditorObservation]):
    """Views, creates and edits files, and undoes its own edits (seed 004).

    `view` is judged as Read is, `create` as Write, the others as Edit and Write are.
    """

    description = (
        "Views and changes files.\n"
        "`view` shows a file's lines with their numbers, or lists a directory. `create` makes a "
        "new file. `str_replace` replaces `old_str`, which must be in the file exactly once, by "
        "`new_str`. `insert` puts `new_str` after the line `insert_line`. `undo_edit` takes back "
        "the last `str_replace` or `insert` of the file. A file must have been viewed before it "
        "is changed."
    )
    annotations = ToolAnnotations(
        title="Edit files",
        readOnlyHint=False,
        destructiveHint=True,
        idempotentHint=False,
        openWorldHint=False,
    )

    @classmethod
    @override
    def create(
        cls,
        conv_state: AgentState | None = None,
        *,
        working_dir: str | os.PathLike[str] | None = None,
        **params: Any,
    ) -> Sequence[Self]:
        """Return the tool, with a history of its own.

        Args:
            conv_state: Knows what was read, where the executor is called outside of a session.
            working_dir: Where relative paths start; by default, the process's own directory.
            **params: What the constructor takes.
        """
        from agentscope_like.typed.tools.file_editor.impl import FileEditorExecutor

        name = params.get("name") or cls.name
        executor = FileEditorExecutor(working_dir, name=name, state=conv_state)
        return [cls(executor=executor, cwd=working_dir, **params)]

    @override
    async def certain_failure(self, tool_input: dict[str, Any], state: AgentState) -> str | None:
        """Return why a change can only fail, where the file may be read unasked."""
        from agentscope_like.typed.tools.file_editor.impl import FileEditorExecutor

        if not self.is_ready_made or not isinstance(self.executor, FileEditorExecutor):
            return None
        return await self.executor.certain_failure(self.action_from_arguments(tool_input), state)
