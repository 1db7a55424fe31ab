"""Write and Edit keep what files were, and Restore brings it back."""

from __future__ import annotations

import stat
from pathlib import Path
from typing import Any

import pytest

from agentscope_like.checkpoint import CheckpointStore
from agentscope_like.exception import ConfigurationError
from agentscope_like.message import ToolResultState
from agentscope_like.permission import PermissionBehavior, PermissionMode
from agentscope_like.tool import Bash, Edit, Restore, Write
from tests.checkpoint.undo_kit import Undo, text_of

ALLOW, ASK, DENY = PermissionBehavior.ALLOW, PermissionBehavior.ASK, PermissionBehavior.DENY


async def _number(undo: Undo, name: str, content: str) -> int:
    """Write a file, and return the checkpoint's number."""
    response = await undo("Write", file_path=name, content=content)
    return int(response.metadata["checkpoint"])


async def test_each_change_is_kept_and_told(undo: Undo) -> None:
    """Write and Edit name the checkpoint that holds the file as it was; a failure makes none."""
    first = await undo("Write", file_path="a.txt", content="one\n")
    edit = await undo("Edit", file_path="a.txt", old_string="one", new_string="two")
    assert text_of(first).endswith("Checkpoint 1.")
    assert edit.metadata["checkpoint"] == 2
    await undo("Edit", file_path="a.txt", old_string="nowhere", new_string="x")
    assert [each.state for each in undo.store.page()] == ["done", "done"]
    (restored,) = undo.store.restoration(1)
    assert restored.wanted is not None
    assert restored.wanted.data == b"one\n"


async def test_one_file_or_all_are_restored(undo: Undo) -> None:
    """After any checkpoint, and before the first; files that were made since are removed."""
    first = await _number(undo, "a.txt", "one")
    await _number(undo, "b.txt", "b")
    await _number(undo, "a.txt", "two")
    await undo("Restore", checkpoint=first, file_path="a.txt")
    assert (undo.read("a.txt"), undo.read("b.txt")) == ("one", "b")
    await undo("Restore", checkpoint=first)
    assert (undo.read("a.txt"), undo.read("b.txt")) == ("one", None)
    await undo("Restore", checkpoint=first, when="before")
    assert (undo.read("a.txt"), undo.read("b.txt")) == (None, None)


async def test_a_restoration_is_a_checkpoint(undo: Undo) -> None:
    """It can be undone as any change."""
    first = await _number(undo, "a.txt", "one")
    await _number(undo, "a.txt", "two")
    response = await undo("Restore", checkpoint=first)
    assert undo.read("a.txt") == "one"
    await undo("Restore", checkpoint=response.metadata["checkpoint"], when="before")
    assert undo.read("a.txt") == "two"


async def test_the_difference_is_shown_first(undo: Undo) -> None:
    """The preview is the difference that the restoration then makes, and changes nothing."""
    first = await _number(undo, "a.txt", "one\n")
    await _number(undo, "a.txt", "two\n")
    restore = await undo.toolkit.get_tool("Restore")
    assert isinstance(restore, Restore)
    shown = await restore.preview({"checkpoint": first}, undo.state)
    assert "-two\n+one\n" in shown
    assert undo.read("a.txt") == "two\n"
    response = await undo("Restore", checkpoint=first)
    assert response.metadata["diff"] == shown


async def test_what_others_changed_has_to_be_seen(undo: Undo) -> None:
    """A file that others changed since is restored only after it was read as it is now."""
    first = await _number(undo, "a.txt", "one")
    await _number(undo, "a.txt", "two")
    (undo.project / "a.txt").write_text("by another")
    refused = await undo("Restore", checkpoint=first)
    assert refused.state is ToolResultState.ERROR
    assert "read it before" in text_of(refused)
    assert undo.read("a.txt") == "by another"
    await undo("Read", file_path="a.txt")
    await undo("Restore", checkpoint=first)
    assert undo.read("a.txt") == "one"


async def test_one_refused_file_keeps_all_as_they_are(undo: Undo) -> None:
    """Nothing is restored where one of the files may not be."""
    first = await _number(undo, "a.txt", "one")
    await _number(undo, "a.txt", "two")
    await _number(undo, "b.txt", "b")
    (undo.project / "b.txt").write_text("by another")
    await undo("Restore", checkpoint=first)
    assert (undo.read("a.txt"), undo.read("b.txt")) == ("two", "by another")
    assert len(undo.store.page()) == 3


async def test_a_restoration_is_decided_as_a_write(tmp_path: Path, store: CheckpointStore) -> None:
    """Rules, working directories and sensitive paths count, of every file that it writes."""
    undo = Undo(tmp_path / "project", store, mode=PermissionMode.BYPASS)
    first = await _number(undo, "a.txt", "one")
    await _number(undo, "a.txt", "two")
    await _number(undo, "src/b.txt", "b")
    asks = undo.state.session_id

    async def decided(*rules: str, mode: PermissionMode = PermissionMode.ACCEPT_EDITS) -> object:
        other = Undo(undo.project, store, rules=rules, mode=mode, session_id=asks)
        return (await other.decided("Restore", checkpoint=first)).behavior

    assert await decided() is ALLOW
    assert await decided(mode=PermissionMode.DEFAULT) is ASK
    assert await decided(mode=PermissionMode.EXPLORE) is DENY
    assert await decided("deny Write(src/**)") is DENY
    assert await decided("ask Edit(src/**)") is ASK
    assert await decided("deny Restore(src/**)") is DENY
    assert await decided("allow Restore(src/**)", mode=PermissionMode.DEFAULT) is ASK
    assert await decided("allow Restore(**)", mode=PermissionMode.DEFAULT) is ALLOW


async def test_sensitive_files_ask(tmp_path: Path, store: CheckpointStore) -> None:
    """No rule allows that a file is restored that steers programs."""
    undo = Undo(tmp_path / "project", store, mode=PermissionMode.BYPASS)
    first = await _number(undo, "a.txt", "one")
    (undo.project / ".git").mkdir()
    await undo("Write", file_path=".git/config", content="x")
    assert any(path.endswith(".git/config") for each in store.page() for path in each.paths)
    other = Undo(undo.project, store, rules=["allow Restore"], session_id=undo.state.session_id)
    assert (await other.decided("Restore", checkpoint=first)).behavior is ASK


async def test_another_sessions_changes_are_its_own(tmp_path: Path, store: CheckpointStore) -> None:
    """A session neither restores nor lists what another one did."""
    first, second = (Undo(tmp_path / "project", store) for _ in range(2))
    number = await _number(first, "a.txt", "one")
    await _number(first, "a.txt", "two")
    refused = await second("Restore", checkpoint=number)
    assert "no checkpoint" in text_of(refused)
    assert text_of(await second("Checkpoints")) == "There are no checkpoints."
    listed = await first("Checkpoints", limit=1)
    assert listed.metadata["checkpoints"] == [number + 1]
    older = await first("Checkpoints", before=number + 1)
    assert older.metadata["checkpoints"] == [number]


async def test_another_sessions_later_change_counts_as_others(
    tmp_path: Path, store: CheckpointStore
) -> None:
    """What another session wrote since is not undone unseen."""
    first, second = (Undo(tmp_path / "project", store) for _ in range(2))
    number = await _number(first, "a.txt", "one")
    await _number(first, "a.txt", "two")
    await second("Read", file_path="a.txt")
    await _number(second, "a.txt", "theirs")
    refused = await first("Restore", checkpoint=number)
    assert refused.state is ToolResultState.ERROR
    assert first.read("a.txt") == "theirs"


async def test_a_swapped_link_is_refused(undo: Undo, tmp_path: Path) -> None:
    """A restoration writes where the change was, and nowhere else."""
    (undo.project / "dir").mkdir()
    first = await _number(undo, "dir/a.txt", "one")
    await _number(undo, "dir/a.txt", "two")
    (undo.project / "dir").rename(tmp_path / "elsewhere")
    (undo.project / "dir").symlink_to(tmp_path / "elsewhere")
    decision = await undo.decided("Restore", checkpoint=first)
    assert decision.behavior is DENY
    await undo("Restore", checkpoint=first)
    assert (tmp_path / "elsewhere" / "a.txt").read_text() == "two"


async def test_nothing_to_restore_is_told(undo: Undo) -> None:
    """A number that there is not, and files as they were, are failures that say so."""
    first = await _number(undo, "a.txt", "one")
    assert "no checkpoint" in text_of(await undo("Restore", checkpoint=99))
    assert "not changed" in text_of(await undo("Restore", checkpoint=first))


async def test_a_removed_file_comes_back_with_its_mode(undo: Undo) -> None:
    """A program that was removed can be run again."""
    script = undo.project / "run.sh"
    script.write_text("echo")
    script.chmod(0o755)
    response = await undo("Bash", command="rm run.sh")
    assert not script.exists()
    await undo("Restore", checkpoint=response.metadata["checkpoint"], when="before")
    assert stat.S_IMODE(script.stat().st_mode) == 0o755


@pytest.mark.parametrize("kind", [Write, Edit, Bash])
def test_checkpoints_are_of_this_host(store: CheckpointStore, kind: type[Any]) -> None:
    """Files of a sandbox are not kept, and it is said when the tool is made."""
    with pytest.raises(ConfigurationError, match="files of this host"):
        kind(backend=object(), checkpoints=store)
