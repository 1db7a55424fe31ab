"""What those who test their own agents are given."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agentscope_like import Agent, Bash, PermissionContext, PermissionRule, ScriptedModel, Toolkit
from agentscope_like.exception import ConfigurationError
from agentscope_like.model import Script
from agentscope_like.testing import (
    ScriptedApprover,
    UnexpectedQuestionError,
    assert_decision,
    assert_recorded,
)
from agentscope_like.tool import HumanApproval


def test_a_decision_is_asserted_with_its_reason(tmp_path: Path) -> None:
    """A decision as expected passes; another one fails, and the failure gives the reason."""
    bash = Bash(cwd=tmp_path)
    assert_decision(bash, "Bash", {"command": "git status"}, "allow", because="only reads")
    policy = PermissionContext.from_rules(deny=["Bash(git push:*)"])
    assert_decision(bash, "Bash", {"command": "git push"}, "deny", policy=policy)
    with pytest.raises(AssertionError, match=r"expected allow, decided ask: .*writes"):
        assert_decision(bash, "Bash", {"command": "touch a"}, "allow")
    with pytest.raises(AssertionError, match="is not in the reason"):
        assert_decision(bash, "Bash", {"command": "ls"}, "allow", because="blue")


async def test_a_decision_is_asserted_in_an_asynchronous_test(tmp_path: Path) -> None:
    """Inside of a running loop the same function works."""
    assert_decision(Bash(cwd=tmp_path), "Bash", {"command": "ls"}, "allow")


def test_a_record_says_what_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A record is written on demand; then a change of policy is told by kind, with examples."""
    record = tmp_path / "decisions.jsonl"
    commands = ["git status", "git push", "touch a"]
    calls = [{"tool": "Bash", "arguments": {"command": command}} for command in commands]
    record.write_text("\n".join(map(json.dumps, calls)))
    bash = Bash(cwd=tmp_path)
    with pytest.raises(AssertionError, match="1 call not recorded -> allow"):
        assert_recorded(bash, record)
    monkeypatch.setenv("AGENTSCOPE_LIKE_RECORD", "1")
    assert_recorded(bash, record)
    monkeypatch.delenv("AGENTSCOPE_LIKE_RECORD")
    assert_recorded(bash, record)
    policy = PermissionContext.from_rules(deny=["Bash(git push:*)"])
    with pytest.raises(AssertionError, match=r"1 call ask -> deny:\n  Bash.*git push"):
        assert_recorded(bash, record, policy=policy)


@pytest.mark.parametrize(
    "line", ["{", "[]", '{"tool": 1}', '{"tool": "a", "arguments": {}, "x": 1}']
)
def test_a_record_that_cannot_be_read_is_refused(tmp_path: Path, line: str) -> None:
    """A line that is no call is an error that names the line."""
    record = tmp_path / "decisions.jsonl"
    record.write_text(line)
    with pytest.raises(ConfigurationError, match="line 1"):
        assert_recorded(Bash(cwd=tmp_path), record)


def agent_that(tmp_path: Path, *turns: dict[str, object]) -> Agent:
    """Return an agent whose model follows the turns, with Bash and HumanApproval."""
    script = Script.parse("\n".join(map(json.dumps, turns)))
    toolkit = Toolkit([Bash(cwd=tmp_path), HumanApproval()])
    return Agent("robot", "You work.", ScriptedModel(script), toolkit)


def call(call_id: str, name: str, **arguments: str) -> dict[str, object]:
    """Return a call as a script has it."""
    return {"id": call_id, "name": name, "input": arguments}


async def test_an_approver_answers_by_its_script(tmp_path: Path) -> None:
    """What `yes` matches runs, what `no` matches does not, and outside work has its result."""
    agent = agent_that(
        tmp_path,
        {
            "calls": [
                call("a", "Bash", command="touch made"),
                call("b", "Bash", command="touch not"),
            ]
        },
        {"calls": [call("c", "HumanApproval", action="go", reason="ready")]},
        {"say": "Done."},
    )
    approver = ScriptedApprover(
        yes=["Bash(touch:*)"], no=["Bash(touch not)"], results={"HumanApproval": "yes"}
    )
    reply = await approver.reply(agent, "Go.")
    assert (reply.get_text_content() or "").endswith("Done.")
    assert [each.id for each in approver.asked] == ["a", "b", "c"]
    assert (tmp_path / "made").exists()
    assert not (tmp_path / "not").exists()


async def test_a_question_that_nobody_expected_fails_the_test(tmp_path: Path) -> None:
    """Without a rule for it a question is an error that shows the call, and nothing runs."""
    agent = agent_that(tmp_path, {"calls": [call("a", "Bash", command="touch made")]})
    with pytest.raises(UnexpectedQuestionError, match=r"touch made.*It asks because"):
        await ScriptedApprover(yes=["Bash(make:*)"]).reply(agent, "Go.")
    assert not (tmp_path / "made").exists()


def test_a_script_that_is_no_rule_is_refused() -> None:
    """A rule that is spelled wrongly never means yes."""
    with pytest.raises(ValueError, match="is not a rule"):
        ScriptedApprover(yes=["Bash(touch"])
    assert str(PermissionRule.parse("allow Bash(touch:*)")) == "allow Bash(touch:*)"
