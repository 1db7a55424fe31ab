"""Merges the stream of an agent with the questions of its child tasks."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing

from agentscope_like.agent import Agent
from agentscope_like.event import (
    AgentEvent,
    ExternalExecutionResultEvent,
    ReplyStartEvent,
    RequireExternalExecutionEvent,
)
from agentscope_like.message import AssistantMsg, Msg
from agentscope_like.runs.awaited_calls import AwaitedCalls, is_await
from agentscope_like.runs.background_tasks import BackgroundTasks
from agentscope_like.runs.child_outcome import cancelled, end

__all__ = ["ParentStream"]

WAITING = "I'm waiting for an answer to a question of an agent that works for me."


class ParentStream:
    """One stream of an agent that has child tasks.

    Args:
        agent: The agent.
        tasks: The child tasks at work.
        awaited: Its calls of `agent.await`.

    Attributes:
        answers: The results of awaited tasks that the agent was not told of yet; None for none.
        last: The message that ends the stream.
    """

    def __init__(self, agent: Agent, tasks: BackgroundTasks, awaited: AwaitedCalls) -> None:
        self._agent = agent
        self._state = agent.state
        self._tasks = tasks
        self._awaited = awaited
        self.answers: ExternalExecutionResultEvent | None = None
        self.last = AssistantMsg(agent.name, WAITING, id=self._state.reply_id)

    @property
    def is_over(self) -> bool:
        """Return whether the reply has ended."""
        message = self._state.reply_message(self._agent.name)
        return message is None or message.finished_reason is not None

    async def passed(
        self, core: AsyncGenerator[AgentEvent | Msg, None]
    ) -> AsyncGenerator[AgentEvent, None]:
        """Yield the agent's events, and the children's questions between them."""
        async with aclosing(core) as events:
            async for event in events:
                if isinstance(event, Msg):
                    self.last = event
                    continue
                if isinstance(event, ReplyStartEvent):
                    self.cancel_open()
                if not _is_own_wait(event):
                    yield event
                for told in self._tasks.said():
                    yield told

    async def settled(self) -> AsyncGenerator[AgentEvent, None]:
        """Yield questions until a call of `agent.await` has its answer, or nothing is at work."""
        while True:
            for event in self._tasks.said():
                yield event
            self.answers = self._awaited.answers()
            if self.answers is not None or self._tasks.is_idle:
                return
            await self._tasks.news(self._awaited.seconds_left())

    def cancel_open(self) -> None:
        """End the tasks of replies that are over, none of which is at work."""
        for task in self._state.children.open():
            if self.is_over or task.reply_id != self._state.reply_id:
                end(task, cancelled())


def _is_own_wait(event: AgentEvent) -> bool:
    if not isinstance(event, RequireExternalExecutionEvent):
        return False
    return all(is_await(call) for call in event.tool_calls)
