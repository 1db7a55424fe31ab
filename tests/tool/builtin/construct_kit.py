"""What is read in commands and decided about them, by construct of the shell.

The record is `tests/data/commands/constructs.jsonl`. A line changes only together with what a
commit means to change: `python -m tests.tool.builtin.construct_kit` writes it anew, and the
difference is to be read line by line.
"""

from __future__ import annotations

import asyncio
import json
import os
import shlex
import tempfile
from pathlib import Path
from typing import TypedDict

from agentscope_like.permission import PermissionDecision
from agentscope_like.shell import CommandAnalysis, analyze
from tests.tool.builtin.bash_kit import decide

__all__ = ["Construct", "constructs", "done", "outcome", "places", "ran", "stood", "workspace"]

_FILE = Path(__file__).parents[2] / "data" / "commands" / "constructs.jsonl"


class Construct(TypedDict):
    """One line.

    Attributes:
        command: The command.
        reads_only: Whether it is proven to read only.
        runs: The words of each simple command, quoted for the shell; `?` for one that is unknown.
        stands: The directories that each of them may run in, after the number of its carrier.
        does: The effects with a known path, in `/ws`, below `/home/u`.
        doubts: What of the command is in doubt, in order.
        default: The decision without any rule, with a `!` where no rule can change it.
        accept_edits: The same where edits are accepted.
    """

    command: str
    reads_only: bool
    runs: list[str]
    stands: list[str]
    does: list[str]
    doubts: list[str]
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


def stood(analysis: CommandAnalysis) -> list[str]:
    """Return the directories that each simple command may run in, after its carrier's number."""
    return [
        " ".join([*([] if part.parent is None else [str(part.parent)]), *part.directories])
        for part in analysis.parts
    ]


def places(analysis: CommandAnalysis) -> list[str]:
    """Return the pieces of the command that are in doubt."""
    doubts = [*analysis.doubts, *(doubt for part in analysis.parts for doubt in part.doubts)]
    return [analysis.command[doubt.span.start : doubt.span.end] for doubt in doubts]


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


async def _record() -> None:
    with tempfile.TemporaryDirectory() as name:
        work, home = workspace(Path(name))
        os.environ["HOME"] = str(home)
        rows = [await _recorded(construct["command"], work) for construct in constructs()]
    lines = (json.dumps(row, ensure_ascii=False) for row in rows)
    _FILE.write_text("\n".join(lines) + "\n", "utf-8")


async def _recorded(command: str, work: Path) -> Construct:
    analysis = analyze(command, directory="/ws", home="/home/u")
    return {
        "command": command,
        "reads_only": analysis.read_only,
        "runs": ran(analysis),
        "stands": stood(analysis),
        "does": done(analysis),
        "doubts": places(analysis),
        "default": outcome(await decide(command, work)),
        "accept_edits": outcome(await decide(command, work, mode="accept_edits")),
    }


if __name__ == "__main__":
    asyncio.run(_record())
