"""A run with a scripted model, and tools that stand for those of a workspace."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from agentscope_like.agent import Agent
from agentscope_like.exception import DeveloperOrientedException, RecoverableToolError
from agentscope_like.journal import Journal
from agentscope_like.message import TextBlock, ToolCallBlock, ToolChunk, UserMsg
from agentscope_like.middleware import MiddlewareBase
from agentscope_like.permission import PermissionBehavior, PermissionContext, PermissionDecision
from agentscope_like.profile import Account, Profile
from agentscope_like.runs import AgentRun
from agentscope_like.state import AgentState
from agentscope_like.tool import ToolBase, Toolkit
from agentscope_like.workspace import RunControl
from tests.agent.kit import UNTOLD, DictatedModel, Turn

READ, WRITE = "workspace.read_file", "workspace.write_file"
COMMIT, FINISH = "workspace.commit", "workspace.finish"

TASK = UserMsg("user", "Write a page.")


class Control(RunControl):
    """What the tools of a run tell of it."""

    def __init__(self, *, foreground: bool = False) -> None:
        super().__init__("run", foreground=foreground)


class Stub(ToolBase):
    """A tool that does what it is given, and counts its runs."""

    description = "Does something."
    input_schema = {  # noqa: RUF012
        "type": "object",
        "properties": {"text": {"type": "string"}},
    }
    is_concurrency_safe = False
    is_read_only = False

    def __init__(
        self,
        name: str,
        work: Callable[[str], Any] | None = None,
        *,
        opinion: PermissionBehavior = PermissionBehavior.ALLOW,
    ) -> None:
        super().__init__()
        self.name = name
        self.work = work
        self.opinion = opinion
        self.runs: list[str] = []

    async def check_permissions(
        self, tool_input: dict[str, Any], context: PermissionContext
    ) -> PermissionDecision:
        return PermissionDecision(self.opinion, f"{self.name} wants to run.")

    async def call(self, text: str = "") -> ToolChunk:
        self.runs.append(text)
        told = self.work(text) if self.work is not None else f"{self.name} did {text!r}."
        return ToolChunk(content=[TextBlock(text=str(told))])


def workspace_tools(control: Control) -> list[Stub]:
    """Return stubs of the tools that end a run, with two others."""

    def commit(text: str) -> str:
        if text == "broken":
            raise DeveloperOrientedException("the chat does not answer")
        control.committed += 1
        return "Committed."

    def finish(text: str) -> str:
        if control.foreground and not control.committed:
            raise RecoverableToolError(
                "agent.foreground_commit_required", "commit before you finish"
            )
        control.finish()
        return "Finished."

    return [Stub(READ), Stub(WRITE), Stub(COMMIT, commit), Stub(FINISH, finish)]


def call(name: str, text: str = "", call_id: str = "call_0") -> ToolCallBlock:
    """Return a call as a model makes it: by the name that it sees."""
    text = json.dumps({"text": text})
    return ToolCallBlock(id=call_id, name=name.replace(".", "_"), input=text)


def profile_of(*allow: str, **given: Any) -> Profile:
    """Return a profile that sees these tools."""
    tools = {"allow": allow, **given.pop("tools", {})}
    return Profile.model_validate({"id": "writer", "tools": tools, **given})


def run_of(
    profile: Profile,
    tools: Sequence[ToolBase],
    *turns: Turn,
    control: Control | None = None,
    journal: Journal | None = None,
    account: Account | None = None,
    state: AgentState | None = None,
    at_success: Sequence[Callable[[], Awaitable[None]]] = (),
    middlewares: Sequence[MiddlewareBase] = (),
    run_id: str | None = None,
) -> tuple[AgentRun, DictatedModel]:
    """Return a run of a model that says these turns."""
    model = DictatedModel(*turns)
    agent = Agent(
        "writer",
        "You write.",
        model,
        Toolkit(tools),
        middlewares=middlewares,
        state=state,
        injection_config=UNTOLD,
    )
    run = AgentRun(
        agent,
        profile,
        control=control,
        journal=journal,
        account=account,
        at_success=at_success,
        run_id=run_id,
    )
    return run, model
