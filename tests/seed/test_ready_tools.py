"""The document "Tool System" (seed 004): the tools that it names, and how they are laid out."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import pytest

from agentscope_like.typed import Action, Observation, ToolDefinition, tools
from agentscope_like.typed.tools import (
    FileEditorTool,
    FinishTool,
    GlobTool,
    GrepTool,
    TaskTrackerTool,
    ThinkTool,
)
from tests.seed.kit import DEFAULT, EDITS, decide, rule

ROOMS = sorted(file.parent for file in Path(tools.__file__).parent.glob("*/definition.py"))


@pytest.mark.parametrize("kind", [FinishTool, ThinkTool], ids=lambda kind: kind.__name__)
async def test_004_21_finish_and_think_need_no_configuration(kind: Any) -> None:
    """They touch nothing but the agent's own state, so that they run unasked."""
    (tool,) = kind.create()
    arguments: Any = {"finish": {"message": "x"}, "think": {"thought": "x"}}[tool.name]
    assert (await decide(tool, mode=DEFAULT, **arguments)).behavior == "allow"


async def test_004_22_tools_with_a_configuration_are_made_by_their_factory(tmp_path: Path) -> None:
    """`create` takes the directory that the tool works in."""
    for kind in (FileEditorTool, GlobTool, GrepTool):
        (tool,) = kind.create(working_dir=tmp_path)
        assert tool.cwd == str(tmp_path)


@pytest.mark.parametrize(
    ("kind", "hints"),
    [
        (GlobTool, {"readOnlyHint": True, "idempotentHint": True}),
        (FileEditorTool, {"readOnlyHint": False, "destructiveHint": True}),
        (TaskTrackerTool, {"destructiveHint": False, "openWorldHint": False}),
    ],
    ids=["glob", "file_editor", "task_tracker"],
)
def test_004_23_the_hints_are_those_of_the_document(kind: Any, hints: dict[str, bool]) -> None:
    """As in its table of examples."""
    (tool,) = kind.create()
    assert hints.items() <= tool.annotations.model_dump().items()


async def test_004_24_the_editor_is_judged_by_each_command_s_own_effects(tmp_path: Path) -> None:
    """What only views asks as Read does, though the tool as a whole is destructive."""
    (tool,) = FileEditorTool.create(working_dir=tmp_path)
    view = await decide(tool, rule("Read"), work=tmp_path, command="view", path="a.txt")
    change: Any = {"command": "create", "path": "a.txt", "file_text": "x"}
    assert view.behavior == "allow"
    assert (await decide(tool, rule("Read"), work=tmp_path, **change)).behavior == "ask"
    assert (await decide(tool, mode=EDITS, work=tmp_path, **change)).behavior == "allow"


def test_004_25_a_tool_is_a_package_with_a_definition_and_an_implementation() -> None:
    """The door exports the tool with its action and observation; the rest is behind it."""
    assert len(ROOMS) >= 6
    for room in ROOMS:
        assert {"__init__.py", "definition.py", "impl.py"} <= {f.name for f in room.iterdir()}
        door = __import__(f"agentscope_like.typed.tools.{room.name}", fromlist=["__all__"])
        exported = [getattr(door, name) for name in door.__all__]
        for base in (Action, Observation, ToolDefinition):
            assert any(isinstance(one, type) and issubclass(one, base) for one in exported)


def test_004_26_no_definition_imports_its_implementation_at_its_head() -> None:
    """Only functions do, such as `create`."""
    for room in ROOMS:
        for file in (room / "definition.py", room / "__init__.py"):
            heads = [
                node
                for node in ast.parse(file.read_text()).body
                if isinstance(node, ast.ImportFrom)
            ]
            assert heads
            assert not any((node.module or "").endswith(".impl") for node in heads)
