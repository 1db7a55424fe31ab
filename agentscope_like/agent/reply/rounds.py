"""Runs the rounds of a reply until the model calls no more tools."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

from agentscope_like.agent.reply.ending import NOT_RUN
from agentscope_like.agent.reply.prompt_context import PromptContext
from agentscope_like.agent.reply.reasoning import Reasoning
from agentscope_like.agent.reply.reply_parts import ReplyParts
from agentscope_like.agent.reply.structured_output import FINISHING_TOOL
from agentscope_like.event import AgentEvent
from agentscope_like.exception import ModelError
from agentscope_like.message import ContentBlock, DataBlock, TextBlock, ToolCallBlock
from agentscope_like.middleware import hook_onion
from agentscope_like.tool import ToolChoice

__all__ = ["Rounds"]


class Rounds:
    """Continues a reply until it ends or waits for an answer.

    Args:
        parts: The reply's.
    """

    def __init__(self, parts: ReplyParts) -> None:
        self._parts = parts
        self._agent = parts.agent
        self._recorder = parts.recorder
        self._ending = parts.ending
        self._state = parts.state
        self._care = PromptContext(parts)
        self._reasoning = Reasoning(
            parts.calls, parts.recorder, canonical=parts.toolkit.canonical_name
        )

    async def go(self) -> AsyncGenerator[AgentEvent, None]:
        """Run pending calls, call the model, and repeat until it calls no more tools."""
        empty = 0
        async with aclosing(self._act()) as events:
            async for event in events:
                yield event
        while not self._state.has_awaiting_tool_calls(self._recorder.name):
            for event in self._ending.before_round(self._agent.react_config):
                yield event
            if self._recorder.is_over:
                return
            self._state.reply_context.cur_iter += 1
            known = list(self._recorder.message.content)
            async with aclosing(self._reason()) as events:
                async for event in events:
                    yield event
            if self._recorder.is_over:
                return
            new = self._added_to(known)
            empty = 0 if any(map(_says_something, new)) else empty + 1
            has_calls = any(isinstance(block, ToolCallBlock) for block in new)
            for event in self._ending.after_round(
                self._agent.react_config, has_calls=has_calls, empty=empty
            ):
                yield event
            if self._recorder.is_over:
                return
            async with aclosing(self._act()) as events:
                async for event in events:
                    yield event

    def _added_to(self, known: list[ContentBlock]) -> list[ContentBlock]:
        before = set(map(id, known))  # by identity: compressing may have removed some
        return [block for block in self._recorder.message.content if id(block) not in before]

    async def _reason(self) -> AsyncGenerator[AgentEvent, None]:
        """Call the model inside the `on_reasoning` hooks, and record events that the hooks add."""
        core = self._reasoned
        onion = hook_onion(self._agent.middlewares, "on_reasoning", self._agent, core)
        if onion is not core:
            self._recorder.watch()
        choice = ToolChoice(mode=FINISHING_TOOL) if self._ending.is_urged else None
        try:
            async with aclosing(onion(tool_choice=choice)) as events:
                async for event in events:
                    yield self._recorder.adopt(event)
        except ModelError as error:
            for event in self._ending.failed(error):
                yield event
        for event in self._recorder.end_broken_off(NOT_RUN):
            yield event

    async def _reasoned(self, tool_choice: ToolChoice | None) -> AsyncGenerator[AgentEvent, None]:
        tools: list[dict[str, Any]] = await self._parts.toolkit.get_tool_schemas(
            self._state.tool_context.activated_groups,
            suggested=self._state.reply_context.suggested_tools,
        )
        prompt = await self._care.system_prompt()
        async with aclosing(self._care.compressed(prompt, tools)) as events:
            async for event in events:
                yield event
        async with aclosing(self._care.informed(tools)) as events:
            async for event in events:
                yield event
        messages = self._care.messages(prompt)
        choice = None if tool_choice is None else tool_choice.for_model()
        async with aclosing(self._reasoning.reason(messages, tools, choice)) as events:
            async for event in events:
                yield event

    async def _act(self) -> AsyncGenerator[AgentEvent, None]:
        async with aclosing(self._parts.acting.act(self._recorder.pending())) as events:
            async for event in events:
                yield event


def _says_something(block: ContentBlock) -> bool:
    if isinstance(block, TextBlock):
        return bool(block.text.strip())
    return isinstance(block, ToolCallBlock | DataBlock)
