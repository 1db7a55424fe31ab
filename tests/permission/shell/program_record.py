"""What is known of each program's options, values and operands, command by command.

The record is `tests/data/commands/programs.jsonl`: for each program and sub-command, commands with
each of its options, with a value of each form, with fewer and with more operands than it takes. A
line changes only together with what a commit means to change: `python -m
tests.permission.shell.program_record` writes it anew for the commands that it holds, and the
difference is to be read line by line.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TypedDict

from agentscope_like.permission.shell import EffectKind, analyze

__all__ = ["ProgramRecord", "outcome", "program_records"]

_FILE = Path(__file__).parents[2] / "data" / "commands" / "programs.jsonl"


class ProgramRecord(TypedDict):
    """One line.

    Attributes:
        program: The program, or the program and its sub-command.
        outcomes: Commands by their outcome, as `outcome` tells it.
    """

    program: str
    outcomes: dict[str, list[str]]


def program_records() -> list[ProgramRecord]:
    """Return all lines."""
    return [json.loads(line) for line in _FILE.read_text("utf-8").splitlines()]


def outcome(command: str) -> str:
    """Return `reads`, or the number of doubts, and after it the known effects in `/ws`."""
    analysis = analyze(command, directory="/ws", home="/home/u")
    doubts = len(analysis.all_doubts)
    effects = {
        f"{each.kind} {'below ' * each.recursive}{each.path or '?' + each.target}"
        for each in analysis.effects
        if each.kind is not EffectKind.UNKNOWN
    }
    first = "reads" if analysis.read_only else f"{doubts} doubt{'s' * (doubts > 1)}"
    return " ".join(filter(None, [first, ", ".join(sorted(effects))]))


def _record() -> None:
    lines = []
    for record in program_records():
        outcomes: dict[str, list[str]] = {}
        for commands in record["outcomes"].values():
            for command in commands:
                outcomes.setdefault(outcome(command), []).append(command)
        ordered = dict(sorted(outcomes.items()))
        line = {"program": record["program"], "outcomes": ordered}
        lines.append(json.dumps(line, ensure_ascii=False))
    _FILE.write_text("\n".join(lines) + "\n", "utf-8")


if __name__ == "__main__":
    _record()
