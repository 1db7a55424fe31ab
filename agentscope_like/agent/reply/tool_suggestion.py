"""Selects the tools that the model sees in a reply."""

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
from agentscope_like.tool import shown_name

__all__ = ["ToolSelector", "ToolSuggestion"]

_log = logging.getLogger(__name__)

ToolSelector: TypeAlias = Callable[
    [list[Msg], list[dict[str, Any]]], Awaitable[Collection[str] | None]
]
"""`async (messages, schemas) -> names`: the tools useful for these messages; None for all."""


class ToolSuggestion(MiddlewareBase):
    """Shows the model only the tools that a function selects (seed 000, 3.1).

    The function is called once in each reply, before the model. Its selection saves context; it
    neither allows nor denies anything: the model can show the other tools of its toolkit with
    `tool_expand_tools`, until the reply ends.

    Args:
        select: Selects tools; if it raises a `ModelError`, the reply ends as if the model had
            failed. Unknown names are logged and ignored.
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
        """Select the tools before the first round of a reply.

        Args:
            agent: The agent.
            input_kwargs: Not changed.
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
            raise ConfigurationError(f"the tool selector returned a name: return [{chosen!r}]")
        wanted = set(map(shown_name, chosen))
        for name in sorted(wanted.difference(known)):
            _log.warning("the suggested tool %r does not exist%s", name, nearest(name, known))
        state.reply_context.suggested_tools = [
            agent.toolkit.canonical_name(name) for name in known if name in wanted
        ]
