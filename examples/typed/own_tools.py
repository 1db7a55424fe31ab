"""An agent with typed tools: two of one's own, in both patterns, and ready-made ones.

The model's part is played by a script. Before each call it is shown what is decided about it, and a
question is answered with no.

    python examples/typed/own_tools.py
"""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

from agentscope_like import (
    Agent,
    AgentState,
    PermissionContext,
    PermissionEngine,
    PermissionMode,
    ScriptedModel,
    Toolkit,
)
from agentscope_like.model import Script
from agentscope_like.testing import ScriptedApprover
from agentscope_like.typed import (
    Action,
    Effects,
    Observation,
    ToolAnnotations,
    ToolConversation,
    ToolDefinition,
    ToolExecutor,
)
from agentscope_like.typed.tools import FileEditorTool, FinishTool


class CountAction(Action):
    """What to count."""

    word: str
    text: str


class CountObservation(Observation):
    """How often it is there."""

    number: int


class CountExecutor(ToolExecutor[CountAction, CountObservation]):
    """Counts; it has no state."""

    def __call__(
        self, action: CountAction, conversation: ToolConversation | None = None
    ) -> CountObservation:
        """Count the word."""
        number = action.text.count(action.word)
        return CountObservation.from_text(f"{number} times", number=number)


class NoteAction(Action):
    """A line to write down."""

    line: str


class NoteExecutor(ToolExecutor[NoteAction, Observation]):
    """Writes lines into one file."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def __call__(
        self, action: NoteAction, conversation: ToolConversation | None = None
    ) -> Observation:
        """Write the line."""
        with self.file.open("a", encoding="utf-8") as file:
            file.write(f"{action.line}\n")
        return Observation.from_text("Written down.")


class NoteTool(ToolDefinition[NoteAction, Observation]):
    """Writes lines down."""

    description = "Writes a line down."

    @classmethod
    def create(
        cls, conv_state: AgentState | None = None, *, file: str = "notes.txt", **params: Any
    ) -> Sequence[Self]:
        """Return the tool that writes into a file."""
        return [cls(executor=NoteExecutor(Path(file)), **params)]

    def effects(self, action: NoteAction) -> Effects | None:
        """Return the file: writing there is judged as Write is."""
        executor = self.executor
        return Effects(writes=(str(executor.file),)) if isinstance(executor, NoteExecutor) else None


def make_tools(directory: Path) -> list[ToolDefinition[Any, Any]]:
    """Return the agent's tools; the two of one's own are trusted."""
    count = ToolDefinition(
        name="count",
        description="Counts a word in a text.",
        action_type=CountAction,
        observation_type=CountObservation,
        executor=CountExecutor(),
        annotations=ToolAnnotations(readOnlyHint=True),
        trust=True,
    )
    notes = NoteTool.create(file=str(directory / "notes.txt"), cwd=directory, trust=True)
    return [count, *notes, *FileEditorTool.create(working_dir=directory), *FinishTool.create()]


CALLS: list[tuple[str, dict[str, Any]]] = [
    ("count", {"word": "na", "text": "banana"}),
    ("note", {"line": "banana: 2"}),
    ("file_editor", {"command": "view", "path": "notes.txt"}),
    ("file_editor", {"command": "create", "path": "~/.bashrc", "file_text": "x"}),
    ("finish", {"message": "It is noted."}),
]


async def main(directory: Path) -> None:
    """Show what is decided about each call, then let the agent make them."""
    context = PermissionContext.from_rules(
        mode=PermissionMode.ACCEPT_EDITS, working_directories=[directory]
    )
    state = AgentState(permission_context=context)
    toolkit = Toolkit(make_tools(directory))
    for name, arguments in CALLS:
        tool = await toolkit.get_tool(name)
        if tool is None:
            raise LookupError(name)
        said = await PermissionEngine(context, state).check_permission(tool, arguments)
        print(f"{said.behavior.value:6}{name} {json.dumps(arguments)}")
    lines = [{"calls": [{"name": name, "input": given}]} for name, given in CALLS]
    script = Script.parse("\n".join(json.dumps(line) for line in lines))
    async with Agent("ada", "You count.", ScriptedModel(script), toolkit, state=state) as agent:
        message = await ScriptedApprover(no=["file_editor(write:~/**)"]).reply(agent, "Go on.")
    print(message.get_text_content())
    print((directory / "notes.txt").read_text(encoding="utf-8"), end="")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        asyncio.run(main(Path(place)))
