"""Finds the block of the reply that each piece of a model's response belongs to."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

from agentscope_like.message import DataBlock, TextBlock, ThinkingBlock, ToolCallBlock

__all__ = ["BlockPieces", "ModelBlock"]

ModelBlock: TypeAlias = TextBlock | ToolCallBlock | ThinkingBlock | DataBlock

_Key: TypeAlias = tuple[str, str]
_Piece: TypeAlias = tuple[str, ModelBlock]


class BlockPieces:
    """Gives the blocks of one response the ids that they have in the reply.

    Pieces with the same id are one block. Text, and thinking, that has a new id in each part of
    the stream is one block as well, until a part comes without it.

    Args:
        unused: Returns the id for a new block: the given one, where the reply has none of that id.
    """

    def __init__(self, unused: Callable[[str], str]) -> None:
        self._unused = unused
        self._names: dict[_Key, str] = {}
        self._open: dict[str, str] = {}
        self._streamed: dict[str, dict[str, list[str]]] = {"text": {}, "thinking": {}}

    def of_part(self, content: Sequence[ModelBlock]) -> Iterator[_Piece]:
        """Yield each piece in a part of the stream, with the id of its block in the reply."""
        kinds = {block.type for block in content}
        open_before = {kind: name for kind, name in self._open.items() if kind in kinds}
        if kinds:
            self._open.clear()
        for key, block, is_repeated in _with_keys(content):
            name = open_before.pop(block.type, None)
            if is_repeated or key not in self._names:
                self._names[key] = name or self._unused(block.id)
            if block.type in self._streamed:
                self._open[block.type] = self._names[key]
                self._streamed[block.type].setdefault(self._names[key], []).append(_text_of(block))
            yield self._names[key], block

    def of_whole(self, content: Sequence[ModelBlock]) -> Iterator[_Piece]:
        """Yield what is new in the whole response, with the ids of the blocks in the reply.

        Blocks that were streamed are known by their ids, and text under other ids by its words.
        """
        unknown: list[ModelBlock] = []
        for key, block, is_repeated in _with_keys(content):
            if is_repeated or key not in self._names:
                unknown.append(block)
            elif block.type in self._streamed:
                self._streamed[block.type].pop(self._names[key], None)
        known = {kind: self._count_known(kind, unknown) for kind in self._streamed}
        for block in unknown:
            text = _text_of(block)
            skipped = min(known.get(block.type, 0), len(text))
            if not skipped:
                yield self._unused(block.id), block
            elif skipped < len(text):
                yield list(self._streamed[block.type])[-1], _without_start(block, skipped)
            known[block.type] = known.get(block.type, 0) - skipped

    def _count_known(self, kind: str, blocks: Sequence[ModelBlock]) -> int:
        """Return how many characters at the start of these blocks' text were streamed already."""
        streamed = "".join("".join(texts) for texts in self._streamed[kind].values())
        whole = "".join(_text_of(block) for block in blocks if block.type == kind)
        if whole.startswith(streamed):
            return len(streamed)
        return len(whole) if whole.strip() == streamed.strip() else 0


def _with_keys(content: Sequence[ModelBlock]) -> Iterator[tuple[_Key, ModelBlock, bool]]:
    """Yield each block with its key, and whether a block before it has the same one."""
    keys: set[_Key] = set()
    for block in content:
        key = (block.type, block.id)
        yield key, block, key in keys
        keys.add(key)


def _text_of(block: ModelBlock) -> str:
    if isinstance(block, ThinkingBlock):
        return block.thinking
    return block.text if isinstance(block, TextBlock) else ""


def _without_start(block: ModelBlock, characters: int) -> ModelBlock:
    field = "thinking" if isinstance(block, ThinkingBlock) else "text"
    return block.model_copy(update={field: _text_of(block)[characters:]})
