"""What is decided about commands where files and rules are in play.

The record is `tests/data/commands/decisions.jsonl`. A line changes only together with what a commit
means to change: `python -m tests.permission.shell.decision_record` writes it anew for the commands
that it holds, and the difference is to be read line by line.
"""

from __future__ import annotations

import asyncio
import json
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TypedDict

from agentscope_like.permission import (
    PermissionBehavior,
    PermissionContext,
    PermissionDecision,
    PermissionEngine,
    PermissionMode,
    PermissionRule,
)
from agentscope_like.tool.builtin.bash.bash_tool import Bash

__all__ = ["SITUATIONS", "Decider", "DecisionRecord", "decision_records", "world"]

_FILE = Path(__file__).parents[2] / "data" / "commands" / "decisions.jsonl"

_RULES = (
    *("deny Write(secrets/**)", "ask Read(.env)", "deny Read(private/**)", "deny Glob(hidden/**)"),
    *("deny Bash(git push:*)", "ask Bash(make *)"),
)
SITUATIONS = {
    "default": ("default", ()),
    "accept_edits": ("accept_edits", ()),
    "bypass with rules": ("bypass", _RULES),
    "allowed but for rules": ("default", (*_RULES, "allow Bash")),
}
"""The mode and the rules of each situation."""


class DecisionRecord(TypedDict):
    """One line.

    Attributes:
        command: The command.
        decided: The decision in each situation, as `Decider.decide` tells it.
    """

    command: str
    decided: list[str]


def decision_records() -> list[DecisionRecord]:
    """Return all lines."""
    return [json.loads(line) for line in _FILE.read_text("utf-8").splitlines()]


def world(directory: Path) -> tuple[Path, Path]:
    """Make a workspace and a home in a directory, and return both."""
    directory = directory.resolve()
    work, home = directory / "work", directory / "home"
    files = (
        *("a", "b.py", "list", ".env", "d/e/f", ".git/config", "secrets/a", "secrets/b/c"),
        *("private/x", "hidden/y", "src/app.py", "docs/x.txt"),
    )
    for path in (*(work / name for name in files), home / ".ssh" / "id_rsa"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x")
    (directory / "elsewhere").mkdir()
    (work / "out").symlink_to(directory / "elsewhere")
    (work / "link").symlink_to(".env")
    (work / "way").symlink_to("secrets")
    return work, home


class Decider:
    """Decides about commands in a workspace that `world` has made."""

    def __init__(self, work: Path) -> None:
        self._around = str(work.parent)
        self._bash = Bash(cwd=work, confine="off")
        self._engines = [
            PermissionEngine(_context(mode, rules)) for mode, rules in SITUATIONS.values()
        ]

    async def decide(self, command: str) -> list[str]:
        """Return the decision in each situation, with what is said and what is suggested."""
        return [
            self._told(await engine.check_permission(self._bash, {"command": command}))
            for engine in self._engines
        ]

    def _told(self, decision: PermissionDecision) -> str:
        message = decision.message
        if any(each in message for each in (self._around, "…", "...")):
            message = "..."  # how much is shown depends on where the workspace lies
        row = "" if decision.row is None else f" {decision.row.value}"
        rules = "".join(f" [{rule.rule_content}]" for rule in decision.suggested_rules or ())
        rules = rules.replace(self._around, "")
        return f"{decision.behavior}{'!' * decision.bypass_immune}{row} {message}{rules}"


def _context(mode: str, rules: Sequence[str]) -> PermissionContext:
    context = PermissionContext(mode=PermissionMode(mode))
    for text in rules:
        behavior, _, rest = text.partition(" ")
        tool, _, content = rest.removesuffix(")").partition("(")
        rule = PermissionRule(
            tool_name=tool, rule_content=content or None, behavior=PermissionBehavior(behavior)
        )
        context.table(rule.behavior).add(rule)
    return context


async def _record() -> None:
    with tempfile.TemporaryDirectory() as name:
        work, home = world(Path(name))
        os.environ["HOME"] = str(home)
        os.chdir(work)
        decider = Decider(work)
        rows = [
            {"command": command, "decided": await decider.decide(command)}
            for command in (record["command"] for record in decision_records())
        ]
    lines = (json.dumps(row, ensure_ascii=False) for row in rows)
    _FILE.write_text("\n".join(lines) + "\n", "utf-8")


if __name__ == "__main__":
    asyncio.run(_record())
