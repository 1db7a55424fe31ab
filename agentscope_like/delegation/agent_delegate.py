"""Defines `agent.delegate`, the tool that starts a child task."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from typing_extensions import override

from agentscope_like.delegation.child_runner import ChildRunner, Delegator
from agentscope_like.delegation.delegation_tool import DelegationTool, told
from agentscope_like.exception import RecoverableToolError
from agentscope_like.message import ToolChunk
from agentscope_like.middleware import ToolMiddlewareBase
from agentscope_like.nearest import nearest
from agentscope_like.permission import (
    PermissionBehavior,
    PermissionContext,
    PermissionDecision,
    PermissionRule,
)
from agentscope_like.profile import Profile
from agentscope_like.state import AgentState, ChildTask

__all__ = ["AgentDelegate", "asked_of"]

MAX_TEXT = 8000
MAX_BRIEF = 40_000
"""The most characters of a task, as JSON."""

_DENIED = "agent.delegation_policy_denied"
_EXHAUSTED = "agent.delegation_budget_exhausted"


class AgentDelegate(DelegationTool):
    """Starts a child task in the background (seed 001, "agent.delegate").

    A rule's content is the id of an agent: `agent.delegate(reviewer)`.

    Args:
        delegator: The agent that has the tool.
        runner: Runs the tasks.
        middlewares: Layers around `call`.
    """

    name = "agent.delegate"
    description = (
        "Give a task to another agent, which works on it in the background. Go on with your own "
        "work, or wait for its result with agent.await. State the result that you need, not the "
        "steps to it."
    )
    input_schema: ClassVar[dict[str, Any]] = {  # type: ignore[misc]
        "type": "object",
        "properties": {
            "agentId": {"type": "string", "description": "Its id, from agent.list."},
            "task": {
                "type": "object",
                "additionalProperties": False,
                "properties": {
                    "objective": {
                        "type": "string",
                        "pattern": r"\S",
                        "maxLength": MAX_TEXT,
                        "description": "What the task shall accomplish.",
                    },
                    "title": {
                        "type": "string",
                        "maxLength": MAX_TEXT,
                        "description": "A short label, for people.",
                    },
                    "context": {
                        "type": "object",
                        "description": "What the agent needs to know: facts, limits, drafts, file "
                        "paths. It sees nothing else of your work.",
                    },
                    "expectedOutput": {
                        "type": "object",
                        "description": "The form of the result.",
                    },
                },
                "required": ["objective"],
            },
            "budget": {
                "type": "object",
                "additionalProperties": False,
                "properties": {
                    "maxRounds": {
                        "type": "integer",
                        "minimum": 1,
                        "description": "At most as many as the agent's own limit.",
                    },
                    "maxToolCalls": {
                        "type": "integer",
                        "minimum": 1,
                        "description": "At most as many as the agent's own limit.",
                    },
                },
            },
        },
        "required": ["agentId", "task"],
    }
    is_read_only = False
    is_state_injected = True
    touches_only_agent_state: ClassVar[bool] = False

    def __init__(
        self,
        delegator: Delegator,
        runner: ChildRunner,
        middlewares: Sequence[ToolMiddlewareBase] | None = None,
    ) -> None:
        super().__init__(delegator, middlewares)
        self._runner = runner

    @override
    async def check_permissions(
        self, tool_input: dict[str, Any], context: PermissionContext
    ) -> PermissionDecision:
        """Have no opinion: the rules and the mode decide who may start which agents."""
        del context
        return PermissionDecision(
            PermissionBehavior.PASSTHROUGH,
            f"It starts a task of the agent {tool_input.get('agentId')!r}.",
        )

    @override
    async def match_rule(self, rule_content: str | None, tool_input: dict[str, Any]) -> bool:
        """Return whether the rule is about this agent, or about all."""
        return rule_content is None or rule_content == tool_input.get("agentId")

    @override
    async def generate_suggestions(self, tool_input: dict[str, Any]) -> list[PermissionRule]:
        """Return a rule that allows tasks of this agent."""
        return [
            PermissionRule(
                tool_name=self.name,
                rule_content=str(tool_input.get("agentId")),
                behavior=PermissionBehavior.ALLOW,
            )
        ]

    @override
    async def certain_failure(self, tool_input: dict[str, Any], state: AgentState) -> str | None:
        """Return why the task cannot be started, so that nobody is asked in vain."""
        try:
            self._task(tool_input["agentId"], tool_input["task"], tool_input.get("budget"), state)
        except RecoverableToolError as error:
            return f"{error.code}: {error.message}"
        return None

    async def call(
        self,
        agentId: str,  # noqa: N803 - the names of the arguments
        task: dict[str, Any],
        budget: dict[str, int] | None = None,
        *,
        _agent_state: AgentState,
    ) -> ToolChunk:
        """Start the task, and return its id."""
        started = self._task(agentId, task, budget, _agent_state)
        self._runner.start(started, _agent_state)
        return told({"taskId": started.id, "status": started.status, "agentId": agentId})

    def _task(
        self,
        agent_id: str,
        brief: dict[str, Any],
        budget: Mapping[str, int] | None,
        state: AgentState,
    ) -> ChildTask:
        target = self._target(agent_id)
        size = len(json.dumps(brief, ensure_ascii=False))
        if size > MAX_BRIEF:
            raise RecoverableToolError(
                "agent.task_too_long",
                f"the task has {size:,} characters, and at most {MAX_BRIEF:,} are passed on: name "
                "files instead of repeating what they say",
            )
        tools, wanted = target.tools, budget or {}
        rounds = _within("maxRounds", wanted, tools.max_rounds, target)
        calls = _within("maxToolCalls", wanted, tools.max_calls_per_run, target)
        self._refuse_too_many(state)
        return ChildTask(
            agent=target.id,
            reply_id=state.reply_id,
            brief=brief,
            max_rounds=rounds,
            max_calls=calls,
        )

    def _target(self, agent_id: str) -> Profile:
        delegator = self._delegator
        objection = delegator.objection()
        if objection is not None:
            raise RecoverableToolError(_DENIED, objection)
        target = delegator.agents.get(agent_id)
        if target is None:
            near = nearest(agent_id, [one.id for one in delegator.targets()])
            raise RecoverableToolError(
                "agent.target_profile_not_found",
                f"there is no agent {agent_id!r}{near}: agent.list shows which there are",
            )
        objection = delegator.target_objection(target)
        if objection is not None:
            raise RecoverableToolError(_DENIED, f"{objection}: agent.list shows who does")
        return target

    def _refuse_too_many(self, state: AgentState) -> None:
        policy = self._delegator.profile.delegation
        started = state.children.of_reply(state.reply_id)
        if len(started) >= policy.max_invocations_per_run:
            raise RecoverableToolError(
                _EXHAUSTED,
                f"this run may start {policy.max_invocations_per_run} child tasks, and has started "
                "them: do the rest yourself",
            )
        at_work = [task.id for task in started if not task.is_over]
        if len(at_work) >= policy.max_concurrent_invocations:
            raise RecoverableToolError(
                _EXHAUSTED,
                f"at most {policy.max_concurrent_invocations} child tasks are at work at once, and "
                f"{', '.join(at_work)} are: wait for one with agent.await",
            )


def _within(name: str, wanted: Mapping[str, int], limit: int, target: Profile) -> int:
    """Return a number of the budget, by default the limit.

    Raises:
        RecoverableToolError: It is above the limit.
    """
    number = wanted.get(name, limit)
    if number > limit:
        raise RecoverableToolError(
            "agent.budget_too_large",
            f"budget.{name} is {number:,}, and the limit of {target.id!r} is {limit:,}: give less, "
            "or leave it out",
        )
    return number


def asked_of(task: ChildTask) -> str:
    """Return the message that tells an agent its task."""
    brief = dict(task.brief)
    parts = []
    if title := brief.pop("title", ""):
        parts.append(f"# {title}")
    parts.append(str(brief.pop("objective", "")))
    for name, heading in (("context", "Context"), ("expectedOutput", "Expected output")):
        if (said := brief.get(name)) is not None:
            told_of = json.dumps(said, ensure_ascii=False, indent=2)
            parts.append(f"## {heading}\n```json\n{told_of}\n```")
    parts.append(
        f"You work for another agent, in at most {task.max_rounds} rounds and {task.max_calls} "
        "tool calls. It sees nothing but your result: call `task_return` with it when you are done."
    )
    return "\n\n".join(parts)
