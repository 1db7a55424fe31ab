"""Writes what the model reads of a command on a terminal."""

from __future__ import annotations

import time
from collections.abc import Sequence

from msgspec import to_builtins

from agentscope_like.tool.builtin.bash.shell_result import NO_OUTPUT, secrecy
from agentscope_like.typed.tools.terminal.observation import TerminalMetadata, TerminalObservation
from agentscope_like.typed.tools.terminal.program import Ended, Program

__all__ = ["ended_observation", "running_observation"]

_RUNS = (
    "`{}` is still running. Send an empty command to see more, text with `is_input` to answer it, "
    "`C-c` to interrupt it, or `reset` to end it."
)
_NOT_CARRIED = (
    "Not carried over to later commands: {}. Set them in the command that needs them, as in "
    "`NAME=value program`."
)


def running_observation(
    program: Program, before: str, output: str, directory: str
) -> TerminalObservation:
    """Return what is shown of a program that runs.

    Args:
        program: The program.
        before: What comes before its output.
        output: Its output since the last call.
        directory: Where the next command would start.
    """
    return TerminalObservation.from_text(
        before + _with_notes(output, [_RUNS.format(program.command)]),
        command=program.command,
        is_running=True,
        output=output,
        metadata=TerminalMetadata(
            pid=program.process.pid,
            working_dir=directory,
            duration=_seconds(program),
            confinement=program.boundary.kind,
        ),
    )


def ended_observation(
    program: Program,
    ended: Ended,
    before: str,
    output: str,
    directory: str,
    refused: Sequence[str],
) -> TerminalObservation:
    """Return what is shown of a program that has ended.

    Args:
        program: The program.
        ended: How it ended.
        before: What comes before its output.
        output: Its output since the last call.
        directory: Where the next command starts.
        refused: The exported variables that the next command does not get.
    """
    notes = _notes(program, ended, refused)
    text = _with_notes(output, notes) if output or notes else NO_OUTPUT
    violation = ended.violation
    return TerminalObservation.from_text(
        before + text,
        is_error=ended.status != 0 or violation is not None,
        command=program.command,
        exit_code=ended.status,
        timeout=ended.timed_out,
        output=output,
        metadata=TerminalMetadata(
            pid=program.process.pid,
            working_dir=directory,
            duration=_seconds(program),
            confinement=program.boundary.kind,
            not_carried=tuple(refused),
            violation=None if violation is None else to_builtins(violation),
            covered_secrets=ended.covered,
        ),
    )


def _notes(program: Program, ended: Ended, refused: Sequence[str]) -> list[str]:
    notes: list[str] = []
    if ended.timed_out:
        notes.append(
            f"The command was ended after its timeout of {program.timeout:g} s; what it did until "
            "then stands."
        )
    elif ended.status is None:
        notes.append("The command was ended; what it did until then stands.")
    elif ended.status:
        notes.append(f"exit status {ended.status}")
    if ended.left_background:
        notes.append("Processes that the command left in the background were ended with it.")
    if ended.violation is not None:
        notes.append(ended.violation.message)
    if ended.kept_secret:
        notes.append(secrecy(ended.kept_secret))
    if refused:
        notes.append(_NOT_CARRIED.format(", ".join(refused)))
    return notes


def _with_notes(output: str, notes: Sequence[str]) -> str:
    text = "\n".join(f"[{note}]" for note in notes)
    return "\n".join(part for part in (output, text) if part)


def _seconds(program: Program) -> float:
    return round(time.monotonic() - program.process.started_at, 3)
