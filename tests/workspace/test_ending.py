"""Committing a file, finishing a run and keeping `persist/` (rows TT-125 to TT-135)."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from agentscope_like.workspace import CommitError, PersistError
from tests.workspace.desk import Desk, Sink


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    """Return an empty workspace of a run in the foreground."""
    return Desk(tmp_path / "work", foreground=True)


async def test_tt_125_a_visible_text_file_is_committed(desk: Desk) -> None:
    """`output/main.md` by default; missing, empty, binary and hidden files are recoverable."""
    assert (await desk("commit")).code == "workspace.file_not_found"
    desk.put("output/main.md", " \n")
    assert (await desk("commit")).code == "workspace.commit_empty"
    desk.put("output/main.md", "done")
    desk.put("output/other.md", "other")
    desk.put("output/b.bin", b"\0")
    desk.put("input/prompt.txt", "secret")
    assert (await desk("commit", path="output/b.bin")).code == "workspace.not_text"
    assert (await desk("commit", path="input/prompt.txt")).code == "workspace.not_visible"
    assert desk.sink.messages == {}
    await desk("commit")
    assert desk.sink.messages == {"run-1": "done"}
    await desk("commit", path="output/other.md")
    assert desk.sink.messages == {"run-1": "other"}


async def test_tt_126_mode_and_reason(desk: Desk) -> None:
    """`replace` is the default, a `reason` may be given, and another mode is refused."""
    desk.put("output/main.md", "done")
    for arguments in ({}, {"reason": "first draft"}, {"mode": "replace"}):
        assert not (await desk("commit", **arguments)).is_error
    assert (await desk("commit", mode="insert")).is_error
    assert desk.sink.messages == {"run-1": "done"}
    assert desk.control.committed == 3


async def test_tt_126_arguments_that_cannot_be_read_publish_nothing(desk: Desk) -> None:
    """A garbled call is an error, and not a call with the defaults."""
    desk.put("output/main.md", "done")
    assert (await desk("commit", paths="output/main.md")).is_error
    assert desk.sink.messages == {}


async def test_tt_127_replace_replaces_this_runs_message(tmp_path: Path) -> None:
    """Each run has one message, and several commits of a run leave the last."""
    sink = Sink()
    for run in ("run-1", "run-2"):
        desk = Desk(tmp_path / run, run_id=run, sink=sink)
        for text in ("draft", f"final of {run}"):
            desk.put("output/main.md", text)
            await desk("commit")
    assert sink.messages == {"run-1": "final of run-1", "run-2": "final of run-2"}


async def test_tt_128_append_adds_to_the_message(desk: Desk) -> None:
    """The first creates the message, and the next is added as it is."""
    for text in ("one", "two"):
        desk.put("output/main.md", text)
        await desk("commit", mode="append")
    assert desk.sink.messages == {"run-1": "onetwo"}


async def test_tt_129_the_foreground_commits_before_it_finishes(desk: Desk) -> None:
    """A commit that failed does not count."""
    assert (await desk("commit")).is_error
    assert (await desk("finish")).is_error
    assert not desk.control.finished
    desk.put("output/main.md", "done")
    await desk("commit")
    assert not (await desk("finish")).is_error
    assert desk.control.finished


async def test_tt_130_the_background_may_finish_at_once(tmp_path: Path) -> None:
    """A run in the background needs no commit."""
    desk = Desk(tmp_path / "work")
    assert not (await desk("finish")).is_error
    assert desk.control.finished


async def test_tt_131_a_failure_of_the_host_fails_the_run(tmp_path: Path) -> None:
    """The failure is no tool result; the commit does not count, and a rule has to allow it."""
    desk = Desk(tmp_path / "work", sink=Sink(RuntimeError("the disk is full")))
    desk.put("output/main.md", "done")
    with pytest.raises(CommitError, match="the disk is full"):
        await desk("commit")
    assert desk.control.committed == 0
    asked = Desk(tmp_path / "work", rules=())
    assert await asked.decided("commit") == "ask"
    narrow = Desk(tmp_path / "work", rules=("allow workspace.commit(output/**)",))
    assert await narrow.decided("commit") == "allow"
    assert await narrow.decided("commit", path="scratch/a.md") == "ask"


async def test_tt_132_finish_ends_the_run(tmp_path: Path) -> None:
    """The reason is kept; calls after it are recoverable errors that do nothing."""
    desk = Desk(tmp_path / "work")
    desk.put("output/main.md", "done")
    assert (await desk("finish", reason="all done")).metadata["reason"] == "all done"
    assert desk.control.reason == "all done"
    for name in ("commit", "finish"):
        assert (await desk(name)).code == "agent.run_finished"
    assert desk.sink.messages == {}


async def test_tt_133_finish_without_a_commit_is_recoverable(desk: Desk) -> None:
    """The error has a code, and the run goes on."""
    assert (await desk("finish")).code == "agent.foreground_commit_required"
    assert not (await desk("list_files")).is_error


def _run(tmp_path: Path, run_id: str) -> Desk:
    return Desk(tmp_path / run_id, run_id=run_id, persistent=tmp_path / "kept")


async def test_tt_134_persist_is_kept_after_finish(tmp_path: Path) -> None:
    """Files that were added, changed and deleted are so in the next run; others are unchanged."""
    first = _run(tmp_path, "run-1")
    for name in ("kept", "changed", "deleted"):
        await first("write_file", path=f"persist/{name}.md", content=name)
    await first("finish")
    second = _run(tmp_path, "run-2")
    assert (await second("read_file", path="persist/changed.md")).text == "1 | changed"
    await second("write_file", path="persist/changed.md", content="new")
    await second("write_file", path="persist/deep/added.md", content="added")
    (second.root / "persist/deleted.md").unlink()
    answer = await second("finish")
    assert answer.metadata["kept"] == ["changed.md", "deep/added.md", "deleted.md"]
    third = _run(tmp_path, "run-3")
    entries = (await third("list_files", path="persist", depth=4)).metadata["entries"]
    assert entries == [
        "persist/changed.md",
        "persist/deep/",
        "persist/deep/added.md",
        "persist/kept.md",
    ]
    assert (third.root / "persist/changed.md").read_text() == "new"


async def test_tt_134_finish_asks_where_files_would_be_kept(tmp_path: Path) -> None:
    """Without changes there is nothing to ask; with them a rule or a person has to say."""
    desk = Desk(tmp_path / "work", persistent=tmp_path / "kept", rules=())
    assert await desk.decided("finish") == "allow"
    await desk("write_file", path="persist/a.md", content="x")
    assert await desk.decided("finish") == "ask"


async def test_tt_134_runs_at_once_keep_what_both_changed(tmp_path: Path) -> None:
    """Different files are joined; of the same one the first is kept, and the second run fails."""
    both = [_run(tmp_path, "run-1"), _run(tmp_path, "run-2")]
    for number, desk in enumerate(both):
        await desk("write_file", path=f"persist/{number}.md", content="own")
    for desk in both:
        await desk("finish")
    third, fourth = _run(tmp_path, "run-3"), _run(tmp_path, "run-4")
    assert sorted(os.listdir(third.root / "persist")) == ["0.md", "1.md"]
    for desk in (third, fourth):
        await desk("read_file", path="persist/0.md")
        await desk("write_file", path="persist/0.md", content=desk.workspace.run_id)
    await third("finish")
    with pytest.raises(PersistError, match=r"0\.md was changed by another run"):
        await fourth("finish")
    assert not fourth.control.finished
    assert (_run(tmp_path, "run-5").root / "persist/0.md").read_text() == "run-3"


async def test_tt_135_a_run_that_does_not_finish_keeps_nothing(tmp_path: Path) -> None:
    """Neither a failed nor a cancelled run changes what is kept."""
    first = _run(tmp_path, "run-1")
    await first("write_file", path="persist/a.md", content="kept")
    await first("finish")
    second = _run(tmp_path, "run-2")
    await second("read_file", path="persist/a.md")
    await second("write_file", path="persist/a.md", content="lost")
    assert (_run(tmp_path, "run-3").root / "persist/a.md").read_text() == "kept"
    reopened = _run(tmp_path, "run-2")
    assert (reopened.root / "persist/a.md").read_text() == "lost"


async def test_symlinks_are_not_kept(tmp_path: Path) -> None:
    """A link that another program put into `persist/` keeps nothing of where it leads."""
    (tmp_path / "secret").write_text("secret")
    desk = _run(tmp_path, "run-1")
    os.symlink(tmp_path / "secret", desk.root / "persist/link")
    with pytest.raises(PersistError, match="neither a file nor a directory"):
        await desk("finish")
    assert not desk.control.finished
    assert os.listdir(_run(tmp_path, "run-2").root / "persist") == []
