"""Estimates the number of tokens of a request."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from agentscope_like.message import (
    Base64Source,
    ContentBlock,
    DataBlock,
    HintBlock,
    Msg,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
)
from agentscope_like.middleware import TokenCounter
from agentscope_like.middleware.cut import IMAGE_TOKENS

__all__ = ["estimated_tokens"]

MESSAGE_TOKENS = 4
"""The approximate number of tokens that frame a message or a block."""


def estimated_tokens(
    messages: Sequence[Msg], tools: Sequence[Mapping[str, Any]] | None, counter: TokenCounter
) -> int:
    """Return an estimate of the tokens of the messages and the tool schemas.

    Reasoning is not counted, since it is usually not sent back. An image counts as in a tool's
    result, other data by its encoded text.

    Args:
        messages: The conversation.
        tools: As `Toolkit.get_tool_schemas` returns them.
        counter: Counts the tokens of a text.
    """
    total = 0
    for message in messages:
        total += MESSAGE_TOKENS + sum(_block_tokens(block, counter) for block in message.content)
    if tools:
        total += counter.count(msgspec.json.encode(tools).decode())
    return total


def _block_tokens(block: ContentBlock, counter: TokenCounter) -> int:
    match block:
        case TextBlock():
            return counter.count(block.text)
        case ThinkingBlock():
            return 0
        case DataBlock():
            return _data_tokens(block, counter)
        case ToolCallBlock():
            return MESSAGE_TOKENS + counter.count(block.name) + counter.count(block.input)
        case HintBlock():
            return MESSAGE_TOKENS + _output_tokens(block.hint, counter)
    return MESSAGE_TOKENS + _output_tokens(block.output, counter)


def _output_tokens(output: str | Iterable[TextBlock | DataBlock], counter: TokenCounter) -> int:
    if isinstance(output, str):
        return counter.count(output)
    return sum(_block_tokens(block, counter) for block in output)


def _data_tokens(block: DataBlock, counter: TokenCounter) -> int:
    source = block.source
    if source.media_type.startswith("image/"):
        return IMAGE_TOKENS
    return counter.count(source.data if isinstance(source, Base64Source) else str(source.url))
