"""What is read in commands and decided about them, by construct of the shell.

The record is `tests/data/commands/constructs.jsonl`. A line changes only together with what a
commit means to change.
"""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import TypedDict

from agentscope_like.permission import PermissionDecision
from agentscope_like.permission.shell import CommandAnalysis

__all__ = ["Construct", "constructs", "done", "outcome", "ran", "workspace"]

_FILE = Path(__file__).parents[2] / "data" / "commands" / "constructs.jsonl"


class Construct(TypedDict):
    """One line.

    Attributes:
        command: The command.
        reads_only: Whether it is proven to read only.
        runs: The words of each simple command, quoted for the shell; `?` for one that is unknown.
        does: The effects with a known path, in `/ws`, below `/home/u`.
        default: The decision without any rule, with a `!` where no rule can change it.
        accept_edits: The same where edits are accepted.
    """

    command: str
    reads_only: bool
    runs: list[str]
    does: list[str]
    default: str
    accept_edits: str


def constructs() -> list[Construct]:
    """Return all lines."""
    return [json.loads(line) for line in _FILE.read_text("utf-8").splitlines()]


def ran(analysis: CommandAnalysis) -> list[str]:
    """Return the words of each simple command."""
    return [
        " ".join("?" if word is None else shlex.quote(word) for word in part.argv)
        for part in analysis.parts
    ]


def done(analysis: CommandAnalysis) -> list[str]:
    """Return the effects whose path is known."""
    effects = [effect for part in analysis.parts for effect in part.effects]
    return sorted(
        {
            f"{each.kind} {'below ' * each.recursive}{'any of ' * each.glob}{each.path}"
            for each in effects
            if each.path is not None
        }
    )


def outcome(decision: PermissionDecision) -> str:
    """Return what is decided, with a `!` where no rule can change it."""
    return decision.behavior + "!" * decision.bypass_immune


def workspace(directory: Path) -> tuple[Path, Path]:
    """Make a workspace and a home with a few files in a directory, and return both."""
    work, home = directory / "work", directory / "home"
    for path in (work / "d" / "e", work / ".git", home / ".ssh", directory / "elsewhere"):
        path.mkdir(parents=True)
    for path in (work / "a", work / "b.py", work / "list", work / ".env", home / ".ssh" / "id_rsa"):
        path.write_text("x")
    (work / "out").symlink_to(directory / "elsewhere")
    (work / "link").symlink_to(".env")
    return work, home
