"""Replaces older history with a summary when the context is too long."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from msgspec import Struct

from agentscope_like.agent.config import ContextConfig
from agentscope_like.agent.context.history import Passage, passages, summary_messages, without
from agentscope_like.agent.model_calls import ModelCalls
from agentscope_like.agent.object_schema import object_schema
from agentscope_like.agent.offloader import Offloader
from agentscope_like.exception import ConfigurationError, ModelError
from agentscope_like.message import (
    DataBlock,
    HintBlock,
    Msg,
    SystemMsg,
    TextBlock,
    ToolCallBlock,
    ToolResultBlock,
    UserMsg,
)
from agentscope_like.middleware import TokenEstimator
from agentscope_like.middleware.tokens import head_of, tail_of
from agentscope_like.model import ChatModelBase, ChatResponse
from agentscope_like.permission.text import printable
from agentscope_like.state import AgentState
from agentscope_like.tool import ToolChoice
from agentscope_like.types import ErrorType

__all__ = [
    "COMPRESSED",
    "Compression",
    "CompressionReport",
    "CompressionWish",
]

COMPRESSED = "context_compressed"
"""The name of the `CustomEvent` for a compression; its value is the report."""

SUMMARY_TOOL = "write_summary"
NO_SUMMARY = "the model gave no summary of the history: compress later, or with another model"
MERE_TEXT = "<system-info>Here is a summary of your previous work:\n{text}</system-info>"
KEPT = "\n<system-reminder>What the summary stands for is kept in {place}.</system-reminder>"
_SHORTEST_RESULT = 64

_log = logging.getLogger(__name__)


class CompressionReport(Struct, frozen=True):
    """A report of one compression.

    Attributes:
        tokens_before: Tokens of the summary and the context before, counted by the model.
        tokens_after: The same count after it.
        input_tokens: Input tokens used to write the summary.
        output_tokens: Output tokens used to write the summary.
    """

    tokens_before: int
    tokens_after: int
    input_tokens: int = 0
    output_tokens: int = 0


class CompressionWish(NamedTuple):
    """A compression that was requested during a reply.

    Attributes:
        config: What is kept, and how the summary is asked for and told.
        instructions: What else the model is told about the summary.
    """

    config: ContextConfig
    instructions: HintBlock | None = None


class Compression:
    """Replaces the older part of a state's context with a summary that the model writes.

    Args:
        state: The state.
        model: The model whose `context_size` and `count_tokens` apply.
        calls: Calls the models.
        offloader: Stores what the summary replaces, where it is to be kept.
    """

    def __init__(
        self,
        state: AgentState,
        model: ChatModelBase,
        calls: ModelCalls,
        offloader: Offloader | None = None,
    ) -> None:
        self._state = state
        self._offloader = offloader
        self._model = model
        self._calls = calls

    async def count(self, messages: list[Msg], tools: list[dict[str, Any]] | None) -> int:
        """Return how many tokens a request takes, as the model counts them."""
        return await self._model.count_tokens(messages=messages, tools=tools)

    def is_due(self, tokens: int, config: ContextConfig) -> bool:
        """Return whether a request of so many tokens is so long that history is compressed."""
        return tokens > config.trigger_ratio * self._model.context_size

    async def compress(
        self,
        prompt: str,
        config: ContextConfig,
        instructions: HintBlock | None = None,
        *,
        writing: Msg | None = None,
    ) -> CompressionReport | None:
        """Replace older history with a summary and return a report.

        A call and its result are kept or removed together; a call without a result is kept.

        Args:
            prompt: The system prompt.
            config: What is kept, and how the summary is asked for and told.
            instructions: What else the model is told about the summary.
            writing: The message that is being written; it stays the same object.

        Returns:
            The report, or None if nothing can be removed.

        Raises:
            ModelError: No model wrote a summary. Nothing was done.
            ConfigurationError: `summary_schema` is not a schema of an object.
        """
        state = self._state
        removed = await self._removable(config)
        if not removed:
            return None
        before = await self._size()
        request = [*summary_messages(state), *(passage.as_message() for passage in removed)]
        answer = await self._ask(prompt, request, config, instructions)
        state.summary = _summary_of(answer, config) + await self._kept(removed)
        state.context[:] = without(state.context, removed, keep=writing)
        usage = answer.usage
        return CompressionReport(
            before,
            await self._size(),
            usage.input_tokens if usage else 0,
            usage.output_tokens if usage else 0,
        )

    async def _size(self) -> int:
        return await self.count([*summary_messages(self._state), *self._state.context], None)

    async def _kept(self, removed: Sequence[Passage]) -> str:
        """Have the offloader store the passages, and return what the model is told of it."""
        if self._offloader is None:
            return ""
        messages = [passage.as_message() for passage in removed]
        try:
            place = await self._offloader.offload_context(self._state.session_id, messages)
        except Exception:
            _log.warning("the offloader did not keep what was summed up", exc_info=True)
            return ""
        return printable(KEPT.format(place=place))

    async def _removable(self, config: ContextConfig) -> list[Passage]:
        """Return the oldest passages; the latest ones that fit in the reserve are kept.

        The last one is kept even if it does not fit, unless it alone would trigger the next
        compression: the model should read what it has just asked for.
        """
        size = self._model.context_size
        reserve = config.reserve_ratio * size
        largest = (config.trigger_ratio - config.reserve_ratio) * size
        found = passages(self._state.context)
        kept, total = len(found), 0
        while kept:
            total += await self.count([found[kept - 1].as_message()], None)
            is_last = kept == len(found)
            if total > (max(reserve, largest) if is_last else reserve):
                break
            kept -= 1
        first_open = next((i for i, one in enumerate(found) if one.is_open), len(found))
        return found[: min(kept, first_open)]

    async def _ask(
        self,
        prompt: str,
        request: list[Msg],
        config: ContextConfig,
        instructions: HintBlock | None,
    ) -> ChatResponse:
        function = {
            "name": SUMMARY_TOOL,
            "description": "Writes the summary that replaces the conversation so far.",
            "parameters": object_schema(config.summary_schema, "summary_schema"),
        }
        asked = [TextBlock(text=config.compression_prompt), *_blocks_of(instructions)]
        schemas: list[dict[str, Any]] = [{"type": "function", "function": function}]
        failure = ModelError(NO_SUMMARY, type=ErrorType.UPSTREAM)
        for model in self._calls.summary_models:
            room = int(model.context_size * config.trigger_ratio)
            messages = [
                SystemMsg("system", prompt),
                *await self._fitted(request, room),
                UserMsg("user", asked),
            ]
            try:
                answer = await self._calls.whole_answer(
                    model, messages, schemas, ToolChoice(mode=SUMMARY_TOOL)
                )
            except ModelError as error:
                failure = error
                continue
            if _summary_of(answer, config):
                return answer
        raise failure

    async def _fitted(self, messages: list[Msg], room: int) -> list[Msg]:
        """Return the messages, their longest results truncated until they fit."""
        limit = room // 2
        while limit > _SHORTEST_RESULT and await self.count(messages, None) > room:
            messages = [_with_short_results(message, limit) for message in messages]
            limit //= 2
        return messages


def _with_short_results(message: Msg, limit: int) -> Msg:
    """Return the message with results of more than `limit` tokens cut in the middle."""
    content = [
        block.model_copy(update={"output": _cut(block, limit)})
        if isinstance(block, ToolResultBlock)
        else block
        for block in message.content
    ]
    return message.model_copy(update={"content": content})


def _cut(result: ToolResultBlock, limit: int) -> str | list[TextBlock | DataBlock]:
    output, counter = result.output, TokenEstimator()
    blocks = [TextBlock(text=output)] if isinstance(output, str) else output
    text = "".join(block.text for block in blocks if isinstance(block, TextBlock))
    if counter.count(text) <= limit:
        return output
    head, tail = head_of(text, limit // 2, counter), tail_of(text, limit // 2, counter)
    left_out = len(text) - len(head) - len(tail)
    return f"{head}\n[... {left_out:,} characters are left out here ...]\n{tail}"


def _blocks_of(instructions: HintBlock | None) -> Sequence[TextBlock | DataBlock]:
    if instructions is None:
        return ()
    hint = instructions.hint
    return [TextBlock(text=hint)] if isinstance(hint, str) else hint


def _summary_of(answer: ChatResponse, config: ContextConfig) -> str:
    """Return the summary as text for the model, or nothing if there is none."""
    for block in answer.content:
        if isinstance(block, ToolCallBlock) and block.name == SUMMARY_TOOL:
            fields = _fields(block.input)
            if any(fields.values()):
                return printable(_filled(config.summary_template, fields, config))
    text = "\n".join(block.text for block in answer.content if isinstance(block, TextBlock))
    return printable(MERE_TEXT.format(text=text)) if text.strip() else ""


def _fields(text: str) -> dict[str, str]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    if not isinstance(found, dict):
        return {}
    return {
        name: value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        for name, value in found.items()
    }


def _filled(template: str, fields: Mapping[str, str], config: ContextConfig) -> str:
    names = dict.fromkeys(config.summary_schema["properties"], "")
    try:
        return template.format_map({**names, **fields})
    except (KeyError, IndexError, ValueError, AttributeError) as error:
        raise ConfigurationError(
            f"`summary_template` cannot be filled in: {error!r}; name properties of "
            f"`summary_schema`, {', '.join(names)}, and write a brace as {{{{ or }}}}"
        ) from error
