"""What a child's held commands changed is judged by the policy of all agents above it as well."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentscope_like.event import AgentEvent, RequireUserConfirmEvent
from agentscope_like.permission import PermissionContext, PermissionMode
from tests.agent.kit import events_of
from tests.delegation.kit import (
    Team,
    allowing,
    answering,
    call,
    delegate,
    profile,
    returning,
    saying,
    told,
)
from tests.tool.builtin.held.held_kit import Scene


@pytest.fixture
def scene(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Scene:
    """Return a project whose script writes a file."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    made = Scene(tmp_path, "accept_edits")
    made.script("work.sh", "echo new > made.txt")
    return made


def team_of(scene: Scene, lead: PermissionContext) -> Team:
    """Return a parent with this policy, and a child whose own policy lets edits run."""
    team = Team(profile("lead"), profile("child"))
    team.contexts = {"lead": lead, "child": scene.new_state().permission_context}
    team.tools = {"lead": [scene.bash], "child": [scene.bash]}
    team.dictate("lead", [delegate("d", "child")], [call("w", "agent.await")], saying("done"))
    team.dictate("child", [call("k", "Bash", command="./work.sh")], returning("ok"))
    return team


def asked(events: list[AgentEvent]) -> list[RequireUserConfirmEvent]:
    """Return the questions among events."""
    return [each for each in events if isinstance(each, RequireUserConfirmEvent)]


async def test_a_parent_that_asks_is_asked_about_what_its_child_changed(scene: Scene) -> None:
    """The child alone would apply its edits; its parent's mode asks, and a yes applies them."""
    lead = allowing(working_directories=[scene.project])
    team = team_of(scene, lead)
    agent = team.top("lead")
    (question,) = asked(await events_of(agent, "go"))
    assert question.tool_calls[0].apply is not None
    assert not (scene.project / "made.txt").exists()
    await events_of(agent, answering(question))
    assert (scene.project / "made.txt").exists()
    assert told(agent, "w")["tasks"][0]["result"]["summary"] == "ok"


@pytest.mark.parametrize(("denied", "is_made"), [("made.txt", False), ("other.txt", True)])
async def test_a_deny_rule_of_a_parent_drops_what_its_child_changed(
    scene: Scene, denied: str, is_made: bool
) -> None:
    """The stricter of all policies counts; a rule about another file forbids nothing."""
    lead = allowing(
        mode=PermissionMode.ACCEPT_EDITS,
        working_directories=[scene.project],
        deny=[f"Write({denied})"],
    )
    team = team_of(scene, lead)
    agent = team.top("lead")
    assert asked(await events_of(agent, "go")) == []
    assert (scene.project / "made.txt").exists() is is_made
