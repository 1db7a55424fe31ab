"""Loads the tools of the terminal program's agent, and parses their arguments."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import agentscope_like.tool as tools
from agentscope_like.cli.errors import CliError
from agentscope_like.nearest import nearest

if TYPE_CHECKING:
    from agentscope_like.checkpoint import CheckpointStore
    from agentscope_like.sandbox.isolation import Confine
    from agentscope_like.shell import CommandAnalysis
    from agentscope_like.state import AgentState
    from agentscope_like.tool import BackgroundCommands, ToolBase

__all__ = ["TOOL_NAMES", "all_tools", "load_tool", "parse_input", "reading_of"]

TOOL_NAMES = (
    "Bash",
    "Read",
    "Write",
    "Edit",
    "Glob",
    "Grep",
    "TaskCreate",
    "TaskGet",
    "TaskList",
    "TaskUpdate",
    "HumanApproval",
    "AskUser",
)
"""The names of the tools, in the order in which the model sees them."""

_WITH_CHECKPOINTS = ("Bash", "Write", "Edit")
_WITH_DIRECTORY = ("Bash", "Read", "Write", "Edit", "Glob", "Grep")


def load_tool(
    name: str,
    directory: Path,
    *,
    confine: Confine = "auto",
    outputs: Path | None = None,
    background: BackgroundCommands | None = None,
    layers: Path | None = None,
    checkpoints: CheckpointStore | None = None,
) -> ToolBase:
    """Return the tool of this name, working in `directory`; only its own module is loaded.

    Args:
        name: The name.
        directory: Where it works.
        confine: Whether Bash confines its commands.
        outputs: Where Bash keeps whole outputs; by default until it ends.
        background: The commands that Bash leaves running; by default none.
        layers: Where Bash keeps the layers of held commands; by default it holds none.
        checkpoints: Keeps what files were before tools change them; by default nothing does.

    Raises:
        CliError: There is none.
    """
    if name not in TOOL_NAMES:
        raise CliError(
            f"unknown tool {name!r} (there are: {', '.join(TOOL_NAMES)}){nearest(name, TOOL_NAMES)}"
        )
    kind = getattr(tools, name)
    options: dict[str, Any] = {"cwd": directory} if name in _WITH_DIRECTORY else {}
    if name == "Bash":
        options |= {"confine": confine, "outputs": outputs, "background": background}
        options |= {} if layers is None else {"contain": "on", "layers": layers}
    if checkpoints is not None and name in _WITH_CHECKPOINTS:
        options["checkpoints"] = checkpoints
    tool: ToolBase = kind(**options)
    return tool


def all_tools(
    directory: Path,
    *,
    confine: Confine = "auto",
    outputs: Path | None = None,
    background: BackgroundCommands | None = None,
    layers: Path | None = None,
    checkpoints: CheckpointStore | None = None,
) -> list[ToolBase]:
    """Return every tool, working in `directory`.

    Args:
        directory: The project's.
        confine: Whether Bash confines its commands.
        outputs: Where Bash keeps whole outputs; by default until it ends.
        background: The commands that Bash leaves running; by default none.
        layers: Where Bash keeps the layers of held commands; by default it holds none.
        checkpoints: Keeps what files were before tools change them; by default nothing does.
    """
    return [
        load_tool(
            name,
            directory,
            confine=confine,
            outputs=outputs,
            background=background,
            layers=layers,
            checkpoints=checkpoints,
        )
        for name in TOOL_NAMES
    ]


def parse_input(tool: ToolBase, text: str) -> dict[str, Any]:
    """Parse the arguments of a call.

    A JSON object is the arguments; any other text is the value of the tool's one required argument
    (`command` for Bash, `file_path` for Read). For Bash, an object without `command` is a command.

    Raises:
        CliError: The arguments do not fit the tool.
    """
    required = list(tool.input_schema.get("required", ()))
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = None
    if isinstance(value, dict) and (tool.name != "Bash" or "command" in value):
        _check_fit(tool, value)
        return value
    if len(required) == 1:
        return {required[0]: text}
    raise CliError(
        f"{tool.name} takes a JSON object with {', '.join(required) or 'its arguments'}, for "
        f"example '{_example(tool, required)}'"
    )


def _check_fit(tool: ToolBase, arguments: dict[str, Any]) -> None:
    from agentscope_like.exception import ToolArgumentError
    from agentscope_like.tool.arguments import ArgumentValidator

    try:
        ArgumentValidator(tool.name, tool.input_schema, closed=True).check(arguments)
    except ToolArgumentError as error:
        raise CliError(error.message) from error


def reading_of(
    tool: ToolBase | None, tool_input: dict[str, Any], session: AgentState | None = None
) -> CommandAnalysis | None:
    """Return the analysis of the command line in a call of Bash, or None for other calls."""
    if tool is None or tool.name != "Bash":
        return None
    from agentscope_like.tool import Bash

    return tool.analysis(tool_input, session) if isinstance(tool, Bash) else None


def _example(tool: ToolBase, required: list[str]) -> str:
    values = {"integer": 1, "boolean": True, "array": [], "object": {}}
    properties = tool.input_schema["properties"]
    return json.dumps({n: values.get(properties[n].get("type"), "...") for n in required})
