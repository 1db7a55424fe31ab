"""Builds the model's context and keeps it within the token limit."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator
from typing import Any

from msgspec.structs import asdict

from agentscope_like.agent.config import ContextConfig
from agentscope_like.agent.context import (
    COMPRESSED,
    CompressionReport,
    CompressionWish,
    RuntimeState,
    summary_messages,
    without_images,
)
from agentscope_like.agent.reply.reply_parts import ReplyParts
from agentscope_like.event import AgentEvent, CustomEvent, HintBlockEvent
from agentscope_like.exception import ModelError
from agentscope_like.message import HintBlock, Msg, SystemMsg
from agentscope_like.middleware import hook_onion, system_prompt

__all__ = ["PromptContext"]

_log = logging.getLogger(__name__)


class PromptContext:
    """Builds the messages for the model, and compresses the history when it is too long.

    Args:
        parts: The parts of the reply.
    """

    def __init__(self, parts: ReplyParts) -> None:
        self._agent = parts.agent
        self._compression = parts.compression
        self._recorder = parts.recorder
        self._state = parts.state
        self._toolkit = parts.toolkit
        self._wishes = parts.wishes
        self._runtime = RuntimeState(parts.agent.injection_config, parts.state, parts.toolkit)
        self._tokens = 0

    async def system_prompt(self) -> str:
        """Return the system prompt with its skills, after the `on_system_prompt` hooks."""
        groups = self._state.tool_context.activated_groups
        skills = await self._toolkit.get_skill_instructions(groups)
        prompt = self._agent.system_prompt
        if skills:
            prompt = f"{prompt}\n\n{skills}" if prompt else skills
        return await system_prompt(self._agent.middlewares, self._agent, prompt)

    def messages(self, prompt: str) -> list[Msg]:
        """Return the messages for the model: the prompt, the summary and the context."""
        most = self._agent.context_config.max_image_num
        said = [message for message in self._state.context if message.content]
        return [
            SystemMsg("system", prompt),
            *summary_messages(self._state),
            *without_images(said, most),
        ]

    async def compressed(
        self, prompt: str, tools: list[dict[str, Any]]
    ) -> AsyncGenerator[AgentEvent, None]:
        """Compress the context if it is too long or this was requested, and yield a report.

        If no model writes a summary, the reply continues with the context unchanged.

        Args:
            prompt: The system prompt.
            tools: Schemas of the tools, which the model reads as well.
        """
        wish = CompressionWish(self._agent.context_config)
        if self._wishes:
            wish = self._wishes[-1]
            self._wishes.clear()
        else:
            self._tokens = await self._compression.count(self.messages(prompt), tools)
            if not self._compression.is_due(self._tokens, wish.config):
                return
        try:
            report = await self.compress(prompt, wish)
        except ModelError as error:
            _log.warning("the context was not compressed: %s", error.message)
            return
        self._tokens = 0
        if report is not None:
            yield CustomEvent(name=COMPRESSED, value=asdict(report))

    async def informed(self, tools: list[dict[str, Any]]) -> AsyncGenerator[AgentEvent, None]:
        """Tell the model what surrounds it, where that is due, and yield the event of it.

        Args:
            tools: Schemas of the tools that the model may call.
        """
        hint = await self._runtime.hint(
            tools,
            tokens=self._tokens,
            context_size=self._agent.model.context_size,
            trigger_ratio=self._agent.context_config.trigger_ratio,
        )
        if hint is None:
            return
        if self._agent.injection_config.emit_hint_event:
            yield self._recorder.take(
                HintBlockEvent(
                    reply_id=self._recorder.reply_id,
                    block_id=hint.id,
                    source=hint.source,
                    hint=hint.hint,
                    metadata={"cur_iter": self._state.cur_iter},
                )
            )
        else:
            self._recorder.message.content.append(hint)

    async def compress(self, prompt: str, wish: CompressionWish) -> CompressionReport | None:
        """Compress the context, inside the `on_compress_context` hooks.

        Returns:
            The report; None if nothing was removed, or a hook prevented the compression.

        Raises:
            ModelError: No model wrote a summary.
        """
        reports: list[CompressionReport | None] = []

        async def core(context_config: ContextConfig, instructions: HintBlock | None) -> None:
            writing = None if self._recorder.is_over else self._recorder.message
            reports.append(
                await self._compression.compress(
                    prompt, context_config, instructions, writing=writing
                )
            )

        onion = hook_onion(self._agent.middlewares, "on_compress_context", self._agent, core)
        await onion(context_config=wish.config, instructions=wish.instructions)
        return reports[-1] if reports else None
