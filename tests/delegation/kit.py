"""Agents that give tasks to one another, with dictated models."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from agentscope_like.agent import Agent
from agentscope_like.delegation import Delegator, ResultFiles
from agentscope_like.event import ConfirmResult, RequireUserConfirmEvent, UserConfirmResultEvent
from agentscope_like.message import TextBlock, ToolCallBlock, ToolResultBlock
from agentscope_like.permission import PermissionContext
from agentscope_like.profile import Account, DelegationPolicy, Profile, ToolPolicy
from agentscope_like.runs import Children
from agentscope_like.state import AgentState
from agentscope_like.tool import ToolBase, Toolkit
from tests.agent.kit import UNTOLD, DictatedModel, Turn, text_of

TOOLS = ("agent.list", "agent.delegate", "agent.await")


def profile(
    name: str, *, allow: Sequence[str] = TOOLS, tools: Mapping[str, Any] | None = None, **said: Any
) -> Profile:
    """Return the profile of an agent that may delegate, and be delegated to."""
    policy = {"can_delegate": True, "callable": True, "allow_as_subagent": True, **said}
    return Profile(
        id=name,
        tools=ToolPolicy(allow=tuple(allow), **(tools or {})),
        delegation=DelegationPolicy(**policy),
    )


def call(call_id: str, tool: str, **arguments: Any) -> ToolCallBlock:
    """Return a call."""
    return ToolCallBlock(id=call_id, name=tool, input=json.dumps(arguments))


def delegate(call_id: str, agent: str, objective: str = "Do it.", **more: Any) -> ToolCallBlock:
    """Return a call of `agent.delegate`."""
    return call(call_id, "agent.delegate", agentId=agent, task={"objective": objective}, **more)


def returning(summary: str, **more: Any) -> list[ToolCallBlock]:
    """Return a turn that returns a result."""
    return [call("r", "task.return", summary=summary, **more)]


def saying(text: str) -> list[TextBlock]:
    """Return a turn that answers."""
    return [TextBlock(text=text)]


class Team:
    """Agents by name: their profiles, tools, contexts and turns.

    Each name has one model, which goes on where it was when its agent is made anew. `prepare` is
    called with each agent of a task.
    """

    def __init__(self, *profiles: Profile, account: Account | None = None) -> None:
        self.profiles = {one.id: one for one in profiles}
        self.account = account
        self.turns: dict[str, list[Turn]] = {}
        self.tools: dict[str, list[ToolBase]] = {}
        self.contexts: dict[str, PermissionContext] = {}
        self.unconfigured: set[str] = set()
        self.results: ResultFiles | None = None
        self.made: list[str] = []
        self.models: dict[str, DictatedModel] = {}
        self.prepare: Callable[[Agent], None] = lambda _: None

    def dictate(self, name: str, *turns: Turn) -> None:
        """Give the model of an agent its turns."""
        self.turns.setdefault(name, []).extend(turns)

    def make(self, target: Profile, state: AgentState | None, account: Account) -> Agent:
        """Return the agent of a profile."""
        self.made.append(target.id)
        del account
        agent = self._agent(target, state)
        self.prepare(agent)
        return agent

    def _agent(self, target: Profile, state: AgentState | None) -> Agent:
        model = self.models.setdefault(target.id, DictatedModel())
        model.turns = self.turns.setdefault(target.id, [])
        if state is None:
            context = self.contexts.get(target.id, allowing())
            state = AgentState(permission_context=context.model_copy(deep=True))
        return Agent(
            target.id,
            "Be helpful.",
            model,
            Toolkit(self.tools.get(target.id, [])),
            state=state,
            injection_config=UNTOLD,
        )

    def shown(self, name: str) -> Profile:
        """Return the profile of an agent, which shows all tools that the agent has."""
        one = self.profiles[name]
        own = [tool.name for tool in self.tools.get(name, ())]
        tools = one.tools.model_copy(update={"allow": (*one.tools.allow, *own)})
        return one.model_copy(update={"tools": tools})

    def top(self, name: str, state: AgentState | None = None) -> Agent:
        """Return an agent that has no parent, with its children."""
        agent = self._agent(self.profiles[name], state)
        agent.middlewares = (self.children(name),)
        return agent

    def children(self, name: str) -> Children:
        """Return the children of an agent that has no parent."""
        delegator = Delegator.of(
            self.shown(name),
            [self.shown(one) for one in self.profiles],
            is_configured=lambda one: one not in self.unconfigured,
            account=self.account,
        )
        return Children(delegator, self.make, results=self.results)


def allowing(**rules: Any) -> PermissionContext:
    """Return a context in which tasks may be started."""
    return PermissionContext.from_rules(**{"allow": ["agent.delegate"], **rules})


def results(agent: Agent) -> dict[str, ToolResultBlock]:
    """Return the results of an agent's calls, by call id."""
    blocks = [block for message in agent.state.context for block in message.content]
    return {block.id: block for block in blocks if isinstance(block, ToolResultBlock)}


def told(agent: Agent, call_id: str) -> Any:
    """Return what a call told, as JSON."""
    return json.loads(text_of(results(agent)[call_id]).split("\n")[0])


def answering(
    question: RequireUserConfirmEvent, *, confirmed: bool = True
) -> UserConfirmResultEvent:
    """Return the answer to a question."""
    return UserConfirmResultEvent(
        reply_id=question.reply_id,
        confirm_results=[
            ConfirmResult(confirmed=confirmed, tool_call=one) for one in question.tool_calls
        ],
    )
