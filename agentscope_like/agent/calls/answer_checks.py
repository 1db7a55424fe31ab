"""Checks all answers to a waiting reply before any is acted on."""

from __future__ import annotations

from collections.abc import Iterable
from inspect import signature

from agentscope_like.agent.reply_recorder import ReplyRecorder
from agentscope_like.event import (
    ConfirmResult,
    ExternalExecutionResultEvent,
    UserConfirmResultEvent,
)
from agentscope_like.exception import AgentOrientedException, ResumeError
from agentscope_like.message import (
    ToolCallBlock,
    ToolCallState,
    ToolResultBlock,
    ToolResultState,
)
from agentscope_like.permission import PermissionBehavior, PermissionRule
from agentscope_like.tool import Toolkit
from agentscope_like.tool.arguments import copied
from agentscope_like.tool.call import shown_arguments

__all__ = ["check_confirmations", "check_results", "new_rules"]


def check_confirmations(
    event: UserConfirmResultEvent, recorder: ReplyRecorder, toolkit: Toolkit
) -> list[tuple[ToolCallBlock, ConfirmResult]]:
    """Return the calls that ask with their answers, in the order of the calls.

    Raises:
        ResumeError: An answer belongs to another reply, to a call that does not ask or to one
            already answered; it changes the tool, or the arguments to invalid ones; or it rejects a
            call and yet adds an allow rule.
        RuleError: A rule to remember is invalid.
    """
    _check_reply(event.reply_id, recorder)
    calls = _expected((r.tool_call.id for r in event.confirm_results), recorder, "asking")
    answers = {result.tool_call.id: result for result in event.confirm_results}
    for call in calls:
        answer = answers[call.id]
        if answer.tool_call.name != call.name:
            raise ResumeError(
                f"the answer to call {call.id!r} names the tool {answer.tool_call.name!r}, which "
                f"was asked as {call.name!r}: an answer cannot change which tool is called"
            )
        if answer.confirmed:
            _check_edit(call, answer, toolkit)
        else:
            _check_rejection(call, answer)
    toolkit.check_new_rules(new_rules(event.confirm_results))
    return [(call, answers[call.id]) for call in calls]


def _check_edit(call: ToolCallBlock, answer: ConfirmResult, toolkit: Toolkit) -> None:
    if answer.tool_call.input == call.input:
        return
    try:
        toolkit.check_arguments(call.name, answer.tool_call.input)
    except AgentOrientedException as error:
        raise ResumeError(
            f"the edit in the answer to call {call.id!r} cannot run, so nothing was done. "
            f"{error.message}"
        ) from error


def _check_rejection(call: ToolCallBlock, answer: ConfirmResult) -> None:
    for rule in answer.rules or ():
        if rule.behavior is PermissionBehavior.ALLOW:
            raise ResumeError(
                f"the answer to call {call.id!r} is a no and would remember `{rule}`: a no can "
                "remember rules that deny or ask, none that allows"
            )


async def check_results(
    event: ExternalExecutionResultEvent, recorder: ReplyRecorder, toolkit: Toolkit
) -> list[tuple[ToolCallBlock, ToolResultBlock]]:
    """Return the submitted calls with their results, in the order of the calls.

    Raises:
        ResumeError: A result belongs to another reply, or to a call that was not submitted or
            already has a result; does not say how the call ended; or fails the tool's own check.
    """
    _check_reply(event.reply_id, recorder)
    calls = _expected((r.id for r in event.execution_results), recorder, "submitted")
    results = {result.id: result for result in event.execution_results}
    for call in calls:
        if results[call.id].state is ToolResultState.RUNNING:
            raise ResumeError(
                f"the result of call {call.id!r} is still `running`: send it with the state "
                "`success`, `error`, `interrupted` or `denied`"
            )
        if results[call.id].name != call.name:
            raise ResumeError(
                f"the result of call {call.id!r} is said to be of {results[call.id].name!r}, but "
                f"the call is of {call.name!r}"
            )
        await _check_by_tool(call, results[call.id], toolkit)
    return [(call, results[call.id]) for call in calls]


async def _check_by_tool(call: ToolCallBlock, result: ToolResultBlock, toolkit: Toolkit) -> None:
    tool = await toolkit.get_tool(call.name)
    if tool is None:
        return
    try:
        copy = result.model_copy(deep=True)
        if "tool_input" in signature(tool.check_external_result).parameters:
            tool_input = copied(shown_arguments(call))
            await tool.check_external_result(copy, tool_input=tool_input)
        else:  # a check that overrides it may look at the result alone
            await tool.check_external_result(copy)
    except Exception as error:
        raise ResumeError(
            f"{call.name} does not take the result of call {call.id!r}: {error}. Correct the "
            "result and send it again"
        ) from error


def new_rules(results: Iterable[ConfirmResult]) -> list[PermissionRule]:
    """Return the rules that the person wants remembered, from approvals and rejections."""
    return [rule for result in results for rule in result.rules or ()]


def _check_reply(reply_id: str, recorder: ReplyRecorder) -> None:
    if reply_id != recorder.reply_id:
        raise ResumeError(
            f"the answer is about reply {reply_id!r}, the agent is in {recorder.reply_id!r}: "
            "answer with the reply_id of the event that asked"
        )


def _expected(ids: Iterable[str], recorder: ReplyRecorder, state: str) -> list[ToolCallBlock]:
    wanted = ToolCallState(state)
    waiting = {call.id: call for call in recorder.calls() if call.state is wanted}
    answered: set[str] = set()
    for call_id in ids:
        if call_id not in waiting:
            listed = ", ".join(map(repr, waiting)) or "none"
            raise ResumeError(
                f"no call {call_id!r} is {state}; these are: {listed}. Each call is answered once."
            )
        if call_id in answered:
            raise ResumeError(f"call {call_id!r} is answered twice in one event: answer it once")
        answered.add(call_id)
    if not answered:
        raise ResumeError(
            f"the event answers no call: say which of those that are {state} it means"
        )
    return [call for call in waiting.values() if call.id in answered]
