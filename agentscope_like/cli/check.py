"""Decides about one call without running it."""

from __future__ import annotations

import asyncio
import json
import shutil
import sys
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from agentscope_like.cli.errors import CliError
from agentscope_like.cli.program_tools import TOOL_NAMES, load_tool, parse_input, reading_of
from agentscope_like.nearest import nearest
from agentscope_like.permission import (
    AdditionalWorkingDirectory,
    DecisionRow,
    PermissionBehavior,
    PermissionConfigError,
    PermissionContext,
    PermissionEngine,
    PermissionMode,
    PermissionRule,
    rules_of,
)
from agentscope_like.permission.explain import Explanation, Line, LineRole, explain_call, lay_out

if TYPE_CHECKING:
    from agentscope_like.tool import ToolBase

__all__ = [
    "EXIT_CODES",
    "check_call",
    "check_rule",
    "make_context",
    "print_explanation",
    "print_unconfined",
]

EXIT_CODES: Mapping[PermissionBehavior, int] = {
    PermissionBehavior.ALLOW: 0,
    PermissionBehavior.DENY: 1,
    PermissionBehavior.ASK: 2,
}
"""The exit codes of `check`, by decision."""

_RUNS_HELD = (
    "with --contain on (as `run` has it), it runs at once on a layer, held by the kernel, and what "
    "it changed is judged afterwards"
)

_COLOURS: Mapping[LineRole, tuple[str | None, bool]] = {
    LineRole.ALLOW: ("green", True),
    LineRole.DENY: ("red", True),
    LineRole.ASK: ("yellow", True),
    LineRole.CALL: (None, True),
    LineRole.MARK: ("yellow", False),
    LineRole.PROVEN: ("green", False),
    LineRole.DOUBT: ("yellow", False),
    LineRole.EFFECT: ("magenta", False),
    LineRole.RULE: ("cyan", False),
    LineRole.OFFER: ("cyan", False),
}


def make_context(
    mode: PermissionMode, directory: Path, rules: Iterable[PermissionRule]
) -> PermissionContext:
    """Return the permission context of a session in `directory`.

    Raises:
        CliError: A rule names an unknown tool.
    """
    context = PermissionContext(
        mode=mode,
        working_directories={
            str(directory): AdditionalWorkingDirectory(path=str(directory), source="cwd")
        },
    )
    engine = PermissionEngine(context)
    for rule in rules:
        if rule.tool_name not in TOOL_NAMES:
            raise CliError(
                f"rule `{rule}` is for no tool (there are: {', '.join(TOOL_NAMES)})"
                f"{nearest(rule.tool_name, TOOL_NAMES)}"
            )
        engine.add_rule(rule)
    return context


def check_call(
    text: str,
    *,
    tool_name: str,
    mode: PermissionMode,
    directory: Path,
    rules: Iterable[PermissionRule],
) -> Explanation:
    """Decide and explain a call without running it.

    Args:
        text: A command line or a file path, or the arguments as a JSON object.
        tool_name: The tool.
        mode: The mode of the session.
        directory: The directory of the session.
        rules: The rules of the session.

    Raises:
        CliError: The tool, its arguments or a rule is invalid.
    """
    tool = load_tool(tool_name, directory)
    tool_input = parse_input(tool, text)
    context = make_context(mode, directory, rules)
    _refuse_bad_rules(tool, context)
    reading = reading_of(tool, tool_input)
    explanation = asyncio.run(explain_call(tool, tool_input, context, analysis=reading))
    if tool_name == "Bash" and explanation.decision.row is DecisionRow.NOTHING_MATCHED:
        held = asyncio.run(_held(tool_input, context, directory))
        explanation = replace(explanation, held=held)
    return explanation


async def _held(tool_input: dict[str, Any], context: PermissionContext, directory: Path) -> str:
    """Return what comes of a command where commands run held; tries to hold a harmless one."""
    from agentscope_like.tool.builtin.held import HoldableCommand

    with tempfile.TemporaryDirectory() as layers:
        bash = load_tool("Bash", directory, layers=Path(layers))
        decision, call = await PermissionEngine(context).decide(bash, tool_input)
    if decision.can_be_held:
        return _RUNS_HELD
    objection = call.held_objection() if isinstance(call, HoldableCommand) else None
    return f"with --contain on, the same, since {objection}" if objection else ""


def print_explanation(
    explanation: Explanation, *, as_json: bool = False, with_row: bool = False
) -> None:
    """Print an explanation to standard output, in colour at a terminal.

    Args:
        explanation: The explanation.
        as_json: Whether it is printed as JSON, for programs.
        with_row: Whether the row of the decision table is named.
    """
    if as_json:
        print(json.dumps(explanation.to_json(), indent=2))
        return
    import typer

    width = min(shutil.get_terminal_size().columns, 100)
    colour = sys.stdout is not None and sys.stdout.isatty()
    for line in lay_out(explanation, width):
        if line.role is LineRole.ROW and not with_row:
            continue
        typer.echo(_coloured(line) if colour else line.text)


def print_unconfined() -> None:
    """Print a warning if commands cannot be confined on this machine."""
    from agentscope_like.sandbox.host import find_bubblewrap

    if find_bubblewrap() is None:
        print("Commands are decided but not confined here: there is no bwrap.")


def _coloured(line: Line) -> str:
    import typer

    colour, bold = _COLOURS.get(line.role, (None, False))
    return typer.style(line.text, fg=colour, bold=bold)


def check_rule(rule: PermissionRule, directory: Path) -> None:
    """Refuse an invalid rule.

    Raises:
        CliError: The tool is unknown, or it cannot read the rule's content.
    """
    context = make_context(PermissionMode.DEFAULT, directory, [rule])
    _refuse_bad_rules(load_tool(rule.tool_name, directory), context)


def _refuse_bad_rules(tool: ToolBase, context: PermissionContext) -> None:
    try:
        for behavior in EXIT_CODES:
            rules_of(tool, behavior, context)
    except PermissionConfigError as error:
        raise CliError(f"{error}; fix the rule or leave it out") from error
