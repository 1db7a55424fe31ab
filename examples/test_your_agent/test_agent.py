"""Tests of the agent beside this file: run them with `pytest examples/test_your_agent`.

To record the decisions anew after a change of the policy: AGENTSCOPE_LIKE_RECORD=1 pytest ...
"""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from agent import make_agent, make_policy, make_toolkit

from agentscope_like import ScriptedModel
from agentscope_like.model import Script
from agentscope_like.testing import (
    ScriptedApprover,
    UnexpectedQuestionError,
    assert_decision,
    assert_recorded,
)

RECORD = Path(__file__).with_name("decisions.jsonl")
SCRIPT = """\
{"calls": [{"id": "a", "name": "Bash", "input": {"command": "touch CHANGES"}}]}
{"say": "Released."}
"""


def test_no_push_gets_through(tmp_path: Path) -> None:
    """However it is spelled, a push is denied."""
    for command in ("git push", "sudo git 'push' origin", "make test; git -C . push"):
        assert_decision(
            make_toolkit(tmp_path),
            "Bash",
            {"command": command},
            "deny",
            policy=make_policy(tmp_path),
            because="git push",
        )


def test_decisions_stay_as_recorded(tmp_path: Path) -> None:
    """A change of the policy shows here, in words."""
    assert_recorded(make_toolkit(tmp_path), RECORD, policy=make_policy(tmp_path))


def test_the_agent_asks_before_it_writes(tmp_path: Path) -> None:
    """The agent's one change is asked about, and made once it is approved."""
    agent = make_agent(tmp_path, ScriptedModel(Script.parse(SCRIPT)))
    approver = ScriptedApprover(yes=["Bash(touch:*)"])
    reply = asyncio.run(approver.reply(agent, "Release it."))
    assert reply.get_text_content() == "Released."
    assert [call.id for call in approver.asked] == ["a"]
    assert (tmp_path / "CHANGES").exists()


def test_an_unexpected_question_fails(tmp_path: Path) -> None:
    """Nothing is approved that the test did not expect."""
    agent = make_agent(tmp_path, ScriptedModel(Script.parse(SCRIPT)))
    with pytest.raises(UnexpectedQuestionError, match="touch CHANGES"):
        asyncio.run(ScriptedApprover().reply(agent, "Release it."))
    assert not (tmp_path / "CHANGES").exists()
