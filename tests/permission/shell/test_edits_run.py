"""What is allowed as an edit, run for real in a small project with links that lead out of it."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from agentscope_like.permission import (
    PermissionBehavior,
    PermissionContext,
    PermissionEngine,
    PermissionMode,
)
from agentscope_like.tool import Bash
from tests.permission.shell.workspace import filled

_FILES = "elsewhere/x elsewhere/d/f work/a work/d/f work/held/d/f work/n/f"

_FIRST = """
echo y > l
mkdir q; touch q/l
ln -s ../elsewhere q
ln -s held q
ln held/d/l l
cp -s held/d/l l
cp -r held q
cp -a out q
cp a d/l
mv out q
mv held/d q
mv held q
mv d q; mv held d
mv n q
rm out; mkdir out
"""

_SECOND = """
touch q/x
echo y > q/x
echo y > q/l
echo y > q/d/l
echo y > l
echo y > d/d/l
sed -i s/x/y/ q/x
tee q/x < a
cp a q/x
cp l* held/d
cp -r d/. held/d
cp -rT q held/d
cp -r q/. held/d
mv a q/x
rm -rf q/d
touch out/x
ls q
"""


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a directory that holds a project with links, and what they lead to."""
    base = filled(tmp_path_factory.mktemp("run") / "base", _FILES)
    (base / "work" / "out").symlink_to("../elsewhere")
    (base / "work" / "held" / "d" / "l").symlink_to("../../../elsewhere/x")
    return base


def changes_elsewhere(command: str, base: Path) -> bool:
    """Run a command in a copy of the project, and return whether what lies outside is another."""
    copy = base.with_name("copy")
    shutil.copytree(base, copy, symlinks=True)
    try:
        subprocess.run(
            ["bash", "-c", command],
            cwd=copy / "work",
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=20,
            check=False,
        )
        return contents(copy) != contents(base)
    finally:
        shutil.rmtree(copy)


def contents(base: Path) -> dict[str, str]:
    """Return all files and directories outside of the project."""
    paths = [path for path in base.rglob("*") if path.relative_to(base).parts[0] != "work"]
    return {
        str(path.relative_to(base)): path.read_text() if path.is_file() else "" for path in paths
    }


@pytest.mark.parametrize("first", _FIRST.strip().splitlines())
async def test_no_edit_that_is_allowed_writes_outside(base: Path, first: str) -> None:
    """Whatever a link, a move or a copy does to paths, what goes through it is asked about."""
    engine = PermissionEngine(PermissionContext(mode=PermissionMode.ACCEPT_EDITS))
    tool = Bash(cwd=base / "work", confine="off")
    for second in _SECOND.strip().splitlines():
        command = f"{first}; {second}"
        decision = await engine.check_permission(tool, {"command": command})
        if decision.behavior is PermissionBehavior.ALLOW:
            assert not changes_elsewhere(command, base), command


@pytest.mark.parametrize(
    "command",
    [
        "mv out q; touch q/y",
        "cp -a out q; echo y > q/x",
        "mv held q; echo y > q/d/l",
        "cp -r held q; echo y > q/d/l",
        "mv d q; mv held d; echo y > d/d/l",
        "mkdir q; touch q/l; mv q r; echo y > r/l; cp -rT r held/d",
        "echo y > l; cp l* held/d",
        "echo y > d/l; cp -r d/. held/d",
        "cp a d/l; echo y > d/l; cp -r d held",
    ],
)
async def test_what_would_write_outside_is_asked_about(base: Path, command: str) -> None:
    """These do change what lies outside, so that the test above can fail."""
    engine = PermissionEngine(PermissionContext(mode=PermissionMode.ACCEPT_EDITS))
    decision = await engine.check_permission(
        Bash(cwd=base / "work", confine="off"), {"command": command}
    )
    assert decision.behavior is PermissionBehavior.ASK
    assert changes_elsewhere(command, base)
