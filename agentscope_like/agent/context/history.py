"""Splits the context into passages that are kept or removed as a whole."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from agentscope_like.message import (
    ContentBlock,
    DataBlock,
    HintBlock,
    Msg,
    TextBlock,
    ToolCallBlock,
    ToolCallState,
    ToolResultBlock,
    ToolResultState,
    UserMsg,
)
from agentscope_like.state import AgentState

__all__ = ["Passage", "passages", "summary_messages", "without", "without_images"]

IMAGE_LEFT_OUT = "[An earlier image is left out here.]"


def summary_messages(state: AgentState) -> list[Msg]:
    """Return what the model is told of the history that was removed: a message, or nothing."""
    return [UserMsg("user", state.summary)] if state.summary else []


class Passage(Struct, frozen=True):
    """A part of the context that stays together: a message, or one round of a reply.

    Attributes:
        message: The message that it belongs to.
        blocks: Its blocks; calls and their results are in one passage.
        is_open: Whether a call in it has no result yet.
    """

    message: Msg
    blocks: tuple[ContentBlock, ...]
    is_open: bool = False

    def as_message(self) -> Msg:
        """Return a message of these blocks alone."""
        return self.message.model_copy(update={"content": list(self.blocks)})


def passages(context: Sequence[Msg]) -> list[Passage]:
    """Return the passages of the context, oldest first."""
    return [passage for message in context for passage in _passages(message)]


def _passages(message: Msg) -> Iterator[Passage]:
    if message.role != "assistant":
        yield Passage(message, tuple(message.content))
        return
    blocks: list[ContentBlock] = []
    waiting: set[str] = set()
    for block in message.content:
        goes_on = isinstance(block, ToolResultBlock | HintBlock)
        if blocks and not goes_on and not waiting and _ends_a_round(blocks[-1]):
            yield Passage(message, tuple(blocks))
            blocks = []
        blocks.append(block)
        if isinstance(block, ToolCallBlock) and block.state is not ToolCallState.FINISHED:
            waiting.add(block.id)
        elif isinstance(block, ToolResultBlock) and block.state is not ToolResultState.RUNNING:
            waiting.discard(block.id)
    if blocks:
        yield Passage(message, tuple(blocks), is_open=bool(waiting))


def _ends_a_round(block: ContentBlock) -> bool:
    return isinstance(block, ToolResultBlock | HintBlock)


def without(context: Sequence[Msg], removed: Iterable[Passage], *, keep: Msg | None) -> list[Msg]:
    """Return the context without some passages.

    Args:
        context: The messages.
        removed: The passages to remove.
        keep: The message that is being written: it stays the same object, even if it becomes empty;
            other messages that lose a part are copied.
    """
    gone = {id(block) for passage in removed for block in passage.blocks}
    remaining: list[Msg] = []
    for message in context:
        content = [block for block in message.content if id(block) not in gone]
        if message is keep:
            message.content[:] = content
            remaining.append(message)
        elif len(content) == len(message.content):
            remaining.append(message)
        elif content:
            remaining.append(message.model_copy(update={"content": content}))
    return remaining


def without_images(messages: Sequence[Msg], most: int) -> list[Msg]:
    """Return the messages with only the latest images; a note replaces each of the others."""
    left = most
    shown: list[Msg] = []
    for message in reversed(messages):
        images = _count_images(message.content)
        if images > left:
            message = message.model_copy(  # noqa: PLW2901
                update={"content": _shortened(message.content, images - left)}
            )
        left = max(left - images, 0)
        shown.append(message)
    return shown[::-1]


def _count_images(blocks: Iterable[ContentBlock]) -> int:
    count = 0
    for block in blocks:  # of the whole context, each round: no generators
        kind = type(block)
        if kind is ToolResultBlock or kind is HintBlock:
            for inner in _inner(block):
                if type(inner) is DataBlock:
                    count += _is_image(inner)
        elif kind is DataBlock:
            count += _is_image(block)
    return count


def _inner(block: ContentBlock) -> Sequence[TextBlock | DataBlock]:
    inner: str | Sequence[TextBlock | DataBlock] = ()
    if isinstance(block, ToolResultBlock):
        inner = block.output
    elif isinstance(block, HintBlock):
        inner = block.hint
    return () if isinstance(inner, str) else inner


def _is_image(block: ContentBlock) -> bool:
    return isinstance(block, DataBlock) and block.source.media_type.startswith("image/")


def _shortened(blocks: Iterable[ContentBlock], surplus: int) -> list[ContentBlock]:
    """Return the blocks with a note in place of each of the first `surplus` images."""
    kept: list[ContentBlock] = []
    for block in blocks:
        if surplus and _is_image(block):
            kept.append(TextBlock(text=IMAGE_LEFT_OUT))
            surplus -= 1
        elif surplus and (inner := _count_images(_inner(block))):
            within = _shortened(_inner(block), min(inner, surplus))
            field = "output" if isinstance(block, ToolResultBlock) else "hint"
            kept.append(block.model_copy(update={field: within}))
            surplus -= min(inner, surplus)
        else:
            kept.append(block)
    return kept
