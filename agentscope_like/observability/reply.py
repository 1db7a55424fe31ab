"""Derives trace events from the events of one stream of an agent."""

from __future__ import annotations

from typing import Any

from agentscope_like.event import (
    EventBase,
    ReplyEndEvent,
    RequireExternalExecutionEvent,
    RequireUserConfirmEvent,
    ToolResultEndEvent,
    ToolResultStartEvent,
)
from agentscope_like.exception import DeveloperOrientedException, ModelError
from agentscope_like.message import Msg, ToolCallBlock, ToolResultState
from agentscope_like.observability.handler import BaseTraceHandler
from agentscope_like.observability.pause import (
    PausedCall,
    PausedReply,
    forget,
    paused_reply,
    remember,
)
from agentscope_like.observability.run import Run
from agentscope_like.permission import PermissionDecision
from agentscope_like.state import AgentState
from agentscope_like.types import ErrorInfo

__all__ = ["TracedReply"]

LEFT_OPEN = "it was left open: the reply ended before it did"


class TracedReply:
    """Traces the chain, the agent, its message and its calls during one stream.

    Args:
        handler: Gets the trace events.
        state: The agent's state.
        agent_name: The agent.
        key: The key of the link data in `AgentState.middle_context`.
        parent: The run that the agent works for; without one it is the outermost agent, and gets a
            chain run around it.

    Attributes:
        agent: The agent's run.
    """

    def __init__(
        self,
        handler: BaseTraceHandler,
        state: AgentState,
        *,
        agent_name: str,
        key: str,
        parent: str | None,
    ) -> None:
        self._handler = handler
        self._state = state
        self._name = agent_name
        self._key = key
        self._paused = paused_reply(state.middle_context, key, agent_name)
        session_id = state.session_id
        links = _links(self._paused.carrier)
        self._chain: Run | None = None
        if parent is None:
            self._chain = Run(handler, "chain", session_id, parent=None, links=links)
            parent = self._chain.id
        self.agent = Run(handler, "agent", session_id, agent_name, parent=parent, links=links)
        self._children: list[Run] = []
        self._message: Run | None = None
        self._written: Msg | None = None
        self._decisions: dict[str, tuple[str, PermissionDecision | None]] = {}
        self._ran: set[str] = set()
        self._end: ReplyEndEvent | None = None

    def begin_llm(self, model_name: str, messages: list[Any], step_name: str) -> Run:
        """Trace the start of a model call."""
        run = Run(
            self._handler,
            "llm",
            self._state.session_id,
            model_name,
            list(messages),
            parent=self.agent.id,
            step_name=step_name,
        )
        self._children.append(run)
        return run

    def begin_call(self, call: ToolCallBlock) -> Run:
        """Trace the start of a tool call."""
        self._ran.add(call.id)
        return self._call(call.id, call.name, call.input, call.decision)

    def hear(self, event: object) -> None:
        """Trace what an event of the agent implies."""
        if isinstance(event, Msg):
            self._written = event
            return
        if isinstance(event, EventBase) and event.is_of_child:
            return  # the child's own trace tells it
        if self._message is None and (reply_id := getattr(event, "reply_id", None)):
            self._begin_message(reply_id)
        match event:
            case ToolResultStartEvent():
                told = event.tool_call_name, event.decision
                self._decisions[event.tool_call_id] = told
            case ToolResultEndEvent() if event.tool_call_id not in self._ran:
                self._tell_unrun(event)
            case RequireUserConfirmEvent() | RequireExternalExecutionEvent():
                for call in event.tool_calls:
                    self._pause_call(call)
            case ReplyEndEvent():
                self._end = event
                forget(self._state.middle_context, self._key, self._name)
            case _:
                pass

    def end(self) -> None:
        """Trace the end of the stream: the reply has ended or waits."""
        self._end_children(DeveloperOrientedException(LEFT_OPEN))
        error = self._end.error if self._end is not None else None
        if error is not None:
            self._fail_outer(_as_exception(error))
            return
        reason = self._end.finished_reason.value if self._end is not None else None
        waits = self._waits()
        self.agent.end(is_paused=waits, finished_reason=reason, reply_id=self._state.reply_id)
        if self._chain is not None:
            self._chain.end(is_paused=waits)

    def fail(self, error: BaseException) -> None:
        """Trace that the stream was aborted, by an error or by its consumer.

        Closing a stream that waits or is complete is not an abort.
        """
        if isinstance(error, GeneratorExit) and (self._end is not None or self._waits()):
            self.end()
            return
        self._end_children(error)
        self._fail_outer(error)

    def _waits(self) -> bool:
        return self._end is None and self._state.has_awaiting_tool_calls(self._name)

    def _fail_outer(self, error: BaseException) -> None:
        self.agent.fail(error)
        if self._chain is not None:
            self._chain.fail(error)

    def _end_children(self, error: BaseException) -> None:
        for run in reversed(self._children):
            run.fail(error)
        if self._message is not None:
            self._message.end(self._written, is_paused=self._waits())

    def _begin_message(self, reply_id: str) -> None:
        self._message = Run(
            self._handler,
            "message",
            self._state.session_id,
            self._name,
            parent=self.agent.id,
            message_id=reply_id,
        )

    def _call(
        self, call_id: str, name: str, arguments: str, decision: PermissionDecision | None
    ) -> Run:
        paused = self._paused.calls.pop(call_id, None)
        run = Run(
            self._handler,
            "tool",
            self._state.session_id,
            name,
            arguments,
            parent=self.agent.id,
            links=_links(paused.carrier) if paused is not None else (),
            step_name=f"round {self._state.cur_iter}",
            tool_call_id=call_id,
            decision=decision,
        )
        self._children.append(run)
        return run

    def _tell_unrun(self, event: ToolResultEndEvent) -> None:
        """Trace a call that was refused, or that ran elsewhere."""
        call_id = event.tool_call_id
        paused = self._paused.calls.get(call_id)
        name, decision = self._decisions.get(call_id, (paused.name if paused else "", None))
        call = self._known_call(call_id)
        if call is not None:
            name, decision = call.name, decision or call.decision
        run = self._call(call_id, name, call.input if call is not None else "", decision)
        run.end(None, state=event.state)

    def _known_call(self, call_id: str) -> ToolCallBlock | None:
        message = self._state.reply_message(self._name)
        for block in message.content if message is not None else ():
            if isinstance(block, ToolCallBlock) and block.id == call_id:
                return block
        return None

    def _pause_call(self, call: ToolCallBlock) -> None:
        run = self._call(call.id, call.name, call.input, call.decision)
        waiting = PausedCall(name=call.name, carrier=run.carrier())
        run.end(None, is_paused=True, state=ToolResultState.RUNNING)
        self._paused = PausedReply(
            reply_id=self._state.reply_id,
            carrier=self.agent.carrier(),
            calls={**self._paused.calls, call.id: waiting},
        )
        if self._paused.carrier or waiting.carrier:
            remember(self._state.middle_context, self._key, self._name, self._paused)


def _links(carrier: dict[str, str]) -> list[dict[str, str]]:
    return [carrier] if carrier else []


def _as_exception(error: ErrorInfo) -> ModelError:
    return ModelError(error.message, type=error.type)
