"""Chooses the tools that the model is shown in a reply."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection
from contextlib import aclosing
from typing import Any, TypeAlias

from typing_extensions import override

from agentscope_like.agent.replying_agent import ReplyingAgent
from agentscope_like.event import AgentEvent
from agentscope_like.exception import ConfigurationError
from agentscope_like.message import Msg
from agentscope_like.middleware import MiddlewareBase
from agentscope_like.nearest import nearest

__all__ = ["ToolSelector", "ToolSuggestion"]

_log = logging.getLogger(__name__)

ToolSelector: TypeAlias = Callable[
    [list[Msg], list[dict[str, Any]]], Awaitable[Collection[str] | None]
]
"""`async (messages, schemas) -> names`: the tools of use for these messages; None for all."""


class ToolSuggestion(MiddlewareBase):
    """Has a function choose of which tools the model is told (seed 000, 3.1).

    It is asked once for each reply, before the model is. The choice saves context; it permits
    nothing and forbids nothing: the model may have the other tools of its toolkit shown with
    `tool_expand_tools`, until the reply ends.

    Args:
        select: Chooses; a `ModelError` that it raises ends the reply, as a failure of the model
            does. Names that there are not are logged and left out.
    """

    def __init__(self, select: ToolSelector) -> None:
        self._select = select

    @override
    async def on_reasoning(
        self,
        agent: ReplyingAgent,
        input_kwargs: dict[str, Any],
        next_handler: Callable[..., AsyncGenerator[AgentEvent, None]],
    ) -> AsyncGenerator[AgentEvent, None]:
        """Have tools chosen before the first round of a reply.

        Args:
            agent: The agent.
            input_kwargs: Left as they are.
            next_handler: The next layer.

        Yields:
            Events of the round.
        """
        del input_kwargs
        if agent.state.cur_iter == 1:
            await self._suggest(agent)
        async with aclosing(next_handler()) as events:
            async for event in events:
                yield event

    async def _suggest(self, agent: ReplyingAgent) -> None:
        state = agent.state
        schemas = await agent.toolkit.get_tool_schemas(state.tool_context.activated_groups)
        known = [schema["function"]["name"] for schema in schemas]
        messages = [message for message in state.context if message.content]
        chosen = await self._select(messages, schemas)
        if chosen is None:
            return
        if isinstance(chosen, str):
            raise ConfigurationError(f"what chooses tools returned a name: return [{chosen!r}]")
        wanted = set(chosen)
        for name in sorted(wanted.difference(known)):
            _log.warning("the suggested tool %r is not there%s", name, nearest(name, known))
        state.reply_context.suggested_tools = [name for name in known if name in wanted]
