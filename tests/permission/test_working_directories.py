"""Which of many working directories a path lies in."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from agentscope_like.permission import (
    AdditionalWorkingDirectory,
    PermissionBehavior,
    PermissionContext,
    PermissionDecision,
    PermissionEngine,
    PermissionMode,
)
from agentscope_like.tool import Bash, ToolBase, Write

ALLOW, ASK = PermissionBehavior.ALLOW, PermissionBehavior.ASK


def _context(*paths: str) -> PermissionContext:
    context = PermissionContext(mode=PermissionMode.ACCEPT_EDITS)
    for path in paths:
        context.working_directories[path] = AdditionalWorkingDirectory(path=path)
    return context


async def _decisions(
    context: PermissionContext, cwd: Path, path: Path, *, looked: list[str] | None = None
) -> list[PermissionDecision]:
    """Return what is decided about writing the path, by a command and by the file tool.

    With `looked`, it is decided twice; what is looked at the first time is then forgotten.
    """
    calls: list[tuple[ToolBase, dict[str, Any]]] = [
        (Bash(cwd=cwd, confine="off"), {"command": f"touch {path}"}),
        (Write(cwd=cwd), {"file_path": str(path), "content": "x"}),
    ]
    engine = PermissionEngine(context)
    if looked is not None:
        for tool, arguments in calls:
            await engine.check_permission(tool, arguments)
        looked.clear()
    return [await engine.check_permission(tool, arguments) for tool, arguments in calls]


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A directory with `start`, `real/x`, a link to it, and `other`."""
    for name in ("start", "real/x", "other"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "link").symlink_to("real")
    (tmp_path / "other" / "out").symlink_to(tmp_path / "start")
    return tmp_path.resolve()


@pytest.mark.parametrize("others", [0, 40])
@pytest.mark.parametrize(
    ("directory", "path", "behavior"),
    [
        ("real", "real/x/new", ALLOW),
        ("real", "real", ALLOW),
        ("../real", "real/x/new", ALLOW),
        ("real/../real/./x", "real/x/new", ALLOW),
        ("link", "link/x/new", ALLOW),
        ("link", "real/x/new", ALLOW),
        ("real", "link/x/new", ALLOW),
        ("real", "realm/new", ASK),
        ("real/x", "real/new", ASK),
        ("other", "other/out/new", ASK),
        ("other", "other/new", ALLOW),
        ("~/work", "other/new", ASK),
    ],
)
async def test_a_directory_counts_wherever_it_stands_among_others(
    place: Path, directory: str, path: str, behavior: PermissionBehavior, others: int
) -> None:
    """As one of many it decides what it decides alone; a link counts for where it leads."""
    far = [str(place / "far" / str(number)) for number in range(others)]
    start = place / "start"
    given = directory if directory[0] in ".~" else str(place / directory)
    for paths in ((given, *far), (*far, given)):
        context = _context(*paths)
        for decision in await _decisions(context, start, place / path):
            assert decision.behavior is behavior


async def test_a_home_is_found_among_many(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A directory that begins with a tilde is where the home is by now."""
    far = [str(place / "far" / str(number)) for number in range(40)]
    for home, behavior in (("real", ALLOW), ("other", ASK), ("real", ALLOW)):
        monkeypatch.setenv("HOME", str(place / home))
        for decision in await _decisions(
            _context(*far, "~/x"), place / "start", place / "real/x/y"
        ):
            assert decision.behavior is behavior


@pytest.mark.parametrize("others", [0, 40])
async def test_an_unusable_directory_asks_whatever_the_path(place: Path, others: int) -> None:
    """A directory that nobody can judge is no reason to trust the rest."""
    far = [str(place / "far" / str(number)) for number in range(others)]
    context = _context(str(place / "real"), *far, "/bad\u202e")
    for decision in await _decisions(context, place / "start", place / "real/x/y"):
        assert decision.behavior is ASK


async def test_the_others_are_not_looked_at(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Once a policy is in use, a path inside one of many directories costs no look at each."""
    looked: list[str] = []
    lstat = os.lstat

    def counting(path: Any, **options: Any) -> os.stat_result:
        looked.append(str(path))
        return lstat(path, **options)

    monkeypatch.setattr(os, "lstat", counting)
    counts = []
    for others in (20, 400):
        far = [str(place / "far" / str(number)) for number in range(others)]
        decisions = await _decisions(
            _context(*far, str(place / "real")), place / "start", place / "real/x/y", looked=looked
        )
        assert [decision.behavior for decision in decisions] == [ALLOW, ALLOW]
        counts.append(len(looked))
    assert counts[0] == counts[1]
