"""The agent: reason, act, park, resume."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import aclosing
from typing import TypeAlias

from agentscope_like.agent.acting import Acting
from agentscope_like.agent.answers import check_confirmations, check_results, new_rules
from agentscope_like.agent.config import ModelConfig, ReActConfig
from agentscope_like.agent.ending import BROKEN_OFF, NEVER_RAN, ReplyEnding
from agentscope_like.agent.reasoning import Reasoning
from agentscope_like.agent.recorder import ReplyRecorder
from agentscope_like.event import (
    AgentEvent,
    ConfirmResult,
    ExternalExecutionResultEvent,
    ReplyStartEvent,
    UserConfirmResultEvent,
    UserInterruptEvent,
)
from agentscope_like.exception import ConfigurationError, ModelError, ResumeError
from agentscope_like.message import (
    AssistantMsg,
    ContentBlock,
    DataBlock,
    Msg,
    SystemMsg,
    TextBlock,
    ToolCallBlock,
    ToolCallState,
    ToolResultBlock,
    ToolResultState,
)
from agentscope_like.model import ChatModelBase
from agentscope_like.permission import PermissionEngine
from agentscope_like.state import AgentState, ReplyContext
from agentscope_like.tool import DecidedCall, Toolkit
from agentscope_like.tool.arguments import shortened

__all__ = ["Agent", "AgentInput"]

AgentInput: TypeAlias = (
    Msg
    | list[Msg]
    | UserConfirmResultEvent
    | UserInterruptEvent
    | ExternalExecutionResultEvent
    | None
)

WAITING = "I'm waiting for your permission or the external execution to finish."


class Agent:
    """An agent whose every tool call goes through the guarded path of its toolkit.

    Args:
        name: Its name, which its messages carry.
        system_prompt: What the model is told first.
        model: The model that reasons.
        toolkit: The tools; none by default.
        state: The state to go on from; a new one by default.
        model_config: Retries and the fallback model.
        react_config: Rounds and interruptions.

    Attributes:
        state: The state; it round-trips through JSON whenever no reply is being streamed.
    """

    def __init__(
        self,
        name: str,
        system_prompt: str,
        model: ChatModelBase,
        toolkit: Toolkit | None = None,
        *,
        state: AgentState | None = None,
        model_config: ModelConfig | None = None,
        react_config: ReActConfig | None = None,
    ) -> None:
        self._replying = False
        if not isinstance(model, ChatModelBase):
            raise ConfigurationError(
                f"`model` is {model!r}: give a model, such as OpenAIChatModel({model!r})"
            )
        self.name = name
        self.system_prompt = system_prompt
        self.model = model
        self.toolkit = toolkit if toolkit is not None else Toolkit()
        self._state = state if state is not None else AgentState()
        self.model_config = model_config if model_config is not None else ModelConfig()
        self.react_config = react_config if react_config is not None else ReActConfig()
        self._assemble()

    @property
    def state(self) -> AgentState:
        """Return the state."""
        return self._state

    @state.setter
    def state(self, state: AgentState) -> None:
        if self._replying:
            raise ResumeError(f"{self.name} is replying: give it another state when it has ended")
        self._state = state
        self._assemble()

    def _assemble(self) -> None:
        """Put the parts together for the name, the state and the toolkit of now."""
        self._recorder = ReplyRecorder(self._state, self.name)
        self._acting = Acting(self.toolkit, self._recorder)
        self._ending = ReplyEnding(self._recorder)

    async def observe(self, msgs: Msg | list[Msg] | None = None) -> None:
        """Take messages into the context without replying.

        Raises:
            ResumeError: A reply waits for an answer; the messages would stand in its middle. Or
                what is given is no message.
        """
        self._refuse_while_waiting()
        self.state.context.extend(_listed(msgs))

    async def reply(self, inputs: AgentInput = None) -> Msg:
        """Reply and return the message; where the reply waits for somebody, one that says so.

        Args:
            inputs: As in `reply_stream`.
        """
        async with aclosing(self.reply_stream(inputs)) as events:
            async for _ in events:
                pass
        if self.state.has_awaiting_tool_calls(self.name):
            return AssistantMsg(self.name, WAITING, id=self.state.reply_id)
        return self._recorder.message

    async def reply_stream(
        self, inputs: AgentInput = None, *, yield_final_msg: bool = False
    ) -> AsyncGenerator[AgentEvent | Msg, None]:
        """Reply and yield what happens, as it happens.

        A stream that parks ends without `ReplyEndEvent`: calls then wait for an answer, which is
        given as the `inputs` of a further call, in this process or a later one.

        Args:
            inputs: New messages; or answers to the calls that wait, all or some, in any order; or
                an interrupt of the reply that waits; or None to go on: a reply that waits asks
                again.
            yield_final_msg: Whether the reply's message is yielded last.

        Raises:
            ResumeError: The input does not fit what the agent waits for. Nothing was done.
            RuleError: A rule could never do what it says. Nothing was done.
        """
        state = self._state
        if self._replying or not state.take_turn():
            raise ResumeError(
                f"{self.name}, or another agent on its state, is replying already: wait for the "
                "stream to end, or close it"
            )
        self._replying = True
        self._assemble()
        try:
            async with aclosing(self._interruptible(inputs)) as events:
                async for event in events:
                    yield event
            if yield_final_msg:
                yield self._recorder.message
        finally:
            self._replying = False
            state.end_turn()
            self._settle()

    async def _interruptible(self, inputs: AgentInput) -> AsyncGenerator[AgentEvent, None]:
        try:
            async with aclosing(self._replied(inputs)) as events:
                async for event in events:
                    yield event
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is not None and not self.react_config.interruption_raise_cancelled_error:
                task.uncancel()
            for event in self._interrupted():
                yield event
            if self.react_config.interruption_raise_cancelled_error:
                raise

    def _settle(self) -> None:
        """Close what an abandoned stream left open, so that nothing is taken for running."""
        for call in self.state.get_unfinished_tool_calls(self.name):
            if call.state in (ToolCallState.ALLOWED, ToolCallState.FINISHED):
                begun = self._recorder.result(call.id) is not None
                text = BROKEN_OFF if begun else NEVER_RAN
                for _ in self._recorder.whole_result(call, text, ToolResultState.INTERRUPTED):
                    pass

    async def _replied(self, inputs: AgentInput) -> AsyncGenerator[AgentEvent, None]:
        match inputs:
            case UserConfirmResultEvent():
                begun = self._confirmed(inputs)
            case ExternalExecutionResultEvent():
                begun = self._executed(inputs)
            case UserInterruptEvent():
                for event in self._user_interrupt(inputs):
                    yield event
                return
            case _:
                begun = self._told(_listed(inputs))
        async with aclosing(begun) as events:
            async for event in events:
                yield event
        if self._is_over() or self.state.has_awaiting_tool_calls(self.name):
            return
        async with aclosing(self._rounds()) as events:
            async for event in events:
                yield event

    def _is_over(self) -> bool:
        message = self.state.reply_message(self.name)
        return message is None or message.finished_reason is not None

    # How a stream begins

    def _interrupted(self) -> Iterator[AgentEvent]:
        if not self._is_over():
            yield from self._ending.interrupted(self.react_config.interruption_message)

    async def _told(self, messages: list[Msg]) -> AsyncGenerator[AgentEvent, None]:
        if messages:
            self._refuse_while_waiting()
        self.toolkit.check_rules(self.state)
        awaiting = self.state.get_awaiting_tool_calls(self.name)
        if awaiting:
            for event in self._acting.waiting(awaiting):
                yield event
            return
        for event in self._recorder.interrupt_open_calls(BROKEN_OFF, NEVER_RAN):
            yield event
        if not messages and not self._is_over():
            return
        self.state.reply_context = ReplyContext()
        self.state.context.extend(messages)
        yield self._recorder.take(
            ReplyStartEvent(
                session_id=self.state.session_id, reply_id=self.state.reply_id, name=self.name
            )
        )

    async def _confirmed(self, answer: UserConfirmResultEvent) -> AsyncGenerator[AgentEvent, None]:
        self.toolkit.check_rules(self.state)
        answered = check_confirmations(answer, self._recorder, self.toolkit)
        engine = PermissionEngine(self.state.permission_context)
        for rule in new_rules(answer.confirm_results):
            engine.add_rule(rule)
        yield self._recorder.take(answer)
        async with aclosing(self._acting.act_on_answers(answered)) as events:
            async for event in events:
                yield event
        if new_rules(answer.confirm_results):
            async with aclosing(self._acting.finish(await self._spared())) as events:
                async for event in events:
                    yield event
        for event in self._stopped_by([result for _, result in answered]):
            yield event

    async def _spared(self) -> list[DecidedCall]:
        """Return the waiting calls that a newly remembered rule lets run, or refuses."""
        spared: list[DecidedCall] = []
        for call in self.state.get_awaiting_tool_calls(self.name):
            if call.state is ToolCallState.ASKING:
                shown = (call.decision, call.digest, call.suggested_rules)
                decided = await self.toolkit.decide(call, self.state)
                if call.state is ToolCallState.ASKING:  # the person answers what they were shown
                    call.decision, call.digest, call.suggested_rules = shown
                else:
                    spared.append(decided)
        return spared

    def _stopped_by(self, results: Sequence[ConfirmResult]) -> Iterator[AgentEvent]:
        if self.react_config.stop_on_reject and not all(r.confirmed for r in results):
            for call in self._pending():
                text = "Not run: the user rejected a call before it."
                yield from self._recorder.whole_result(call, text, ToolResultState.DENIED)

    async def _executed(
        self, answer: ExternalExecutionResultEvent
    ) -> AsyncGenerator[AgentEvent, None]:
        self.toolkit.check_rules(self.state)
        results = check_results(answer, self._recorder)
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

    def _user_interrupt(self, answer: UserInterruptEvent) -> Iterator[AgentEvent]:
        if not self.state.get_unfinished_tool_calls(self.name):
            return
        if answer.reply_id != self.state.reply_id:
            raise ResumeError(
                f"the interrupt is about reply {answer.reply_id!r}, the agent is in "
                f"{self.state.reply_id!r}"
            )
        yield self._recorder.take(answer)
        yield from self._interrupted()

    # Rounds

    async def _rounds(self) -> AsyncGenerator[AgentEvent, None]:
        """Act on what is pending, reason, act, until the model calls nothing more."""
        empty = 0
        async with aclosing(self._act()) as events:
            async for event in events:
                yield event
        while not self.state.has_awaiting_tool_calls(self.name):
            if self.state.cur_iter >= self.react_config.max_iters:
                for event in self._ending.exceeded(self.react_config.max_iters):
                    yield event
                return
            self.state.reply_context.cur_iter += 1
            before = len(self._recorder.message.content)
            async with aclosing(self._reason()) as events:
                async for event in events:
                    yield event
            if self._is_over():
                return
            said = any(map(_says_something, self._recorder.message.content[before:]))
            empty = 0 if said else empty + 1
            for event in self._ending.after_round(bool(self._pending()), empty):
                yield event
            if self._is_over():
                return
            async with aclosing(self._act()) as events:
                async for event in events:
                    yield event

    async def _reason(self) -> AsyncGenerator[AgentEvent, None]:
        messages = [SystemMsg("system", self.system_prompt), *self.state.context]
        tools = await self.toolkit.get_tool_schemas()
        reasoning = Reasoning(self.model, self.model_config, self._recorder)
        try:
            async with aclosing(reasoning.reason(messages, tools)) as events:
                async for event in events:
                    yield event
        except ModelError as error:
            for event in self._ending.failed(error):
                yield event

    async def _act(self) -> AsyncGenerator[AgentEvent, None]:
        async with aclosing(self._acting.act(self._pending())) as events:
            async for event in events:
                yield event

    def _pending(self) -> list[ToolCallBlock]:
        return [c for c in self._recorder.calls() if c.state is ToolCallState.PENDING]

    def _refuse_while_waiting(self) -> None:
        waiting = self.state.get_awaiting_tool_calls(self.name)
        if waiting:
            ids = ", ".join(repr(call.id) for call in waiting)
            raise ResumeError(
                f"{self.name} waits for answers to {ids}: answer them with "
                "UserConfirmResultEvent or ExternalExecutionResultEvent, or end the reply with "
                "UserInterruptEvent, before the next message"
            )


def _says_something(block: ContentBlock) -> bool:
    if isinstance(block, TextBlock):
        return bool(block.text.strip())
    return isinstance(block, ToolCallBlock | DataBlock)


def _listed(inputs: Msg | list[Msg] | None) -> list[Msg]:
    if inputs is None:
        return []
    messages = list(inputs) if isinstance(inputs, list) else [inputs]
    for message in messages:
        if not isinstance(message, Msg):
            raise ResumeError(
                f"{shortened(repr(message))} is no message: wrap text as `UserMsg(name, text)`, "
                "and give an answer as one event"
            )
    return messages
