"""A call is read once per decision; its run goes by the same reading, or is decided again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agentscope_like.event import ConfirmResult
from agentscope_like.exception import GrantError
from agentscope_like.message import ToolCallBlock, ToolCallState, ToolResponse
from agentscope_like.permission import (
    PermissionBehavior,
    PermissionContext,
    PermissionDecision,
    PermissionMode,
)
from agentscope_like.state import AgentState
from agentscope_like.tool import Bash, Toolkit

DEFAULT, EDITS, BYPASS = (
    PermissionMode.DEFAULT,
    PermissionMode.ACCEPT_EDITS,
    PermissionMode.BYPASS,
)


def block(command: str) -> ToolCallBlock:
    """Return a model's call of Bash."""
    return ToolCallBlock(id="1", name="Bash", input=json.dumps({"command": command}))


def state_in(mode: PermissionMode) -> AgentState:
    """Return the state of an agent in a mode."""
    return AgentState(permission_context=PermissionContext(mode=mode))


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """Return a project with two directories and a symlink to the first."""
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
    (tmp_path / "link").symlink_to("first")
    return tmp_path


async def run(toolkit: Toolkit, grant: Any, state: AgentState) -> ToolResponse:
    """Run a grant to its end."""
    items = [item async for item in toolkit.run(grant, state)]
    assert isinstance(items[-1], ToolResponse)
    return items[-1]


def relink(work: Path) -> None:
    """Let the symlink lead to the other directory."""
    (work / "link").unlink()
    (work / "link").symlink_to("second")


async def test_a_grant_ends_where_a_written_path_leads_elsewhere(work: Path) -> None:
    """A symlink that is swapped between decision and run is noticed before anything runs."""
    toolkit, state = Toolkit(tools=[Bash(cwd=work, confine="off")]), state_in(EDITS)
    decided = await toolkit.decide(block("echo x > link/new"), state)
    assert decided.grant is not None
    relink(work)
    with pytest.raises(GrantError, match="changed since"):
        await run(toolkit, decided.grant, state)
    assert not (work / "first" / "new").exists()
    assert not (work / "second" / "new").exists()


async def test_a_grant_holds_where_only_other_paths_change(work: Path) -> None:
    """What the command does not write is no reason to decide it again."""
    toolkit, state = Toolkit(tools=[Bash(cwd=work, confine="off")]), state_in(EDITS)
    decided = await toolkit.decide(block("echo x > first/new"), state)
    assert decided.grant is not None
    relink(work)
    await run(toolkit, decided.grant, state)
    assert (work / "first" / "new").read_text() == "x\n"


@pytest.mark.parametrize("swapped", [False, True])
async def test_a_yes_is_one_to_the_paths_that_were_asked_about(work: Path, swapped: bool) -> None:
    """Where a path leads elsewhere when the answer comes, the person is asked again."""
    toolkit, state = Toolkit(tools=[Bash(cwd=work, confine="off")]), state_in(DEFAULT)
    call = block("echo x > link/new")
    await toolkit.decide(call, state)
    assert call.state is ToolCallState.ASKING
    stored = ToolCallBlock.model_validate_json(call.model_dump_json())
    if swapped:
        relink(work)
    answered = await toolkit.confirm(stored, ConfirmResult(confirmed=True, tool_call=stored), state)
    assert (answered.grant is None) is swapped
    assert (stored.state is ToolCallState.ASKING) is swapped


async def test_the_run_goes_by_the_reading_of_the_decision(work: Path) -> None:
    """The grant carries the call as it was read; another command than that is read anew."""
    bash = Bash(cwd=work, confine="off")
    toolkit, state = Toolkit(tools=[bash]), state_in(DEFAULT)
    decided = await toolkit.decide(block("cat first/a"), state)
    assert decided.grant is not None
    assert decided.grant.prepared is decided.prepared
    chunks = [
        chunk async for chunk in bash.call("echo other", _prepared_call=decided.grant.prepared)
    ]
    assert chunks[-1].metadata["exit_code"] == 0


class Careful(Bash):
    """Overrides the check of Bash."""

    async def check_permissions(
        self, tool_input: dict[str, Any], context: PermissionContext
    ) -> PermissionDecision:
        """Deny what mentions a word, and leave the rest to Bash."""
        if "forbidden" in tool_input["command"]:
            return PermissionDecision(PermissionBehavior.DENY, "Not this one.")
        return await super().check_permissions(tool_input, context)


@pytest.mark.parametrize(("command", "allowed"), [("ls forbidden", False), ("ls first", True)])
async def test_an_overridden_check_is_asked(work: Path, command: str, allowed: bool) -> None:
    """A subclass of Bash that checks more is heard, although the call is read only once."""
    toolkit = Toolkit(tools=[Careful(cwd=work, confine="off")])
    decided = await toolkit.decide(block(command), state_in(DEFAULT))
    assert decided.decision is not None
    assert (decided.decision.behavior is PermissionBehavior.ALLOW) is allowed


async def test_a_replaced_check_of_one_tool_is_asked(
    work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A check that was set on the object itself counts as an override."""
    bash = Bash(cwd=work, confine="off")

    async def deny(*_: object) -> PermissionDecision:
        return PermissionDecision(PermissionBehavior.DENY, "Not now.")

    monkeypatch.setattr(bash, "check_permissions", deny)
    decided = await Toolkit(tools=[bash]).decide(block("ls"), state_in(BYPASS))
    assert decided.refusal is not None
