"""Rebuilds a message from the events of its reply.

An event is identified by its `type`, a string, since this package does not import the event
classes, which are in a higher layer.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any, Protocol, TypeVar

from agentscope_like.message.base64_pieces import join_base64
from agentscope_like.message.block import (
    Base64Source,
    ContentBlock,
    DataBlock,
    HintBlock,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
    ToolCallState,
    ToolResultBlock,
    ToolResultState,
    URLSource,
)
from agentscope_like.message.chunk import joined
from agentscope_like.message.usage import Usage
from agentscope_like.types import ErrorInfo, ReplyFinishedReason

__all__ = ["RebuiltMessage", "append_event"]

_log = logging.getLogger(__name__)

BlockT = TypeVar("BlockT", bound=ContentBlock)


class RebuiltMessage(Protocol):
    """The fields of a message that events change; `Msg` has them."""

    id: str
    content: list[ContentBlock]
    usage: Usage | None
    finished_at: str | None
    finished_reason: ReplyFinishedReason | None
    error: ErrorInfo | None
    structured_output: dict[str, Any] | None


def append_event(message: RebuiltMessage, event: Any) -> None:
    """Add the event to `message`, in place.

    An event without content, or of another reply, is ignored.

    Args:
        message: The assistant's message that the reply builds; its id is the reply's.
        event: An event object; its `type` says which.
    """
    take = _TAKERS.get(str(event.type))
    if take is None:
        return
    if event.reply_id != message.id:
        _log.warning("a message does not take in an event of another reply: %s", event.type)
        return
    take(message, event)


def _find(message: RebuiltMessage, kind: type[BlockT], block_id: str) -> BlockT | None:
    for block in reversed(message.content):
        if isinstance(block, kind) and block.id == block_id:
            return block
    return None


def _text_start(message: RebuiltMessage, event: Any) -> None:
    message.content.append(TextBlock(id=event.block_id, text="", created_at=event.created_at))


def _text_delta(message: RebuiltMessage, event: Any) -> None:
    if block := _find(message, TextBlock, event.block_id):
        block.text += event.delta


def _thinking_start(message: RebuiltMessage, event: Any) -> None:
    message.content.append(
        ThinkingBlock(id=event.block_id, thinking="", created_at=event.created_at)
    )


def _thinking_delta(message: RebuiltMessage, event: Any) -> None:
    if block := _find(message, ThinkingBlock, event.block_id):
        block.thinking += event.delta


def _data_start(message: RebuiltMessage, event: Any) -> None:
    source = Base64Source(data="", media_type=event.media_type)
    message.content.append(DataBlock(id=event.block_id, source=source, created_at=event.created_at))


def _data_delta(message: RebuiltMessage, event: Any) -> None:
    block = _find(message, DataBlock, event.block_id)
    if block is not None and isinstance(block.source, Base64Source):
        block.source.data = join_base64(block.source.data, event.data)


def _block_end(message: RebuiltMessage, event: Any) -> None:
    for kind in (TextBlock, ThinkingBlock, DataBlock):
        if block := _find(message, kind, event.block_id):
            block.finished_at = event.created_at


def _hint(message: RebuiltMessage, event: Any) -> None:
    if _find(message, HintBlock, event.block_id):
        return  # its maker has added it already
    message.content.append(
        HintBlock(
            id=event.block_id,
            hint=event.hint,
            source=event.source,
            created_at=event.created_at,
            finished_at=event.created_at,
        )
    )


def _call_start(message: RebuiltMessage, event: Any) -> None:
    message.content.append(
        ToolCallBlock(
            id=event.tool_call_id,
            name=event.tool_call_name,
            input="",
            created_at=event.created_at,
        )
    )


def _call_delta(message: RebuiltMessage, event: Any) -> None:
    if call := _find(message, ToolCallBlock, event.tool_call_id):
        call.input += event.delta


def _call_end(message: RebuiltMessage, event: Any) -> None:
    if call := _find(message, ToolCallBlock, event.tool_call_id):
        call.finished_at = event.created_at


def _require(message: RebuiltMessage, event: Any) -> None:
    for asked in event.tool_calls:
        if call := _find(message, ToolCallBlock, asked.id):
            call.state = asked.state
            call.suggested_rules = list(asked.suggested_rules)
            call.decision = asked.decision
            call.digest = asked.digest
            call.approved = asked.approved
            call.apply = asked.apply


def _confirmed(message: RebuiltMessage, event: Any) -> None:
    for answer in event.confirm_results:
        call = _find(message, ToolCallBlock, answer.tool_call.id)
        if call is not None and answer.confirmed:
            call.input = answer.tool_call.input
            call.approved = True
            call.state = ToolCallState.ALLOWED


def _result_start(message: RebuiltMessage, event: Any) -> None:
    message.content.append(
        ToolResultBlock(
            id=event.tool_call_id,
            name=event.tool_call_name,
            output=[],
            created_at=event.created_at,
        )
    )
    if call := _find(message, ToolCallBlock, event.tool_call_id):
        call.state = ToolCallState.ALLOWED
        call.decision = event.decision or call.decision


def _output(message: RebuiltMessage, call_id: str) -> list[TextBlock | DataBlock]:
    result = _find(message, ToolResultBlock, call_id)
    if result is None:
        return []
    if isinstance(result.output, str):
        result.output = [TextBlock(text=result.output)]
    return result.output


def _result_text(message: RebuiltMessage, event: Any) -> None:
    output = _output(message, event.tool_call_id)
    last = output[-1] if output else None
    if isinstance(last, TextBlock):
        last.text += event.delta
    else:
        output.append(TextBlock(id=event.id, text=event.delta, created_at=event.created_at))


def _result_data(message: RebuiltMessage, event: Any) -> None:
    source: Base64Source | URLSource
    if event.url is not None:
        source = URLSource(url=event.url, media_type=event.media_type)
    else:
        source = Base64Source(data=event.data or "", media_type=event.media_type)
    output = _output(message, event.tool_call_id)
    piece = DataBlock(id=event.block_id, source=source, created_at=event.created_at)
    for index, known in enumerate(output):
        if isinstance(known, DataBlock) and (grown := joined(known, piece)):
            output[index] = grown
            return
    output.append(piece)


def _result_end(message: RebuiltMessage, event: Any) -> None:
    if result := _find(message, ToolResultBlock, event.tool_call_id):
        result.state = ToolResultState(event.state)
        result.metadata = dict(event.metadata)
        result.finished_at = event.created_at
    if call := _find(message, ToolCallBlock, event.tool_call_id):
        call.state = ToolCallState.FINISHED


def _model_call_end(message: RebuiltMessage, event: Any) -> None:
    before = message.usage or Usage(input_tokens=0, output_tokens=0)
    spent = {name: getattr(event, name) for name in Usage.model_fields}
    if any(spent.values()):  # a model that does not say what it cost says zeros
        total = {name: tokens + getattr(before, name) for name, tokens in spent.items()}
        message.usage = Usage(**total)


def _reply_end(message: RebuiltMessage, event: Any) -> None:
    message.finished_at = event.created_at
    message.finished_reason = event.finished_reason
    message.error = event.error
    message.structured_output = event.structured_output


_TAKERS: dict[str, Callable[[RebuiltMessage, Any], None]] = {
    "TEXT_BLOCK_START": _text_start,
    "TEXT_BLOCK_DELTA": _text_delta,
    "TEXT_BLOCK_END": _block_end,
    "THINKING_BLOCK_START": _thinking_start,
    "THINKING_BLOCK_DELTA": _thinking_delta,
    "THINKING_BLOCK_END": _block_end,
    "DATA_BLOCK_START": _data_start,
    "DATA_BLOCK_DELTA": _data_delta,
    "DATA_BLOCK_END": _block_end,
    "HINT_BLOCK": _hint,
    "TOOL_CALL_START": _call_start,
    "TOOL_CALL_DELTA": _call_delta,
    "TOOL_CALL_END": _call_end,
    "REQUIRE_USER_CONFIRM": _require,
    "REQUIRE_EXTERNAL_EXECUTION": _require,
    "USER_CONFIRM_RESULT": _confirmed,
    "TOOL_RESULT_START": _result_start,
    "TOOL_RESULT_TEXT_DELTA": _result_text,
    "TOOL_RESULT_DATA_DELTA": _result_data,
    "TOOL_RESULT_END": _result_end,
    "MODEL_CALL_END": _model_call_end,
    "REPLY_END": _reply_end,
}
