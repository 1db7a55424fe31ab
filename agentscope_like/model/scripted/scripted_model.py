"""Replays a recorded session as a model."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from os import PathLike
from typing import Any

from agentscope_like.exception import ConfigurationError, ModelError
from agentscope_like.message import Msg, TextBlock, ThinkingBlock, ToolCallBlock
from agentscope_like.model.base import Answer, ChatModelBase, ResponseStream
from agentscope_like.model.response import ChatResponse, ResponseBlock
from agentscope_like.model.retry import Sleep
from agentscope_like.model.scripted.script import Script, Turn
from agentscope_like.tool import ToolChoice
from agentscope_like.types import ErrorType

__all__ = ["ScriptedModel"]


class ScriptedModel(ChatModelBase):
    """Returns the turns of a script, one for each call; needs no key and no network.

    Each turn is returned once. The ids of its blocks come from the script or from the turn's
    number, so that a new model can continue a conversation: it returns the turn after the latest
    one that it has returned or that has a block in the messages. Counting messages or rounds would
    fail if a round was empty, interrupted, or replaced with a summary.

    Args:
        script: The script, or the path of its file.
        delay: Seconds between two pieces of a streamed answer.
        chunk_size: Characters in one piece.
        position: The index of the first turn to return.
        stream: Whether answers are streamed.
        context_size: The token limit that it reports.
        sleep: Waits between pieces; `asyncio.sleep` by default.

    Raises:
        ConfigurationError: The script cannot be read, or a number is out of range.
    """

    def __init__(
        self,
        script: Script | str | PathLike[str],
        *,
        delay: float = 0.0,
        chunk_size: int = 24,
        position: int = 0,
        stream: bool = True,
        context_size: int = 32768,
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        super().__init__("scripted", stream=stream, context_size=context_size, sleep=sleep)
        if delay < 0 or chunk_size < 1 or position < 0:
            raise ConfigurationError(
                "`delay` and `position` cannot be negative, and `chunk_size` is 1 or more"
            )
        self.script = script if isinstance(script, Script) else Script.load(script)
        self.delay = delay
        self.chunk_size = chunk_size
        self._next = position
        self._turn_of_block = _marks(self.script)

    @property
    def position(self) -> int:
        """Return the index of the next turn, as far as this model knows."""
        return self._next

    async def _call_api(
        self,
        model_name: str,
        messages: list[Msg],
        tools: list[dict[str, Any]] | None = None,
        tool_choice: ToolChoice | None = None,
        **kwargs: Any,
    ) -> Answer:
        del model_name, tools, tool_choice, kwargs
        index = max(self._next, self._seen(messages) + 1)
        if index >= len(self.script.turns):
            raise ModelError(
                f"the script {self.script.source} has {len(self.script.turns)} turns and all are "
                "given: add a turn, or end the session",
                type=ErrorType.INVALID_REQUEST,
            )
        self._next = index + 1
        blocks = _blocks(index, self.script.turns[index])
        return self._pieces(blocks) if self.stream else ChatResponse(blocks, is_last=True)

    def _seen(self, messages: list[Msg]) -> int:
        said = (block.id for message in messages for block in message.content)
        return max((self._turn_of_block.get(block_id, -1) for block_id in said), default=-1)

    async def _pieces(self, blocks: list[ResponseBlock]) -> ResponseStream:
        whole = ChatResponse(blocks, is_last=True)
        for block in blocks:
            for piece in _split(block, self.chunk_size):
                yield ChatResponse([piece], is_last=False, id=whole.id)
                await self._sleep(self.delay)
        yield whole


def _text_id(index: int) -> str:
    return f"turn-{index + 1}-text"


def _thinking_id(index: int) -> str:
    return f"turn-{index + 1}-thinking"


def _marks(script: Script) -> dict[str, int]:
    marks = {call.id: index for index, call in script.calls()}
    for index in range(len(script.turns)):
        marks[_text_id(index)] = marks[_thinking_id(index)] = index
    return marks


def _blocks(index: int, turn: Turn) -> list[ResponseBlock]:
    blocks: list[ResponseBlock] = []
    if turn.think:
        blocks.append(ThinkingBlock(id=_thinking_id(index), thinking=turn.think))
    if turn.say:
        blocks.append(TextBlock(id=_text_id(index), text=turn.say))
    blocks += [ToolCallBlock(id=call.id, name=call.name, input=call.input) for call in turn.calls]
    return blocks


def _split(block: ResponseBlock, size: int) -> Iterator[ResponseBlock]:
    if isinstance(block, TextBlock):
        for part in _parts(block.text, size):
            yield block.model_copy(update={"text": part})
    elif isinstance(block, ThinkingBlock):
        for part in _parts(block.thinking, size):
            yield block.model_copy(update={"thinking": part})
    elif isinstance(block, ToolCallBlock):
        for part in _parts(block.input, size):
            yield block.model_copy(update={"input": part})


def _parts(text: str, size: int) -> Iterator[str]:
    """Yield `text` in pieces; an empty text is one empty piece, so that its block still appears."""
    for start in range(0, max(len(text), 1), size):
        yield text[start : start + size]
