"""What is known of each program's options, values and operands, command by command.

There are two records in `tests/data/commands`: `programs.jsonl` has for each program and
sub-command commands with each of its options, with a value of each form, with fewer and with more
operands than it takes; `scripts.jsonl` has for each language in a language (sed, awk, SQL,
conditions, expansions) scripts with each of its words. A line changes only together with what a
commit means to change: `python -m tests.permission.shell.program_record` writes both anew for the
commands that they hold, and the difference is to be read line by line.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TypedDict

from agentscope_like.shell import EffectKind, analyze

__all__ = ["ProgramRecord", "outcome", "program_records", "script_records"]

_FOLDER = Path(__file__).parents[2] / "data" / "commands"
_PROGRAMS = _FOLDER / "programs.jsonl"
_SCRIPTS = _FOLDER / "scripts.jsonl"


class ProgramRecord(TypedDict):
    """One line.

    Attributes:
        program: The program, or the program and its sub-command; a first word of scripts.
        outcomes: Commands by their outcome, as `outcome` tells it.
    """

    program: str
    outcomes: dict[str, list[str]]


def program_records() -> list[ProgramRecord]:
    """Return what is on record of each program of the catalog."""
    return _read(_PROGRAMS)


def script_records() -> list[ProgramRecord]:
    """Return what is on record of each language within a command."""
    return _read(_SCRIPTS)


def _read(file: Path) -> list[ProgramRecord]:
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()]


def outcome(command: str) -> str:
    """Return `reads`, `not read` or the number of doubts, and after it the effects in `/ws`."""
    analysis = analyze(command, directory="/ws", home="/home/u")
    doubts = len(analysis.all_doubts)
    effects = {
        f"{each.kind} {'below ' * each.recursive}{each.path or '?' + each.target}"
        for each in analysis.effects
        if each.kind is not EffectKind.UNKNOWN
    }
    first = "reads" if analysis.read_only else f"{doubts} doubt{'s' * (doubts > 1)}"
    if analysis.script is None:
        first = "not read"
    return " ".join(filter(None, [first, ", ".join(sorted(effects))]))


def _record(file: Path) -> None:
    lines = []
    for record in _read(file):
        outcomes: dict[str, list[str]] = {}
        for commands in record["outcomes"].values():
            for command in commands:
                outcomes.setdefault(outcome(command), []).append(command)
        ordered = dict(sorted(outcomes.items()))
        line = {"program": record["program"], "outcomes": ordered}
        lines.append(json.dumps(line, ensure_ascii=False))
    file.write_text("\n".join(lines) + "\n", "utf-8")


if __name__ == "__main__":
    for each in (_PROGRAMS, _SCRIPTS):
        _record(each)
