"""Answers an agent's questions in tests, as a script says."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from agentscope_like.agent import Agent
from agentscope_like.event import (
    ConfirmResult,
    ExternalExecutionResultEvent,
    UserConfirmResultEvent,
)
from agentscope_like.message import (
    Msg,
    ToolCallBlock,
    ToolCallState,
    ToolResultBlock,
    ToolResultState,
    UserMsg,
)
from agentscope_like.permission import PermissionBehavior, PermissionRule
from agentscope_like.tool.arguments import parse_arguments

__all__ = ["ScriptedApprover", "UnexpectedQuestionError"]

_REJECTED = "The person said no."


class UnexpectedQuestionError(AssertionError):
    """The agent asked something that the script has no answer to."""


class ScriptedApprover:
    """Answers what an agent asks, so that a test of the agent needs no person.

    Args:
        yes: Rules, such as `Bash(pytest:*)`; a call that one of them matches is approved, once.
        no: Rules; a call that one of them matches is rejected. They are stronger than `yes`.
        results: What calls that are done outside return, by the name of the tool.

    Attributes:
        asked: The calls that asked, or were to be done outside, in their order.

    Raises:
        RuleError: A text is not a rule.
    """

    def __init__(
        self,
        *,
        yes: Iterable[str] = (),
        no: Iterable[str] = (),
        results: Mapping[str, str] | None = None,
    ) -> None:
        self._yes = [PermissionRule.parse(text, PermissionBehavior.ALLOW) for text in yes]
        self._no = [PermissionRule.parse(text, PermissionBehavior.DENY) for text in no]
        self._results = dict(results or {})
        self.asked: list[ToolCallBlock] = []

    async def reply(self, agent: Agent, message: str | Msg) -> Msg:
        """Have the agent reply to the message, answer all that it asks, and return its reply.

        Raises:
            UnexpectedQuestionError: It asked what no rule of the script matches. Nothing was
                approved by that; the call still waits.
        """
        reply = await agent.reply(UserMsg("user", message) if isinstance(message, str) else message)
        while waiting := agent.state.get_awaiting_tool_calls(agent.name):
            reply = await agent.reply(await self._answer(agent, waiting[0]))
        return reply

    async def _answer(
        self, agent: Agent, call: ToolCallBlock
    ) -> UserConfirmResultEvent | ExternalExecutionResultEvent:
        self.asked.append(call.model_copy(deep=True))
        reply_id = agent.state.reply_id
        if call.state is ToolCallState.SUBMITTED:
            result = self._result(call)
            return ExternalExecutionResultEvent(reply_id=reply_id, execution_results=[result])
        confirmed = await self._confirmed(agent, call)
        said = None if confirmed else _REJECTED
        answer = ConfirmResult(confirmed=confirmed, tool_call=call, message=said)
        return UserConfirmResultEvent(reply_id=reply_id, confirm_results=[answer])

    def _result(self, call: ToolCallBlock) -> ToolResultBlock:
        output = self._results.get(call.name)
        if output is None:
            raise UnexpectedQuestionError(
                f"{call.name} was to be done outside, and `results` has nothing for it"
            )
        return ToolResultBlock(
            id=call.id, name=call.name, output=output, state=ToolResultState.SUCCESS
        )

    async def _confirmed(self, agent: Agent, call: ToolCallBlock) -> bool:
        tool = await agent.toolkit.get_tool(call.name)
        arguments = parse_arguments(call.name, call.input)

        async def matches(rules: Iterable[PermissionRule]) -> bool:
            if tool is None:
                return False
            contents = [rule.rule_content for rule in rules if rule.tool_name == call.name]
            return any([await tool.match_rule(content, arguments) for content in contents])

        if await matches(self._no):
            return False
        if await matches(self._yes):
            return True
        why = "" if call.decision is None else f" It asks because: {call.decision.message}"
        raise UnexpectedQuestionError(
            f"{call.name}({_shown(arguments)}) asks, and neither `yes` nor `no` has a rule that "
            f"matches it.{why}"
        )


def _shown(arguments: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={value!r}" for name, value in arguments.items())
