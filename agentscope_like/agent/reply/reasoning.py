"""Runs one model call and turns its stream into events."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import aclosing
from typing import Any

from agentscope_like.agent.model_calls import ModelCalls
from agentscope_like.agent.reply.block_pieces import BlockPieces, ModelBlock
from agentscope_like.agent.reply_recorder import ReplyRecorder
from agentscope_like.event import (
    AgentEvent,
    DataBlockDeltaEvent,
    DataBlockEndEvent,
    DataBlockStartEvent,
    FinishedReason,
    ModelCallEndEvent,
    ModelCallStartEvent,
    TextBlockDeltaEvent,
    TextBlockEndEvent,
    TextBlockStartEvent,
    ThinkingBlockDeltaEvent,
    ThinkingBlockEndEvent,
    ThinkingBlockStartEvent,
    ToolCallDeltaEvent,
    ToolCallEndEvent,
    ToolCallStartEvent,
)
from agentscope_like.exception import ModelError
from agentscope_like.message import (
    Base64Source,
    DataBlock,
    Msg,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
)
from agentscope_like.model import ChatResponse
from agentscope_like.tool import ToolChoice
from agentscope_like.types import ErrorType

__all__ = ["Reasoning"]

CUT_OFF = (
    "the model's stream ended without its last part, which holds the whole answer: the connection "
    "broke off, or the model class does not yield one with `is_last=True`"
)


class Reasoning:
    """Calls the model and adds its response to the reply.

    Args:
        calls: Calls the models.
        recorder: The reply.
        canonical: Returns the canonical name of a tool for the one that the model calls it by.
    """

    def __init__(
        self, calls: ModelCalls, recorder: ReplyRecorder, *, canonical: Callable[[str], str]
    ) -> None:
        self._calls = calls
        self._recorder = recorder
        self._canonical = canonical

    async def reason(
        self,
        messages: list[Msg],
        tools: list[dict[str, Any]],
        tool_choice: ToolChoice | None = None,
    ) -> AsyncGenerator[AgentEvent, None]:
        """Call the model and yield events as its response arrives.

        Args:
            messages: The system prompt and the context.
            tools: Schemas of the tools that it may call.
            tool_choice: Which of them it must call; None leaves the choice to the model.

        Raises:
            ModelError: No model answered, or an answer broke off.
        """
        models = self._calls.models
        for position, model in enumerate(models):
            response = _Response(self._recorder, self._canonical)
            yield self._recorder.take(
                ModelCallStartEvent(
                    reply_id=self._recorder.reply_id,
                    model_name=model.model,
                    metadata={"cur_iter": self._recorder.state.cur_iter},
                )
            )
            try:
                answers = self._calls.answers(model, messages, tools, tool_choice)
                async with aclosing(answers):
                    async for answer in answers:
                        for event in response.take(answer):
                            yield event
                if response.last is None:
                    raise ModelError(CUT_OFF, type=ErrorType.UPSTREAM)
                for event in response.end():
                    yield event
            except Exception as error:
                for event in response.end():
                    yield event
                is_last = position == len(models) - 1
                if is_last or response.began or not isinstance(error, ModelError):
                    raise _as_model_error(error) from error
            else:
                return
            finally:
                if response.last is None:
                    self._recorder.broken_off.update(response.calls)


def _as_model_error(error: Exception) -> ModelError:
    if isinstance(error, ModelError):
        return error
    return ModelError(
        f"the model failed: {type(error).__name__}: {error}".rstrip(": "), type=ErrorType.UNKNOWN
    )


class _Response:
    """One response while it arrives."""

    def __init__(self, recorder: ReplyRecorder, canonical: Callable[[str], str]) -> None:
        self.recorder = recorder
        self.canonical = canonical
        self.began = False
        self.last: ChatResponse | None = None
        self.calls: list[str] = []
        self._open: dict[str, ModelBlock] = {}
        self._pieces = BlockPieces(self._unused)

    def take(self, answer: ChatResponse) -> Iterator[AgentEvent]:
        """Add a part of the response; of the last part, which repeats all, only the new content."""
        if self.last is not None:
            return  # nothing comes after the whole
        if answer.is_last:
            self.last = answer
        pieces = self._pieces.of_whole if answer.is_last else self._pieces.of_part
        for name, block in pieces(answer.content):
            self.began = True
            if name not in self._open:
                yield from self._start(name, block)
                self._open[name] = block
            yield from self._delta(name, block)

    def _unused(self, block_id: str) -> str:
        used = {b.id for message in self.recorder.state.context for b in message.content}
        candidate, number = block_id, 1
        while candidate in used:
            number += 1
            candidate = f"{block_id}-{number}"
        return candidate

    def _start(self, block_id: str, block: ModelBlock) -> Iterator[AgentEvent]:
        reply_id, take = self.recorder.reply_id, self.recorder.take
        match block:
            case TextBlock():
                yield take(TextBlockStartEvent(reply_id=reply_id, block_id=block_id))
            case ThinkingBlock():
                yield take(ThinkingBlockStartEvent(reply_id=reply_id, block_id=block_id))
            case DataBlock():
                media = block.source.media_type
                yield take(
                    DataBlockStartEvent(reply_id=reply_id, block_id=block_id, media_type=media)
                )
            case ToolCallBlock():
                self.calls.append(block_id)
                name = self.canonical(block.name)
                yield take(
                    ToolCallStartEvent(
                        reply_id=reply_id, tool_call_id=block_id, tool_call_name=name
                    )
                )

    def _delta(self, block_id: str, block: ModelBlock) -> Iterator[AgentEvent]:
        reply_id, take = self.recorder.reply_id, self.recorder.take
        match block:
            case TextBlock(text=text) if text:
                yield take(TextBlockDeltaEvent(reply_id=reply_id, block_id=block_id, delta=text))
            case ThinkingBlock(thinking=text) if text:
                yield take(
                    ThinkingBlockDeltaEvent(reply_id=reply_id, block_id=block_id, delta=text)
                )
            case DataBlock(source=Base64Source(data=data, media_type=media)) if data:
                yield take(
                    DataBlockDeltaEvent(
                        reply_id=reply_id, block_id=block_id, data=data, media_type=media
                    )
                )
            case ToolCallBlock(input=text) if text:
                yield take(ToolCallDeltaEvent(reply_id=reply_id, tool_call_id=block_id, delta=text))

    def end(self) -> Iterator[AgentEvent]:
        """End the blocks; a call that broke off is not ended, and will not run."""
        reply_id, take = self.recorder.reply_id, self.recorder.take
        for block_id, block in self._open.items():
            match block:
                case TextBlock():
                    yield take(TextBlockEndEvent(reply_id=reply_id, block_id=block_id))
                case ThinkingBlock():
                    yield take(ThinkingBlockEndEvent(reply_id=reply_id, block_id=block_id))
                case DataBlock():
                    yield take(DataBlockEndEvent(reply_id=reply_id, block_id=block_id))
                case ToolCallBlock() if self.last is not None:
                    yield take(ToolCallEndEvent(reply_id=reply_id, tool_call_id=block_id))
        self._open.clear()
        yield take(self._model_call_end())

    def _model_call_end(self) -> ModelCallEndEvent:
        usage = self.last.usage if self.last is not None else None
        reason = self.last.finished_reason if self.last else FinishedReason.INTERRUPTED
        return ModelCallEndEvent(
            reply_id=self.recorder.reply_id,
            input_tokens=usage.input_tokens if usage else 0,
            output_tokens=usage.output_tokens if usage else 0,
            cache_input_tokens=usage.cache_input_tokens if usage else 0,
            cache_creation_input_tokens=usage.cache_creation_input_tokens if usage else 0,
            finished_reason=reason,
        )
