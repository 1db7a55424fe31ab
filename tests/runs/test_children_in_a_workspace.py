"""A parent and its child share a workspace, within the roots that both have."""

from __future__ import annotations

from pathlib import Path

from agentscope_like.agent import Agent
from agentscope_like.delegation import Delegator, ResultFiles
from agentscope_like.message import UserMsg
from agentscope_like.permission import PermissionMode
from agentscope_like.profile import Account, Profile, WorkspacePolicy
from agentscope_like.runs import AgentRun, Children, RunState
from agentscope_like.state import AgentState
from agentscope_like.tool import Toolkit
from agentscope_like.workspace import Workspace, workspace_tools
from tests.agent.kit import UNTOLD, DictatedModel, text_of
from tests.delegation.kit import (
    TOOLS,
    allowing,
    call,
    delegate,
    profile,
    results,
    returning,
    saying,
    told,
)

LIST, WRITE = "workspace.list_files", "workspace.write_file"


async def test_tt_55_and_51_results_and_roots_in_a_workspace(tmp_path: Path) -> None:
    """The child writes where both may write, and the parent sees its file and its summary alone."""
    lead = profile("lead", allow=(*TOOLS, LIST)).model_copy(
        update={
            "workspace": WorkspacePolicy(
                visible_roots=("output", "plan", "summaries"), writable_roots=("plan",)
            )
        }
    )
    child = profile("child", allow=(*TOOLS, LIST, WRITE))
    wrong = [{"path": "scratch/a.md", "kind": "markdown", "role": "draft"}]
    right = [{"path": "plan/a.md", "kind": "markdown", "role": "draft"}]
    models = {
        "lead": DictatedModel(
            [delegate("d", "child")],
            [call("w", "agent.await")],
            [call("l", LIST)],
            saying("done"),
        ),
        "child": DictatedModel(
            [call("w1", WRITE, path="output/a.md", content="a")],
            [call("w2", WRITE, path="scratch/a.md", content="a")],
            [call("w3", WRITE, path="plan/a.md", content="a")],
            returning("first", artifacts=wrong),
            returning("It is planned.", artifacts=right),
        ),
    }

    def make(target: Profile, state: AgentState | None, account: Account) -> Agent:
        del account
        workspace = Workspace(tmp_path / "run", run_id="run", policy=target.workspace)
        context = allowing(mode=PermissionMode.BYPASS)
        return Agent(
            target.id,
            "Be helpful.",
            models[target.id],
            Toolkit(workspace_tools(workspace)),
            state=state or AgentState(permission_context=context),
            injection_config=UNTOLD,
        )

    account = Account(50)
    agent = make(lead, None, account)
    delegator = Delegator.of(lead, [lead, child], account=account)
    kept = ResultFiles(tmp_path / "run")
    agent.middlewares = (Children(delegator, make, results=kept),)
    run = AgentRun(agent, lead, account=account)
    assert await run.run(UserMsg("user", "go")) is RunState.COMPLETED
    (task,) = told(agent, "w")["tasks"]
    assert task["result"]["artifacts"] == right
    assert [path.name for path in (tmp_path / "run").rglob("a.md")] == ["a.md"]
    listed = text_of(results(agent)["l"])
    assert "plan/a.md" in listed
    assert "summaries/child-result.md" in listed
    assert "agent-results" not in listed
    assert (tmp_path / "run" / task["result"]["files"][0]).exists()
