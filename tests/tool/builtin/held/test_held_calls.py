"""Calls of Bash run held: what becomes of what they changed, and that nothing runs twice."""

from __future__ import annotations

import asyncio
import os
import shutil
import time
from contextlib import aclosing
from pathlib import Path

import pytest

from agentscope_like.event import ConfirmResult
from agentscope_like.exception import ConfigurationError, GrantError, ResumeError
from agentscope_like.message import ToolCallBlock, ToolCallState, ToolResultState
from agentscope_like.permission import (
    DecisionRow,
    PermissionBehavior,
    PermissionDecision,
    PermissionEngine,
    PermissionMode,
)
from agentscope_like.state import AgentState
from agentscope_like.tool import Bash, CallRequest, Toolkit
from agentscope_like.tool.base import ToolBase
from tests.tool.builtin.held.held_kit import Scene, text_of, until


@pytest.fixture(autouse=True)
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Give each test a home of its own."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))


def temporary_file(name: str, text: str) -> Path:
    """Make a file among the host's temporary files."""
    path = Path("/var/tmp", name)
    path.write_text(text)
    return path


WRITES = ("echo said", "echo new > made.txt", "echo more >> kept.txt")


def scene(top: Path, mode: str = "default", **rules: list[str]) -> Scene:
    """Return a scene with a committed file."""
    made = Scene(top, mode, **rules)
    (made.project / "kept.txt").write_text("old\n")
    made.git("init", "-q")
    made.git("add", "-A")
    made.git("commit", "-qm", "one")
    return made


async def test_edits_are_applied_unasked_where_edits_run(tmp_path: Path) -> None:
    """In ACCEPT_EDITS an unknown command runs at once, and its changes are applied and told."""
    one = scene(tmp_path, "accept_edits")
    call = one.call(one.script("work.sh", *WRITES))
    text, response = await one.run(call)
    assert response is not None
    assert response.state is ToolResultState.SUCCESS
    assert text.startswith("said\n")
    assert "Applied: 2 files" in text
    assert (one.project / "made.txt").read_text() == "new\n"
    assert response.metadata["confinement"] == "held"
    assert call.state is ToolCallState.FINISHED
    assert one.layers() == []


async def test_default_asks_afterwards_with_what_would_change(tmp_path: Path) -> None:
    """In DEFAULT the command has run when the question comes, and nothing has changed yet."""
    one = scene(tmp_path)
    call = one.call(one.script("work.sh", *WRITES))
    text, response = await one.run(call)
    assert (text, response) == ("said\n", None)
    assert call.state is ToolCallState.ASKING
    assert call.apply is not None
    assert call.suggested_rules == []
    for part in ("2 files", "made.txt (new, +1)", "kept.txt (+1)", "| said", "status 0"):
        assert part in call.apply.text
    assert not (one.project / "made.txt").exists()
    assert (one.project / "kept.txt").read_text() == "old\n"
    assert "+more" in await one.bash.held_difference(call.apply, one.state)


async def test_a_yes_applies_exactly_what_was_shown(tmp_path: Path) -> None:
    """The command does not run again: what it drew at random is what is applied."""
    one = scene(tmp_path)
    command = one.script("work.sh", "od -An -N8 -tx1 /dev/urandom > drawn.txt", "cat drawn.txt")
    call = one.call(command)
    text, _ = await one.run(call)
    response = await one.answer(call, yes=True)
    assert (one.project / "drawn.txt").read_text() == text
    assert text_of(response.content).startswith(text)
    assert "Applied: 1 file" in text_of(response.content)
    assert response.state is ToolResultState.SUCCESS
    assert one.layers() == []


async def test_a_no_leaves_the_files_as_before(tmp_path: Path) -> None:
    """The model gets the output, and is told what the person decided and said."""
    one = scene(tmp_path)
    call = one.call(one.script("work.sh", *WRITES))
    await one.run(call)
    response = await one.answer(call, yes=False, message="not now")
    assert response.state is ToolResultState.DENIED
    told = text_of(response.content)
    assert told.startswith("said\n")
    assert "the files are as before" in told
    assert "not now" in told
    assert not (one.project / "made.txt").exists()
    assert one.layers() == []


async def test_nothing_changed_is_no_question(tmp_path: Path) -> None:
    """A run that changed nothing, or only caches and times, is over in DEFAULT as well."""
    one = scene(tmp_path)
    for lines in (
        ["echo said"],
        ["mkdir -p __pycache__", "echo x > __pycache__/a.pyc"],
        ["touch kept.txt"],
    ):
        text, response = await one.run(one.call(one.script("work.sh", *lines)))
        assert response is not None
        assert response.state is ToolResultState.SUCCESS, text
    assert (one.project / "__pycache__" / "a.pyc").exists()


async def test_what_git_only_looks_up_again_is_no_question(tmp_path: Path) -> None:
    """A look at the state refreshes the index, which asks nothing; a commit asks in DEFAULT."""
    one = scene(tmp_path)
    index = one.project / ".git" / "index"
    before = index.read_bytes()
    os.utime(one.project / "kept.txt", (1, 1))
    looks = one.call(one.script("work.sh", "git status --short"))
    text, response = await one.run(looks)
    assert (text, response is None) == ("?? work.sh\n", False)
    assert index.read_bytes() != before
    writes = one.call(one.script("other.sh", "git update-index --chmod=+x kept.txt"))
    _, response = await one.run(writes)
    assert response is None
    assert writes.apply is not None


@pytest.mark.parametrize("mode", ["default", "accept_edits"])
async def test_what_is_recorded_nowhere_else_asks_before_it_is_gone(
    tmp_path: Path, mode: str
) -> None:
    """Destruction by code is asked about before it is real, its list first; committed files not."""
    one = scene(tmp_path, mode)
    (one.project / "notes.txt").write_text("untracked\n")
    call = one.call(one.script("work.sh", "rm -rf notes.txt .git"))
    await one.run(call)
    assert call.apply is not None
    assert call.apply.lines[0].startswith("! ")
    assert any("notes.txt" in line for line in call.apply.lines)
    assert (one.project / "notes.txt").exists()
    response = await one.answer(call, yes=False)
    assert response.state is ToolResultState.DENIED
    assert (one.project / ".git" / "HEAD").exists()
    tracked = one.call(one.script("other.sh", "rm kept.txt"))
    await one.run(tracked)
    assert (tracked.apply is None) is (mode == "accept_edits")


async def test_nobody_is_asked_where_nobody_answers(tmp_path: Path) -> None:
    """DONT_ASK applies plain changes, and drops what a person would be asked about."""
    one = scene(tmp_path, "dont_ask")
    (one.project / "notes.txt").write_text("untracked\n")
    _, response = await one.run(one.call(one.script("work.sh", "echo a > a.txt")))
    assert response is not None
    assert (one.project / "a.txt").exists()
    text, response = await one.run(one.call(one.script("lose.sh", "rm notes.txt")))
    assert response is not None
    assert response.state is ToolResultState.DENIED
    assert "not applied" in text
    assert (one.project / "notes.txt").exists()
    _, response = await one.run(one.call("./work.sh", escalate=True))
    assert response is not None
    assert response.state is ToolResultState.DENIED


async def test_a_deny_rule_for_a_path_drops_all(tmp_path: Path) -> None:
    """Changes are all applied or none; a rule for another path forbids nothing."""
    lines = ["echo a > a.txt", "mkdir -p gen", "echo b > gen/b.txt"]
    one = scene(tmp_path, "accept_edits", deny=["Write(gen/**)"])
    text, response = await one.run(one.call(one.script("work.sh", *lines)))
    assert response is not None
    assert response.state is ToolResultState.DENIED
    assert "gen" in text
    assert not (one.project / "a.txt").exists()
    one.rules = {"deny": ["Write(other/**)"]}
    one.state = one.new_state()
    _, response = await one.run(one.call("./work.sh"))
    assert (one.project / "a.txt").exists()


@pytest.mark.parametrize(
    ("mode", "behavior"),
    [("explore", PermissionBehavior.DENY), ("bypass", PermissionBehavior.ALLOW)],
)
async def test_explore_and_bypass_hold_nothing(
    tmp_path: Path, mode: str, behavior: PermissionBehavior
) -> None:
    """EXPLORE denies what is not proven to read; BYPASS runs it on the host."""
    one = scene(tmp_path, mode)
    decided = await one.toolkit.decide(one.call(one.script("work.sh", *WRITES)), one.state)
    assert decided.behavior is behavior
    assert decided.grant is None or decided.grant.held_call is None


async def test_for_all_others_such_a_call_asks(tmp_path: Path) -> None:
    """Whoever reads only `behavior` sees a question, with the mark that it could be held."""
    one = scene(tmp_path)
    command = one.script("work.sh", *WRITES)
    engine = PermissionEngine(one.state.permission_context, one.state)
    decision = await engine.check_permission(one.bash, {"command": command})
    assert decision.behavior is PermissionBehavior.ASK
    assert decision.row is DecisionRow.HELD
    assert decision.can_be_held
    assert decision.suggested_rules
    one.state.permission_context.mode = PermissionMode.DONT_ASK
    decision = await engine.check_permission(one.bash, {"command": command})
    assert decision.behavior is PermissionBehavior.DENY
    assert decision.can_be_held
    plain = await engine.check_permission(Bash(cwd=one.project), {"command": command})
    assert not plain.can_be_held


@pytest.mark.parametrize(
    ("command", "why"),
    [
        ("curl http://example.com/x", "network"),
        ("cat .env", ""),
        ("rm -rf ~", ""),
        ("./work.sh; curl http://example.com/x", "network"),
    ],
)
async def test_what_is_dangerous_or_known_to_need_more_asks_before(
    tmp_path: Path, command: str, why: str
) -> None:
    """Safety findings ask as ever; so does a known need of the network, and it says so."""
    one = scene(tmp_path, "accept_edits")
    (one.project / ".env").write_text("KEY=1\n")
    one.script("work.sh", *WRITES)
    call = one.call(command)
    decided = await one.toolkit.decide(call, one.state)
    assert decided.grant is None
    assert call.state is ToolCallState.ASKING
    assert why in decided.message
    assert not (one.project / "made.txt").exists()


async def test_rules_about_commands_come_first(tmp_path: Path) -> None:
    """An ask rule asks before, a deny rule denies, an allow rule means the host."""
    one = scene(tmp_path)
    command = one.script("work.sh", *WRITES)
    for rules, expected in (
        ({"ask": ["Bash(./work.sh)"]}, PermissionBehavior.ASK),
        ({"deny": ["Bash(./work.sh)"]}, PermissionBehavior.DENY),
        ({"allow": ["Bash(./work.sh)"]}, PermissionBehavior.ALLOW),
    ):
        one.rules = rules
        decided = await one.toolkit.decide(one.call(command), one.new_state())
        assert decided.behavior is expected
        assert decided.grant is None or decided.grant.held_call is None


async def test_the_model_asks_for_the_host_in_its_own_words(tmp_path: Path) -> None:
    """With `escalate` a person is asked before, and sees the reason as the model's, escaped."""
    one = scene(tmp_path, "accept_edits")
    reason = "needs the network\x1b[31m"
    call = one.call(one.script("work.sh", *WRITES), escalate=True, escalate_reason=reason)
    decided = await one.toolkit.decide(call, one.state)
    assert call.state is ToolCallState.ASKING
    assert call.apply is None
    assert "in its words: needs the network" in decided.message
    assert "\x1b" not in decided.message
    response = await one.answer(call, yes=True)
    assert response.metadata["confinement"] == "host"
    assert "escalate" not in Bash(cwd=one.project).input_schema["properties"]
    long = one.call("./work.sh", escalate=True, escalate_reason="x" * 301)
    refused = await one.toolkit.decide(long, one.state)
    assert refused.refusal is not None


async def test_a_proven_read_sees_what_held_commands_left_in_their_temporary_files(
    tmp_path: Path,
) -> None:
    """A log in /var/tmp is read back; a name that no held command made is the host's."""
    one = scene(tmp_path, "accept_edits")
    name = f"held-{os.getpid()}-{time.monotonic_ns()}"
    host = temporary_file(f"{name}-host", "of the host\n")
    try:
        await one.run(one.call(one.script("work.sh", f"echo logged > /var/tmp/{name}")))
        text, _ = await one.run(one.call(f"cat /var/tmp/{name}"))
        assert text == "logged\n"
        text, _ = await one.run(one.call(f"cat {host}"))
        assert text == "of the host\n"
        assert name not in os.listdir(host.parent)
    finally:
        os.unlink(host)


async def test_a_credential_that_was_applied_is_kept_from_the_next_read(tmp_path: Path) -> None:
    """A search below the project, once before and once after, does not show it."""
    one = scene(tmp_path, "accept_edits")
    search = "grep -r word ."
    text, _ = await one.run(one.call(search))
    call = one.call(one.script("work.sh", "echo KEY=pass''word > .env", "echo word > plain.txt"))
    await one.run(call)
    await one.answer(call, yes=True)
    text, _ = await one.run(one.call(search))
    assert "plain.txt:word" in text
    assert ".env:KEY" not in text


# Nothing runs twice


async def test_an_answer_cannot_edit_what_has_run(tmp_path: Path) -> None:
    """Edited input is refused, and the question stays as it was."""
    one = scene(tmp_path)
    call = one.call(one.script("work.sh", *WRITES))
    await one.run(call)
    edited = call.model_copy(update={"input": '{"command": "./other.sh"}'})
    with pytest.raises(ResumeError, match="edits call"):
        await one.toolkit.confirm(call, ConfirmResult(confirmed=True, tool_call=edited), one.state)
    assert call.state is ToolCallState.ASKING
    assert (await one.answer(call, yes=True)).state is ToolResultState.SUCCESS


async def test_a_waiting_call_is_not_decided_again(tmp_path: Path) -> None:
    """`decide` and `call_tool` refuse it, in a mode that would run it as well."""
    one = scene(tmp_path)
    call = one.call(one.script("work.sh", *WRITES))
    await one.run(call)
    one.state.permission_context.mode = PermissionMode.BYPASS
    with pytest.raises(ResumeError, match="never runs again"):
        await one.run(call)
    assert not (one.project / "made.txt").exists()


async def test_a_question_survives_a_restart(tmp_path: Path) -> None:
    """A new process with the saved state applies the changes of the old one, once."""
    one = scene(tmp_path)
    call = one.call(one.script("work.sh", *WRITES))
    await one.run(call)
    saved = call.model_dump_json()
    restored = ToolCallBlock.model_validate_json(saved)
    one.toolkit = Toolkit([one.new_bash()])
    await one.run(one.call(one.script("other.sh", "echo")))  # tidies the store
    assert len(one.layers()) == 1
    response = await one.answer(restored, yes=True)
    assert (one.project / "made.txt").exists()
    assert response.state is ToolResultState.SUCCESS
    again = ToolCallBlock.model_validate_json(saved)
    (one.project / "made.txt").unlink()
    response = await one.answer(again, yes=True)
    assert "no longer there" in text_of(response.content)
    assert not (one.project / "made.txt").exists()


async def test_a_lost_or_changed_layer_applies_nothing(tmp_path: Path) -> None:
    """What a person answered about is no longer there: it is said, and nothing is applied."""
    one = scene(tmp_path)
    call = one.call(one.script("work.sh", *WRITES))
    await one.run(call)
    (layer,) = one.layers()
    (layer / "0" / "upper" / "made.txt").write_text("planted\n")
    response = await one.answer(call, yes=True)
    assert response.state is ToolResultState.ERROR
    assert "Not applied" in text_of(response.content)
    assert not (one.project / "made.txt").exists()
    other = one.call("./work.sh")
    await one.run(other)
    shutil.rmtree(one.layers()[0])
    response = await one.answer(other, yes=True)
    assert "no longer there" in text_of(response.content)


async def test_a_file_that_changed_meanwhile_is_kept(tmp_path: Path) -> None:
    """What a person, or another call, wrote since the run began is not overwritten."""
    one = scene(tmp_path)
    call = one.call(one.script("work.sh", *WRITES))
    await one.run(call)
    (one.project / "kept.txt").write_text("of the person\n")
    response = await one.answer(call, yes=True)
    assert response.state is ToolResultState.ERROR
    assert "kept.txt" in text_of(response.content)
    assert (one.project / "kept.txt").read_text() == "of the person\n"
    assert not (one.project / "made.txt").exists()


async def test_the_policy_of_the_moment_counts(tmp_path: Path) -> None:
    """A deny rule that came after the run drops the changes in spite of a yes."""
    one = scene(tmp_path)
    call = one.call(one.script("work.sh", *WRITES))
    await one.run(call)
    one.rules = {"deny": ["Write(made.txt)"]}
    one.state = one.new_state()
    response = await one.answer(call, yes=True)
    assert response.state is ToolResultState.DENIED
    assert not (one.project / "made.txt").exists()
    assert one.layers() == []


async def test_a_grant_to_apply_is_spent_once_and_falls_with_the_policy(tmp_path: Path) -> None:
    """It applies one manifest; a changed policy voids it and drops the changes."""
    one = scene(tmp_path)
    call = one.call(one.script("work.sh", *WRITES))
    await one.run(call)
    yes = ConfirmResult(confirmed=True, tool_call=call.model_copy())
    decided = await one.toolkit.confirm(call, yes, one.state)
    assert decided.grant is not None
    one.state.permission_context.mode = PermissionMode.EXPLORE
    with pytest.raises(GrantError):
        await one.finished(decided)
    assert not (one.project / "made.txt").exists()
    with pytest.raises(GrantError):
        await one.finished(decided)
    assert one.layers() == []


# Ending


async def test_what_was_ended_applies_nothing(tmp_path: Path) -> None:
    """A timeout drops what the command did until then, and says so."""
    one = scene(tmp_path, "accept_edits")
    text, response = await one.run(
        one.call(one.script("work.sh", *WRITES, "sleep 60"), timeout=700)
    )
    assert response is not None
    assert response.state is ToolResultState.ERROR
    assert "timeout" in text
    assert "nothing of it was kept" in text
    assert not (one.project / "made.txt").exists()
    assert one.layers() == []


async def test_a_cancelled_run_applies_nothing(tmp_path: Path) -> None:
    """Cancellation ends the command, drops its layer and is passed on."""
    one = scene(tmp_path, "accept_edits")
    call = one.call(one.script("work.sh", *WRITES, "sleep 60"))
    task = asyncio.create_task(one.run(call))
    await asyncio.to_thread(until, lambda: bool(one.layers()))
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not (one.project / "made.txt").exists()
    assert one.layers() == []


async def test_a_run_that_is_left_before_its_question_is_dropped(tmp_path: Path) -> None:
    """Whoever stops listening at the last output cannot ask; the layer does not wait for it."""
    one = scene(tmp_path)
    call = one.call(one.script("work.sh", *WRITES))
    decided = await one.toolkit.decide(call, one.state)
    assert decided.grant is not None
    async with aclosing(one.toolkit.run(decided.grant, one.state)) as items:
        async for item in items:
            if item.metadata.get("held"):
                break
    assert one.layers() == []
    assert not (one.project / "made.txt").exists()


async def test_a_failing_command_is_applied_like_one_that_succeeds(tmp_path: Path) -> None:
    """A test run that fails writes its reports; its exit status is told as ever."""
    one = scene(tmp_path, "accept_edits")
    text, response = await one.run(one.call(one.script("work.sh", *WRITES, "exit 3")))
    assert response is not None
    assert response.state is ToolResultState.ERROR
    assert "exit status 3" in text
    assert (one.project / "made.txt").exists()


async def test_a_directory_takes_effect_with_the_changes(tmp_path: Path) -> None:
    """`cd` into a new directory counts once the directory is there; not after a no."""
    one = scene(tmp_path)
    command = f"{one.script('work.sh', 'mkdir -p made', 'echo x > made/x')}; cd made"
    for yes in (False, True):
        call = one.call(command)
        await one.run(call)
        assert one.bash.cwd_of(one.state) == str(one.project)
        await one.answer(call, yes=yes)
        wanted = one.project / "made" if yes else one.project
        assert one.bash.cwd_of(one.state) == str(wanted)


# What keeps a command from being held


async def test_a_layer_that_asks_keeps_a_call_from_being_held(tmp_path: Path) -> None:
    """A decision layer can make a call stricter: then a person is asked before."""

    async def strict(request: CallRequest, go_on: object) -> PermissionDecision:
        return PermissionDecision(PermissionBehavior.ASK, "look at it")

    one = scene(tmp_path, "accept_edits")
    one.toolkit = Toolkit([one.bash], decision_layers=[strict])
    call = one.call(one.script("work.sh", *WRITES))
    decided = await one.toolkit.decide(call, one.state)
    assert decided.grant is None
    assert call.state is ToolCallState.ASKING
    assert call.apply is None


async def test_outside_of_a_toolkit_a_command_is_not_held(tmp_path: Path) -> None:
    """A program that calls the tool itself gets what it asked for: the host."""
    one = scene(tmp_path)
    tool: ToolBase = one.bash
    chunks = [chunk async for chunk in tool(command=one.script("work.sh", *WRITES))]
    assert chunks[-1].metadata["confinement"] != "held"
    assert (one.project / "made.txt").exists()


async def test_a_repository_that_lies_elsewhere_is_not_held(tmp_path: Path) -> None:
    """Git would write past the layer: the command asks before, and the question says why."""
    one = scene(tmp_path)
    inner = one.project / "inner"
    inner.mkdir()
    bash = Bash(cwd=inner, contain="on", layers=one.store)
    (inner / "work.sh").write_text("#!/bin/sh\n")
    (inner / "work.sh").chmod(0o755)
    state = AgentState()
    decided = await Toolkit([bash]).decide(one.call("./work.sh"), state)
    assert decided.grant is None
    assert "git directory" in decided.message
    (inner / ".git").mkdir()
    decided = await Toolkit([bash]).decide(one.call("./work.sh"), state)
    assert decided.grant is not None


async def test_a_place_without_layers_asks_as_ever(tmp_path: Path) -> None:
    """Where a layer cannot be had, such as over the home, every command asks, and says why."""
    one = scene(tmp_path)
    (one.home / "work.sh").write_text("#!/bin/sh\n")
    (one.home / "work.sh").chmod(0o755)
    bash = Bash(cwd=one.home, contain="on", layers=one.store)
    decided = await Toolkit([bash]).decide(one.call("./work.sh"), AgentState())
    assert decided.grant is None
    assert "choose the directory of a project" in decided.message


def test_contain_needs_confinement_and_this_host(tmp_path: Path) -> None:
    """What cannot be done together is a configuration error that names both."""
    with pytest.raises(ConfigurationError, match="contain"):
        Bash(cwd=tmp_path, contain="on", confine="off")
    with pytest.raises(ConfigurationError, match='"off" or "on"'):
        Bash(cwd=tmp_path, contain="yes")  # type: ignore[arg-type]
