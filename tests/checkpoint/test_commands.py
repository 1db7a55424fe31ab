"""Bash keeps the files that a command says it changes, and says what cannot be undone."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentscope_like.checkpoint import CheckpointStore
from agentscope_like.permission import PermissionBehavior, PermissionMode
from tests.checkpoint.undo_kit import Undo, text_of

CANNOT = "cannot be undone"


def _tree(project: Path) -> dict[str, str]:
    return {
        str(path.relative_to(project)): path.read_text()
        for path in sorted(project.rglob("*"))
        if path.is_file()
    }


@pytest.mark.parametrize(
    "command",
    [
        "echo new > a.txt",
        "echo more >> a.txt",
        "rm a.txt",
        "rm -r dir",
        "mv a.txt b.txt",
        "mv a.txt dir/",
        "cp a.txt new.txt",
        "cp a.txt dir",
        "cp -r dir copy",
        "mv dir moved",
        "sed -i s/one/two/ a.txt",
        "touch made.txt && echo x > dir/c.txt",
        "echo x | tee a.txt",
    ],
)
async def test_what_a_command_says_it_writes_is_undone(undo: Undo, command: str) -> None:
    """After a restoration the project is as before the command."""
    (undo.project / "a.txt").write_text("one\n")
    (undo.project / "dir/deep").mkdir(parents=True)
    (undo.project / "dir/b.txt").write_text("b")
    (undo.project / "dir/deep/c.txt").write_text("c")
    before = _tree(undo.project)
    response = await undo("Bash", command=command)
    assert _tree(undo.project) != before, text_of(response)
    assert response.metadata["undo"] == "all"
    number = response.metadata["checkpoint"]
    restored = await undo("Restore", checkpoint=number, when="before")
    assert _tree(undo.project) == before, text_of(restored)


async def test_a_command_that_changes_nothing_leaves_no_checkpoint(undo: Undo) -> None:
    """Neither a proven read nor an edit without effect is kept."""
    (undo.project / "a.txt").write_text("one\n")
    await undo("Bash", command="cat a.txt")
    response = await undo("Bash", command="sed -i s/nothing/x/ a.txt")
    assert response.metadata["checkpoint"] is None
    assert undo.store.page() == []


@pytest.mark.parametrize(
    ("command", "is_known"),
    [
        ("echo x > a.txt", True),
        ("rm a.txt", True),
        ("make", False),
        ("python3 run.py", False),
        ("echo x > $(cat name)", False),
        ("chmod 600 a.txt", False),
        ("ln -s a.txt b", False),
        ("echo x > a.txt; make", False),
    ],
)
async def test_whoever_is_asked_is_told_what_cannot_be_undone(
    tmp_path: Path, store: CheckpointStore, command: str, is_known: bool
) -> None:
    """The question says so before the run, whichever row asks; a known command's does not."""
    undo = Undo(tmp_path / "project", store, mode=PermissionMode.DEFAULT)
    decision = await undo.decided("Bash", command=command)
    assert decision.behavior is PermissionBehavior.ASK
    assert (CANNOT not in decision.message) is is_known
    ruled = Undo(tmp_path / "project", store, rules=["ask Bash"])
    by_rule = await ruled.decided("Bash", command=command)
    assert by_rule.behavior is PermissionBehavior.ASK
    assert (CANNOT not in by_rule.message) is is_known


async def test_of_other_commands_what_they_say_is_kept(
    tmp_path: Path, store: CheckpointStore
) -> None:
    """The declared writes of a command that does more can be undone, and the result says so."""
    undo = Undo(tmp_path / "project", store, rules=["allow Bash(python3:*)"])
    (undo.project / "a.txt").write_text("one\n")
    (undo.project / "run.py").write_text("open('made', 'w').close()")
    response = await undo("Bash", command="echo two > a.txt; python3 run.py")
    assert response.metadata["undo"] == "some"
    await undo("Restore", checkpoint=response.metadata["checkpoint"], when="before")
    assert _tree(undo.project) == {
        "a.txt": "one\n",
        "made": "",
        "run.py": "open('made', 'w').close()",
    }
    alone = await undo("Bash", command="python3 run.py")
    assert (alone.metadata["undo"], alone.metadata["checkpoint"]) == ("nothing", None)


async def test_without_checkpoints_nothing_is_said(tmp_path: Path) -> None:
    """The questions and results of a Bash without checkpoints are as before."""
    from agentscope_like.tool import Bash

    store = CheckpointStore(tmp_path / "unused.db")
    undo = Undo(
        tmp_path / "project",
        store,
        mode=PermissionMode.DEFAULT,
        tools=[Bash(cwd=tmp_path, confine="off")],
    )
    assert CANNOT not in (await undo.decided("Bash", command="make")).message
