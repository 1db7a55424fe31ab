"""Begins or resumes a reply with messages, answers to waiting calls, or an interrupt."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import aclosing
from typing import TypeAlias

from agentscope_like.agent.calls import check_confirmations, check_results, new_rules
from agentscope_like.agent.reply.ending import BROKEN_OFF, NEVER_RAN
from agentscope_like.agent.reply.reply_parts import ReplyParts
from agentscope_like.agent.reply.structured_output import StructuredSchema
from agentscope_like.event import (
    AgentEvent,
    ConfirmResult,
    ExternalExecutionResultEvent,
    ReplyStartEvent,
    UserConfirmResultEvent,
    UserInterruptEvent,
)
from agentscope_like.exception import ResumeError
from agentscope_like.message import (
    Msg,
    ToolCallBlock,
    ToolCallState,
    ToolResultBlock,
    ToolResultState,
)
from agentscope_like.permission import PermissionEngine
from agentscope_like.state import AgentState, ReplyContext
from agentscope_like.tool import DecidedCall
from agentscope_like.tool.arguments import shortened

__all__ = ["AgentInput", "Beginning", "listed", "refuse_while_waiting"]

AgentInput: TypeAlias = (
    Msg
    | list[Msg]
    | UserConfirmResultEvent
    | UserInterruptEvent
    | ExternalExecutionResultEvent
    | None
)


class Beginning:
    """Applies the input of a stream.

    Args:
        parts: The reply's.
    """

    def __init__(self, parts: ReplyParts) -> None:
        self._parts = parts
        self._recorder = parts.recorder
        self._toolkit = parts.toolkit
        self._state = parts.state

    async def take(
        self, inputs: AgentInput, schema: StructuredSchema | None
    ) -> AsyncGenerator[AgentEvent, None]:
        """Apply the input, and yield its events before the model is called.

        Args:
            inputs: As for `Agent.reply_stream`.
            schema: The schema of the answer; when resuming, it replaces the equal schema in the
                state.

        Raises:
            ResumeError: The input is not what the agent waits for. Nothing was done.
            RuleError: A rule could never do what it says. Nothing was done.
        """
        match inputs:
            case UserConfirmResultEvent():
                begun = self._confirmed(inputs, schema)
            case ExternalExecutionResultEvent():
                begun = self._executed(inputs, schema)
            case UserInterruptEvent():
                begun = self._interrupted(inputs)
            case _:
                begun = self._told(listed(inputs), schema)
        async with aclosing(begun) as events:
            async for event in events:
                yield event

    async def _told(
        self, messages: list[Msg], schema: StructuredSchema | None
    ) -> AsyncGenerator[AgentEvent, None]:
        state, recorder = self._state, self._recorder
        if messages:
            refuse_while_waiting(state, recorder.name)
        await self._toolkit.prepare_rules(state)
        self._toolkit.check_rules(state)
        awaiting = state.get_awaiting_tool_calls(recorder.name)
        if awaiting:
            self._keep(schema)
            for event in self._parts.acting.waiting(awaiting):
                yield event
            return
        for event in recorder.interrupt_open_calls(BROKEN_OFF, NEVER_RAN):
            yield event
        if not messages and not recorder.is_over:
            self._keep(schema)
            return
        state.reply_context = ReplyContext(structured_schema=schema)
        state.context.extend(messages)
        yield recorder.take(
            ReplyStartEvent(
                session_id=state.session_id, reply_id=state.reply_id, name=recorder.name
            )
        )

    async def _confirmed(
        self, answer: UserConfirmResultEvent, schema: StructuredSchema | None
    ) -> AsyncGenerator[AgentEvent, None]:
        await self._toolkit.prepare_rules(self._state)
        self._toolkit.check_rules(self._state)
        answered = check_confirmations(answer, self._recorder, self._toolkit)
        self._keep(schema)
        engine = PermissionEngine(self._state.permission_context)
        for rule in new_rules(answer.confirm_results):
            engine.add_rule(rule)
        yield self._taken(answer, [call for call, _ in answered])
        async with aclosing(self._parts.acting.act_on_answers(answered)) as events:
            async for event in events:
                yield event
        if new_rules(answer.confirm_results):
            async with aclosing(self._parts.acting.finish(await self._spared())) as events:
                async for event in events:
                    yield event
        for event in self._stopped_by([result for _, result in answered]):
            yield event

    def _taken(
        self, answer: UserConfirmResultEvent, calls: Sequence[ToolCallBlock]
    ) -> UserConfirmResultEvent:
        """Record the answer; the calls stay as they asked, for `confirm` to compare them with."""
        asked = [call.input for call in calls]
        taken = self._recorder.take(answer)
        for call, text in zip(calls, asked, strict=True):
            call.input, call.state = text, ToolCallState.ASKING
        return taken

    async def _spared(self) -> list[DecidedCall]:
        """Return the waiting calls that a newly remembered rule allows or denies."""
        spared: list[DecidedCall] = []
        for call in self._state.get_awaiting_tool_calls(self._recorder.name):
            if call.state is ToolCallState.ASKING and call.apply is None:
                shown = (call.decision, call.digest, call.suggested_rules)
                decided = await self._parts.acting.decide(call)
                if call.state is ToolCallState.ASKING:  # the person answers what they were shown
                    call.decision, call.digest, call.suggested_rules = shown
                else:
                    spared.append(decided)
        return spared

    def _stopped_by(self, results: Sequence[ConfirmResult]) -> Iterator[AgentEvent]:
        stops = self._parts.agent.react_config.stop_on_reject
        if stops and not all(result.confirmed for result in results):
            for call in self._recorder.pending():
                text = "Not run: the user rejected a call before it."
                yield from self._recorder.whole_result(call, text, ToolResultState.DENIED)

    async def _executed(
        self, answer: ExternalExecutionResultEvent, schema: StructuredSchema | None
    ) -> AsyncGenerator[AgentEvent, None]:
        await self._toolkit.prepare_rules(self._state)
        self._toolkit.check_rules(self._state)
        results = []
        for call, result in await check_results(answer, self._recorder, self._toolkit):
            output = await self._parts.limit.cut_output(call, result)
            results.append((call, result.model_copy(update={"output": output})))
        self._keep(schema)
        taken = self._results_taken(answer, results)
        try:
            for event in taken:
                yield event
        finally:
            for _ in taken:  # work that was done outside is not lost on who stops listening
                pass

    def _results_taken(
        self,
        answer: ExternalExecutionResultEvent,
        results: Sequence[tuple[ToolCallBlock, ToolResultBlock]],
    ) -> Iterator[AgentEvent]:
        yield self._recorder.take(answer)
        for call, result in results:
            yield from self._recorder.add_output(call.id, result.output)
            yield self._recorder.end_result(call.id, result.state, result.metadata)

    async def _interrupted(self, answer: UserInterruptEvent) -> AsyncGenerator[AgentEvent, None]:
        if not self._state.get_unfinished_tool_calls(self._recorder.name):
            return
        if answer.reply_id != self._state.reply_id:
            raise ResumeError(
                f"the interrupt is about reply {answer.reply_id!r}, the agent is in "
                f"{self._state.reply_id!r}"
            )
        yield self._recorder.take(answer)
        for call in self._state.get_unfinished_tool_calls(self._recorder.name):
            if call.apply is None:
                continue
            dropped = await self._toolkit.drop_changes(call, self._state)
            for event in self._recorder.interrupt_held_call(call, dropped.objection):
                yield event
        message = self._parts.agent.react_config.interruption_message
        for event in self._parts.ending.interrupted(message):
            yield event

    def _keep(self, schema: StructuredSchema | None) -> None:
        if schema is not None:
            self._state.reply_context.structured_schema = schema


def refuse_while_waiting(state: AgentState, name: str) -> None:
    """Refuse messages while calls of the agent `name` wait for answers.

    Raises:
        ResumeError: Some do.
    """
    waiting = state.get_awaiting_tool_calls(name)
    if waiting:
        ids = ", ".join(repr(call.id) for call in waiting)
        raise ResumeError(
            f"{name} waits for answers to {ids}: answer them with "
            "UserConfirmResultEvent or ExternalExecutionResultEvent, or end the reply with "
            "UserInterruptEvent, before the next message"
        )


def listed(inputs: Msg | list[Msg] | None) -> list[Msg]:
    """Return the messages of an input.

    Raises:
        ResumeError: Something in it is not a message.
    """
    if inputs is None:
        return []
    messages = list(inputs) if isinstance(inputs, list) else [inputs]
    for message in messages:
        if not isinstance(message, Msg):
            raise ResumeError(
                f"{shortened(repr(message))} is not a message: wrap text as `UserMsg(name, text)`, "
                "and give an answer as one event"
            )
    return messages
