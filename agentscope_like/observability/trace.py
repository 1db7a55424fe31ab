"""Provides the middleware that traces an agent."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from typing import Any
from weakref import WeakKeyDictionary

from typing_extensions import override

from agentscope_like.exception import ModelError
from agentscope_like.message import ToolResponse, ToolResultState
from agentscope_like.middleware import MiddlewareBase
from agentscope_like.observability.handler import BaseTraceHandler
from agentscope_like.observability.manager import ObservabilityManager
from agentscope_like.observability.reply import TracedReply
from agentscope_like.observability.run import Run, in_steps
from agentscope_like.types import ErrorType

__all__ = ["TraceMiddleware"]


class TraceMiddleware(MiddlewareBase):
    """Sends an agent's trace events to a manager, always as pairs of start and end.

    Make it the agent's first middleware, so that it sees the changes of the others. Several agents
    may share one; an agent that a tool runs becomes part of that tool's run.

    Args:
        manager: Gets all events; a single handler gets a new manager.
    """

    def __init__(self, manager: BaseTraceHandler) -> None:
        if not isinstance(manager, ObservabilityManager):
            manager = ObservabilityManager([manager])
        self._manager = manager
        self._replies: WeakKeyDictionary[Any, TracedReply] = WeakKeyDictionary()

    @override
    async def on_reply(
        self,
        agent: Any,
        input_kwargs: dict[str, Any],
        next_handler: Callable[..., AsyncGenerator[Any, None]],
    ) -> AsyncGenerator[Any, None]:
        reply = TracedReply(
            self._manager,
            agent.state,
            agent_name=agent.name,
            key=await self.get_middleware_key(),
            parent=self._manager.current_run_id(),
        )
        self._replies[agent] = reply
        try:
            async with aclosing(in_steps(next_handler(), reply.agent.activate)) as events:
                async for event in events:
                    reply.hear(event)
                    yield event
        except BaseException as error:
            reply.fail(error)
            raise
        else:
            reply.end()
        finally:
            self._replies.pop(agent, None)

    @override
    async def on_acting(
        self,
        agent: Any,
        input_kwargs: dict[str, Any],
        next_handler: Callable[..., AsyncGenerator[Any, None]],
    ) -> AsyncGenerator[Any, None]:
        run = self._replies[agent].begin_call(input_kwargs["tool_call"])
        response: ToolResponse | None = None
        try:
            async with aclosing(in_steps(next_handler(), run.activate)) as items:
                async for item in items:
                    if isinstance(item, ToolResponse):
                        response = item
                    yield item
        except BaseException as error:
            if response is None:
                run.fail(error)
            raise
        finally:
            state = ToolResultState.RUNNING if response is None else response.state
            run.end(response, state=state)

    @override
    async def on_model_call(
        self,
        agent: Any,
        input_kwargs: dict[str, Any],
        next_handler: Callable[..., Awaitable[Any]],
    ) -> Any:
        run = self._begin_llm(agent, input_kwargs)
        try:
            with run.activate():
                answer = await next_handler()
        except BaseException as error:
            run.fail(error)
            raise
        if isinstance(answer, AsyncGenerator):
            return _streamed(answer, run)
        run.end(answer)
        return answer

    def _begin_llm(self, agent: Any, input_kwargs: dict[str, Any]) -> Run:
        model_name, messages = input_kwargs["current_model"].model, input_kwargs["messages"]
        reply = self._replies.get(agent)
        if reply is not None:
            step_name = f"round {agent.state.cur_iter}"
            return reply.begin_llm(model_name, messages, step_name)
        return Run(  # the context is being compressed between two replies
            self._manager,
            "llm",
            agent.state.session_id,
            model_name,
            list(messages),
            parent=self._manager.current_run_id(),
            step_name="compression",
        )


async def _streamed(stream: AsyncGenerator[Any, None], run: Run) -> AsyncGenerator[Any, None]:
    """Yield a model's answer; it ends well only with its last part, which is complete."""
    try:
        async with aclosing(in_steps(stream, run.activate)) as parts:
            async for part in parts:
                if part.is_last:
                    run.end(part)
                yield part
    except BaseException as error:
        run.fail(error)
        raise
    run.fail(ModelError("the answer broke off before its last part", type=ErrorType.UPSTREAM))
