"""A journal is written before what it tells of happens, and can be read after a kill."""

from __future__ import annotations

import asyncio
import json
import signal
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from agentscope_like.journal import CallOutcome, Journal, JournalError, RecordedRun
from agentscope_like.observability import SecretMasker


def _mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_entries_are_lines_that_only_the_owner_can_read(tmp_path: Path) -> None:
    """Each has a number, a time and what happened; nobody else can read a file of it."""
    with Journal(tmp_path / "run", clock=lambda: "2026-01-01T00:00:00.000+00:00") as journal:
        assert journal.write("run_started", run_id="r1") == 1
        assert journal.write("call_ended", call=1, result={"text": "x" * 50_000}) == 2
    events = tmp_path / "run" / "events.jsonl"
    first = json.loads(events.read_text().splitlines()[0])
    assert first == {
        "n": 1,
        "at": "2026-01-01T00:00:00.000+00:00",
        "type": "run_started",
        "data": {"run_id": "r1"},
    }
    assert _mode(events) == 0o600
    assert _mode(tmp_path / "run" / "tool-results" / "000002.json") == 0o600
    assert _mode(tmp_path / "run" / "tool-results") == _mode(tmp_path / "run") == 0o700


def test_a_large_value_is_kept_in_a_file_and_read_with_its_entry(tmp_path: Path) -> None:
    """The line is short; the entry that is read is whole. A small value stays in its line."""
    large, small = {"text": "x" * 50_000}, {"text": "y"}
    with Journal(tmp_path) as journal:
        for number, arguments in enumerate((large, small)):
            journal.write("call_requested", call_id=f"c{number}", tool="T", arguments=arguments)
    lines = (tmp_path / "events.jsonl").read_text().splitlines()
    assert json.loads(lines[0])["data"]["arguments"]["file"] == "tool-args/000001.json"
    assert len(lines[0]) < 1000
    assert json.loads(lines[1])["data"]["arguments"] == small
    assert [call.arguments for call in RecordedRun.read(tmp_path).calls] == [large, small]


def test_secrets_are_masked(tmp_path: Path) -> None:
    """In lines, and in the files beside them."""
    secret = "hunter2hunter2"
    with Journal(tmp_path, masker=SecretMasker([secret])) as journal:
        journal.write("call_started", call=1, arguments={"text": f"use {secret} here"})
        journal.write("call_ended", call=1, result={"text": secret * 5000})
    written = "".join(path.read_text() for path in tmp_path.rglob("*") if path.is_file())
    assert secret not in written
    assert "use [masked] here" in written


def test_ids_are_unique_though_providers_repeat_theirs(tmp_path: Path) -> None:
    """Three calls of one id are three calls, each with its own end."""
    with Journal(tmp_path) as journal:
        for number in range(3):
            call = journal.write(
                "call_requested", call_id="call_0", tool="Write", arguments={"text": str(number)}
            )
            journal.write("call_started", call=call, arguments={"text": str(number)})
            if number != 1:
                journal.write("call_ended", call=call, result={"state": "success", "text": "ok"})
    calls = RecordedRun.read(tmp_path).calls
    assert len({call.n for call in calls}) == 3
    assert [call.arguments["text"] for call in calls] == ["0", "1", "2"]
    assert [call.outcome for call in calls] == [
        CallOutcome.DONE,
        CallOutcome.UNKNOWN,
        CallOutcome.DONE,
    ]


def test_what_became_of_each_call_is_known(tmp_path: Path) -> None:
    """One that ended is done; one that was refused or never began is not; the rest is unknown."""
    with Journal(tmp_path) as journal:

        def request(call_id: str, tool: str = "Write") -> int:
            return journal.write("call_requested", call_id=call_id, tool=tool, arguments={})

        done, refused, waiting, killed = map(request, ("done", "refused", "waiting", "killed"))
        for call in (done, killed):
            journal.write("call_started", call=call, arguments={})
        journal.write("call_ended", call=done, result={"state": "error", "text": "no"})
        journal.write("call_refused", call=refused, result={"state": "denied", "text": "no"})
        journal.write(
            "call_refused", call_id="odd", tool="odd", arguments="{", result={"state": "error"}
        )
        del waiting
    run = RecordedRun.read(tmp_path)
    assert {call.call_id: call.outcome.value for call in run.calls} == {
        "done": "done",
        "refused": "not_done",
        "waiting": "not_done",
        "killed": "unknown",
        "odd": "not_done",
    }
    assert not run.calls[0].succeeded
    assert run.state is None


def test_a_commit_is_done_not_done_or_unknown(tmp_path: Path) -> None:
    """One that ended with an error committed nothing."""
    with Journal(tmp_path) as journal:
        for call_id, state in (("done", "success"), ("failed", "error"), ("killed", None)):
            call = journal.write(
                "call_requested", call_id=call_id, tool="workspace.commit", arguments={}
            )
            journal.write("call_started", call=call, arguments={})
            if state is not None:
                journal.write("call_ended", call=call, result={"state": state, "text": ""})
        journal.write("call_requested", call_id="other", tool="Write", arguments={})
    commits = RecordedRun.read(tmp_path).commits
    assert {call.call_id: call.outcome.value for call in commits} == {
        "done": "done",
        "failed": "not_done",
        "killed": "unknown",
    }


def test_a_journal_is_continued(tmp_path: Path) -> None:
    """Numbers go on; half a line, which a killed process left, is removed."""
    with Journal(tmp_path) as journal:
        journal.write("run_started", run_id="r1")
    with (tmp_path / "events.jsonl").open("a") as file:
        file.write('{"n": 2, "at": "20')
    assert len(RecordedRun.read(tmp_path).entries) == 1
    with Journal(tmp_path) as journal:
        assert journal.write("run_ended", state="completed") == 2
    run = RecordedRun.read(tmp_path)
    assert [entry.n for entry in run.entries] == [1, 2]
    assert run.state == "completed"


def test_a_damaged_journal_is_refused(tmp_path: Path) -> None:
    """A line in its middle that is none, and one that was removed, are named."""
    with Journal(tmp_path) as journal:
        for _ in range(3):
            journal.write("run_started")
    events = tmp_path / "events.jsonl"
    lines = events.read_text().splitlines(keepends=True)
    for damaged in ([lines[0], "{}\n", lines[2]], [lines[0], lines[2]]):
        events.write_text("".join(damaged))
        with pytest.raises(JournalError, match="line 2"):
            RecordedRun.read(tmp_path)
        with pytest.raises(JournalError, match="line 2"):
            Journal(tmp_path)
    with pytest.raises(JournalError, match="cannot be read"):
        RecordedRun.read(tmp_path / "nothing")


def test_one_journal_has_one_writer(tmp_path: Path) -> None:
    """Another one is refused until the first is closed, after which that one writes no more."""
    journal = Journal(tmp_path)
    with pytest.raises(JournalError, match="is being written"):
        Journal(tmp_path)
    journal.close()
    with pytest.raises(JournalError, match="is closed"):
        journal.write("run_started")
    Journal(tmp_path).close()


def test_a_link_is_not_written_through(tmp_path: Path) -> None:
    """A journal whose file is a symlink is not opened, and the target stays as it is."""
    target = tmp_path / "target"
    target.write_text("")
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "events.jsonl").symlink_to(target)
    with pytest.raises(JournalError, match="cannot be opened"):
        Journal(tmp_path / "run")


async def test_many_may_write_at_once(tmp_path: Path) -> None:
    """Each entry is whole, and the numbers have no gap."""
    with Journal(tmp_path) as journal:
        await asyncio.gather(*(journal.record("noted", text="z" * n) for n in range(100)))
        threads = [threading.Thread(target=journal.write, args=("noted",)) for _ in range(20)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert [entry.n for entry in RecordedRun.read(tmp_path).entries] == list(range(1, 121))


_KILLED = """
import os, sys, time
from agentscope_like.journal import Journal

journal = Journal(sys.argv[1])
for number in range(1_000_000):
    call = journal.write("call_requested", call_id="call_0", tool="Write", arguments={})
    journal.write("call_started", call=call, arguments={})
    with open(sys.argv[2], "a") as file:
        file.write(f"{call}\\n")
    journal.write("call_ended", call=call, result={"state": "success", "text": "x" * 200})
    if number == 50:
        print("ready", flush=True)
"""


def test_a_journal_of_a_killed_process_is_true(tmp_path: Path) -> None:
    """Whatever had an effect was begun in it, and whatever it calls done had its effect."""
    run, effects = tmp_path / "run", tmp_path / "effects"
    arguments = [sys.executable, "-c", _KILLED, str(run), str(effects)]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        process.send_signal(signal.SIGKILL)
    calls = RecordedRun.read(run).calls
    had_effect = {int(line) for line in effects.read_text().split("\n")[:-1]}
    done = {call.n for call in calls if call.outcome is CallOutcome.DONE}
    begun = {call.n for call in calls if call.outcome is not CallOutcome.NOT_DONE}
    assert len(done) >= 50
    assert done <= had_effect <= begun
    assert len(begun - done) <= 1
    with Journal(run) as journal:
        assert journal.write("run_started") == len(RecordedRun.read(run).entries)
