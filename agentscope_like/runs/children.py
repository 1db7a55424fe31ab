"""Defines `Children`, with which an agent gives tasks to other agents."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from typing import Any

from typing_extensions import override

from agentscope_like.agent import Agent, AgentInput
from agentscope_like.delegation import (
    AgentAwait,
    AgentDelegate,
    AgentList,
    Delegator,
    ResultFiles,
    TaskReturn,
    asked_of,
)
from agentscope_like.event import AgentEvent, UserInterruptEvent
from agentscope_like.exception import ConfigurationError
from agentscope_like.journal import Journal
from agentscope_like.message import Msg, UserMsg
from agentscope_like.middleware import MiddlewareBase
from agentscope_like.runs.awaited_calls import AwaitedCalls
from agentscope_like.runs.background_tasks import BackgroundTasks
from agentscope_like.runs.child_worker import ANSWERS, AgentMaker, ChildWorker, is_visible
from agentscope_like.runs.inherited import InheritedPolicy
from agentscope_like.runs.parent_stream import ParentStream
from agentscope_like.state import AgentState, ChildTask
from agentscope_like.tool import ToolBase

__all__ = ["Children"]


class Children(MiddlewareBase):
    """Gives an agent the tools of delegation, and runs its child tasks in the background.

    It is a middleware of that agent alone. The questions of children are events of the agent's
    stream, with the path to the child in `metadata["child_tasks"]`; answer them, with the reply id
    that they have, as inputs of the agent. A stream ends when the agent and all its children have
    ended or wait. No task outlives the stream; a reply that ends cancels the tasks that it left.

    Args:
        delegator: The agent, and the others.
        make: Makes the agents of tasks.
        results: Keeps the results in files.
        journal_of: Opens the journal of a task; None to record none.
        policies: Those of the agents above it, under which the calls of those below it are decided.
        own_tools: Further tools of the agent.
    """

    def __init__(
        self,
        delegator: Delegator,
        make: AgentMaker,
        *,
        results: ResultFiles | None = None,
        journal_of: Callable[[ChildTask], Journal] | None = None,
        policies: Sequence[InheritedPolicy] = (),
        own_tools: Sequence[ToolBase] = (),
    ) -> None:
        self._delegator = delegator
        self._make = make
        self._results = results
        self._journal_of = journal_of
        self._policies = tuple(policies)
        self._own_tools = tuple(own_tools)
        self._tasks: BackgroundTasks | None = None
        self._state: AgentState | None = None

    @override
    async def list_tools(self) -> list[Any]:
        """Return the tools of delegation that the agent's profile shows."""
        delegator = self._delegator
        tools = (AgentList(delegator), AgentDelegate(delegator, self), AgentAwait(delegator))
        shown = [tool for tool in tools if delegator.profile.sees(tool.name)]
        return [*shown, *self._own_tools]

    def start(self, task: ChildTask, state: AgentState) -> None:
        """Start a task.

        Raises:
            ConfigurationError: The agent of this state is not replying.
        """
        if self._tasks is None or state is not self._state:
            raise ConfigurationError(
                "a child task is started by a call of the agent whose middleware this is, while it "
                "replies: give each agent `Children` of its own"
            )
        state.children.tasks = [*state.children.of_reply(state.reply_id), task]
        self._tasks.begin(task, UserMsg(self._delegator.profile.id, asked_of(task)))

    @override
    async def on_reply(
        self,
        agent: Agent,
        input_kwargs: dict[str, Any],
        next_handler: Callable[..., AsyncGenerator[AgentEvent | Msg, None]],
    ) -> AsyncGenerator[AgentEvent | Msg, None]:
        """Pass on the agent's events and its children's questions, and answer what it awaits."""
        inputs: AgentInput = input_kwargs["inputs"]
        self._state = state = agent.state
        self._tasks = tasks = self._background(state)
        awaited = AwaitedCalls(agent.name, state, self._delegator.account)
        stream = ParentStream(agent, tasks, awaited)
        try:
            core = self._begun(inputs, tasks, next_handler)
            while True:
                if core is not None:
                    async with aclosing(stream.passed(core)) as events:
                        async for event in events:
                            yield event
                if stream.is_over:
                    break
                if stream.answers is None:  # once, when the input was taken
                    self._resume(inputs, tasks)
                async with aclosing(stream.settled()) as events:
                    async for event in events:
                        yield event
                if stream.answers is None:
                    break
                core = next_handler(inputs=stream.answers, structured_schema=None)
            await tasks.stop()
            yield stream.last
        finally:
            self._tasks = None
            await tasks.stop()
            stream.cancel_open()

    def _begun(
        self,
        inputs: AgentInput,
        tasks: BackgroundTasks,
        next_handler: Callable[..., AsyncGenerator[AgentEvent | Msg, None]],
    ) -> AsyncGenerator[AgentEvent | Msg, None] | None:
        """Return the agent's stream; None if the input is an answer to one of its children."""
        if isinstance(inputs, ANSWERS) and self._state is not None:
            owner = self._state.children.owner(inputs.reply_id)
            if owner is not None and inputs.reply_id != self._state.reply_id:
                tasks.begin(owner, inputs)
                return None
        return next_handler()

    def _resume(self, inputs: AgentInput, tasks: BackgroundTasks) -> None:
        """Resume the tasks that were at work when the state was saved.

        Where the agent is told nothing, those that wait ask again.
        """
        if self._state is None or isinstance(inputs, Msg | list | UserInterruptEvent):
            return
        for task in self._state.children.open():
            if not tasks.has(task) and (task.status == "running" or inputs is None):
                tasks.begin(task, None)

    def _background(self, state: AgentState) -> BackgroundTasks:
        policies = (*self._policies, InheritedPolicy(state))

        def children_of(task: ChildTask, delegator: Delegator) -> MiddlewareBase:
            policy = delegator.profile.workspace
            returning = TaskReturn(task, lambda path: is_visible(policy, path))
            return Children(
                delegator,
                self._make,
                results=self._results,
                journal_of=self._journal_of,
                policies=policies,
                own_tools=[returning],
            )

        worker = ChildWorker(
            self._delegator, self._make, policies, children_of, self._results, self._journal_of
        )
        tasks = BackgroundTasks(lambda task, said: worker.work(task, said, state, tasks.tell))
        return tasks
