"""Counts the questions that everyday commands come to in the lifelike project.

    python -m tests.sandbox.held.questions            # runs all of them, and reports
    python -m tests.sandbox.held.questions --write    # and records when each of them asks

Root counts them as a user without rights, too, who has the same programs (`share_programs`); what
is recorded is of root then, and what is different for the other user is reported.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Iterator, Sequence
from enum import StrEnum
from unittest.mock import patch

import msgspec
from msgspec import Struct

from agentscope_like.checkpoint import CheckpointStore
from agentscope_like.message import ToolCallState
from agentscope_like.tool import Toolkit
from tests.sandbox.held.lifelike import (
    LISTS,
    MISSING,
    EverydayCommand,
    Lifelike,
    everyday_commands,
)
from tests.sandbox.held.other_user import told_by_other_user
from tests.sandbox.held.shared_programs import share_programs
from tests.tool.builtin.held.held_kit import Scene

__all__ = [
    "MODES",
    "Counted",
    "When",
    "counted_as_other_user",
    "counted_here",
    "recorded_questions",
    "share",
]

MODES = ("accept_edits", "default")

_RECORD = LISTS / "questions.jsonl"


class When(StrEnum):
    """When a command comes to a question.

    Attributes:
        NEVER: It runs, and what it changed is applied or there is nothing.
        BEFORE: Before it runs.
        AFTERWARDS: When it has run held, about what it changed.
        MISSING: It is not counted: a program of it is not installed.
    """

    NEVER = "never"
    BEFORE = "before"
    AFTERWARDS = "afterwards"
    MISSING = "missing"


class Counted(Struct, frozen=True):
    """A command, the mode, when a person is asked, and about what."""

    command: str
    mode: str
    when: When
    because: tuple[str, ...] = ()


def counted_here(
    rows: Sequence[EverydayCommand], modes: Sequence[str] = MODES, place: str | None = None
) -> list[Counted]:
    """Run commands in a toolkit as this user, each in a fresh project, and see what asks.

    Args:
        rows: The commands.
        modes: The modes to run them in.
        place: The directory to make the project in.
    """
    with Lifelike(place) as project, patch.dict(os.environ, project.variables, clear=True):
        store = CheckpointStore(project.top / "checkpoints" / "c.db")
        try:
            return [
                asyncio.run(_counted(project, store, row, mode)) for mode in modes for row in rows
            ]
        finally:
            store.close()


def counted_as_other_user(
    rows: Sequence[EverydayCommand], modes: Sequence[str] = MODES
) -> list[Counted]:
    """Do the same as a user who has no rights; this user has to be root."""

    def counted(place: str) -> bytes:
        return msgspec.json.encode(counted_here(rows, modes, place))

    return msgspec.json.decode(told_by_other_user(counted), type=list[Counted])


def share(rows: Sequence[Counted], mode: str, *when: When) -> float:
    """Return which part of the installed commands asks in a mode at one of some times."""
    ran = [row for row in rows if row.mode == mode and row.when is not When.MISSING]
    return sum(row.when in when for row in ran) / len(ran)


def recorded_questions() -> list[Counted]:
    """Return when each everyday command asks, as it was recorded."""
    rows = [json.loads(line) for line in _RECORD.read_text("utf-8").splitlines()]
    return [Counted(row["command"], mode, When(row[mode])) for mode in MODES for row in rows]


def _write(rows: Sequence[Counted]) -> None:
    found: dict[str, dict[str, str]] = {}
    for row in rows:
        found.setdefault(row.command, {})[row.mode] = row.when.value
    lines = [json.dumps({"command": command, **modes}) for command, modes in found.items()]
    _RECORD.write_text("\n".join([*lines, ""]), "utf-8")


async def _counted(
    project: Lifelike, store: CheckpointStore, row: EverydayCommand, mode: str
) -> Counted:
    """Run one command in a session of its own."""
    if not project.is_there(row.needs):
        return Counted(row.command, mode, When.MISSING)
    project.renew()
    scene = Scene(project.top, mode)
    scene.toolkit = Toolkit([scene.new_bash(checkpoints=store)])
    call = scene.call(row.command)
    _, response = await scene.run(call)
    because: tuple[str, ...] = ()
    if response is not None:
        when, status = When.NEVER, response.metadata.get("exit_code")
    elif call.apply is not None:
        when, because = When.AFTERWARDS, (call.apply.title, *call.apply.lines)
        status = call.apply.exit_status
        await scene.answer(call, yes=False)
    else:
        if call.state is not ToolCallState.ASKING or call.decision is None:
            raise RuntimeError(f"{row.command!r} neither ran nor asked")
        when, because, status = When.BEFORE, (call.decision.message,), None
    if status in (None, MISSING) and project.plainly(row.command).status == MISSING:
        when = When.MISSING
    return Counted(row.command, mode, when, because)


def _report(rows: Sequence[Counted]) -> Iterator[str]:
    """Yield the lines that say what asks."""
    for mode in MODES:
        ran = [row for row in rows if row.mode == mode and row.when is not When.MISSING]
        yield f"  {mode}: {len(ran)} commands whose programs are installed"
        for when in (When.NEVER, When.BEFORE, When.AFTERWARDS):
            these = [row for row in ran if row.when is when]
            yield f"    {when}: {len(these)}, {share(rows, mode, when):.1%}"
            if when is not When.NEVER:
                for row in these:
                    yield f"      {row.command!r}"
                    if mode == "accept_edits" or when is When.BEFORE:
                        yield from (f"          {line}" for line in row.because[:6])


def main() -> None:
    """Run all everyday commands in all modes, and print what asks."""
    rows = everyday_commands()
    if os.geteuid() == 0:
        share_programs()
    found = counted_here(rows)
    lines = ["As this user:", *_report(found)]
    if "--write" in sys.argv[1:]:
        _write(found)
    if os.geteuid() == 0:
        others = counted_as_other_user(rows)
        lines += ["As a user without rights:", *_report(others), "Different from this user:"]
        pairs = zip(found, others, strict=True)
        lines += [
            f"    {one.mode}, {one.command!r}: {one.when}, {other.when} {other.because[:3]}"
            for one, other in pairs
            if one.when is not other.when
        ]
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
