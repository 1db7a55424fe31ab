"""Parks a call that ran held, and applies a person's answer about what it changed."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing

from agentscope_like.event import ConfirmResult
from agentscope_like.exception import AgentOrientedException, GrantError, ResumeError
from agentscope_like.message import (
    ApplyQuestion,
    TextBlock,
    ToolCallBlock,
    ToolCallState,
    ToolChunk,
    ToolResponse,
    ToolResultState,
)
from agentscope_like.permission import PermissionBehavior, PermissionDecision
from agentscope_like.state import AgentState
from agentscope_like.tool.call.decided_call import refused
from agentscope_like.tool.call.execution import RunLayer
from agentscope_like.tool.call.grant import Grant
from agentscope_like.tool.call.human_answer import edited_input
from agentscope_like.tool.held_call import DroppedChanges, HoldingTool

__all__ = ["check_apply_answer", "not_applied", "park", "refuse_held", "run_apply"]

REJECTED = "[The person did not take the changes; the files are as before.]"
SAID = "[The person did not take the changes; the files are as before. They said: {message}]"


def park(call: ToolCallBlock, question: ApplyQuestion) -> None:
    """Let a call that ran held wait for an answer about what it changed."""
    call.state = ToolCallState.ASKING
    call.approved = False
    call.suggested_rules = []
    call.apply = question
    call.decision = PermissionDecision(
        PermissionBehavior.ASK, question.title, decision_reason="the command ran held"
    )


def refuse_held(call: ToolCallBlock) -> None:
    """Refuse to decide a call that ran held: that would run it again.

    Raises:
        ResumeError: It ran.
    """
    if call.apply is not None:
        raise ResumeError(
            f"call {call.id!r} ran held and waits for an answer about what it changed: answer it "
            "with `confirm`; it never runs again"
        )


def check_apply_answer(call: ToolCallBlock, answer: ConfirmResult) -> None:
    """Refuse an answer that edits a call which has run.

    Raises:
        ResumeError: It does.
    """
    if answer.confirmed and edited_input(call, answer.tool_call.input) != call.input:
        raise ResumeError(
            f"the answer edits call {call.id!r}, which ran held: only its changes are asked about. "
            "Answer yes or no without an edit"
        )


def not_applied(
    call: ToolCallBlock,
    dropped: DroppedChanges,
    answer: ConfirmResult | None = None,
    told: str = "",
) -> ToolResponse:
    """Return the result of a call whose changes were dropped: its output, then why.

    Args:
        call: The call.
        dropped: What is known of the changes.
        answer: A person's no, if that is why.
        told: Why they were dropped, if the person did not say no.
    """
    output = dropped.output
    if answer is not None and dropped.objection:
        told = f"[Nothing was dropped: {dropped.objection}]"
    elif answer is not None:
        told = SAID.format(message=answer.message) if answer.message else REJECTED
    begin = "" if not output or output.endswith("\n") else "\n"
    response = refused(call.id, f"{begin}{told}", ToolResultState.DENIED)
    return _after_output(output, response)


async def run_apply(
    grant: Grant,
    state: AgentState,
    *,
    redeem: Callable[[Grant], Awaitable[object]],
    layers: Sequence[RunLayer] = (),
) -> AsyncGenerator[ToolChunk | ToolResponse, None]:
    """Apply the changes of a held run, and yield what became of them, then the whole response.

    Args:
        grant: The grant, already used up by the toolkit.
        state: The agent's state.
        redeem: Raises an exception if the grant is no longer valid.
        layers: Layers around the run, the first outermost.

    Raises:
        GrantError: The grant is not valid; the changes are dropped.
    """
    tool, question = grant.tool, grant.apply
    if question is None or not isinstance(tool, HoldingTool):
        raise GrantError(f"the grant of call {grant.call_id!r} is not about changes")
    run = _applied(tool, grant.call_id, question, state)
    for layer in reversed(layers):
        run = layer(grant, state, run)
    try:
        await redeem(grant)
        async with aclosing(run) as items:
            async for item in items:
                yield item
    except GrantError:
        await tool.drop_changes(question, state)
        raise
    except AgentOrientedException as error:  # a layer refused
        dropped = await tool.drop_changes(question, state)
        response = refused(grant.call_id, f"[{error.told}]", ToolResultState.ERROR, error.metadata)
        yield _after_output(dropped.output, response)


async def _applied(
    tool: HoldingTool, call_id: str, question: ApplyQuestion, state: AgentState
) -> AsyncGenerator[ToolChunk | ToolResponse, None]:
    output = await tool.held_output(question)
    response = _after_output(output, ToolResponse(id=call_id))
    try:
        async with aclosing(tool.apply_changes(question, state)) as chunks:
            async for chunk in chunks:
                response.append_chunk(chunk)
                yield chunk
    except AgentOrientedException as error:
        failed = ToolChunk(
            content=[TextBlock(text=f"[{error.told}]")],
            state=ToolResultState.ERROR,
            metadata=error.metadata,
        )
        response.append_chunk(failed)
        yield failed
    yield response


def _after_output(output: str, response: ToolResponse) -> ToolResponse:
    """Return the response with what the run printed before all else, in a block of its own."""
    if output:
        response.content.insert(0, TextBlock(text=output))
    return response
