"""Cuts the middle out of a streamed output: passes on its head, and holds back its tail."""

from __future__ import annotations

from collections import deque
from typing import NamedTuple, TypeAlias

from agentscope_like.message import Base64Source, DataBlock, TextBlock
from agentscope_like.middleware.tokens import TokenCounter, head_of, tail_of

__all__ = ["IMAGE_TOKENS", "Block", "OutputCutter"]

Block: TypeAlias = TextBlock | DataBlock

IMAGE_TOKENS = 1_600
"""The tokens counted for an image: about the price of one of a usual size."""

_JOINED_CHARACTERS = 4_096


class _Held(NamedTuple):
    block: Block
    tokens: int


class OutputCutter:
    """Keeps an output within a number of tokens, by cutting out its middle.

    The first half of the limit is passed on at once. Later text is held back, and beyond the limit
    the oldest held text is dropped first. Data counts as well: an image as `IMAGE_TOKENS`, other
    data as its encoded text; data that cannot fit is replaced with a note.

    Args:
        limit: The maximum number of tokens, not counting the notes about cuts.
        counter: Counts tokens.

    Attributes:
        is_over: Whether text had to be cut.
        is_changed: Whether text or data had to be cut.
        is_holding: Whether the head is complete, so that further output is held back.
        characters: The number of characters so far.
        dropped_data: Blocks of data that were held back and then dropped.
    """

    def __init__(self, limit: int, counter: TokenCounter) -> None:
        self.is_over = False
        self.is_changed = False
        self.is_holding = False
        self.characters = 0
        self.dropped_data = 0
        self._counter = counter
        self._limit = limit
        self._head_budget = limit // 2
        self._passed = 0
        self._passed_characters = 0
        self._uncounted = ""
        self._held: deque[_Held] = deque()
        self._held_tokens = 0
        self._unsaved: list[str] = []
        self._unsaved_characters = 0

    @property
    def cut_characters(self) -> int:
        """Return the number of characters that are in neither head nor tail."""
        held = sum(len(b.text) for b, _ in self._held if isinstance(b, TextBlock))
        return self.characters - self._passed_characters - held

    @property
    def unsaved_characters(self) -> int:
        """Return the number of characters since the last `take_unsaved`."""
        return self._unsaved_characters

    def take_unsaved(self) -> str:
        """Return the text since the last call of this method."""
        text = "".join(self._unsaved)
        self._unsaved.clear()
        self._unsaved_characters = 0
        return text

    def feed(self, block: Block) -> list[Block]:
        """Add the next block and return the blocks to pass on now."""
        if isinstance(block, DataBlock):
            return self._feed_data(block)
        self.characters += len(block.text)
        self._unsaved.append(block.text)
        self._unsaved_characters += len(block.text)
        if self.is_holding:
            self._hold_text(block)
            return []
        return self._feed_head(block)

    def finish(self) -> list[Block]:
        """Return the held blocks; if text was cut, its tail begins at the start of a line."""
        first = self._held[0].block if self.is_over and self._held else None
        if isinstance(first, TextBlock):
            line = first.text.find("\n") + 1
            if line <= len(first.text) // 2:
                tail = first.model_copy(update={"text": first.text[line:]})
                self._held[0] = self._held[0]._replace(block=tail)
        return [block for block, _ in self._held]

    # The head

    def _feed_head(self, block: TextBlock) -> list[Block]:
        room = self._head_budget - self._passed
        waiting = len(self._uncounted)
        head = head_of(self._uncounted + block.text, room, self._counter)[waiting:]
        if len(head) == len(block.text):
            self._pass_on(head)
            return [block]
        self.is_holding = True
        head = head[: head.rfind("\n") + 1] or head
        self._pass_on(head)
        self._hold_text(block.model_copy(update={"text": block.text[len(head) :]}))
        return [block.model_copy(update={"text": head})] if head else []

    def _pass_on(self, text: str) -> None:
        # Small pieces are counted together: each by itself would be rounded up.
        self._passed_characters += len(text)
        self._uncounted += text
        if len(self._uncounted) >= _JOINED_CHARACTERS or self.is_holding:
            self._passed += self._counter.count(self._uncounted)
            self._uncounted = ""

    # The tail

    @property
    def _tail_budget(self) -> int:
        return max(self._limit - self._passed, 0)

    def _hold_text(self, block: TextBlock) -> None:
        last = self._held[-1].block if self._held else None
        if isinstance(last, TextBlock) and len(last.text) < _JOINED_CHARACTERS:
            self._held_tokens -= self._held.pop().tokens
            block = last.model_copy(update={"text": last.text + block.text})
        tail = tail_of(block.text, self._tail_budget, self._counter)
        if len(tail) < len(block.text):
            self.dropped_data += sum(isinstance(b, DataBlock) for b, _ in self._held)
            self._held.clear()
            self._held_tokens = 0
            self.is_over = self.is_changed = True
            block = block.model_copy(update={"text": tail})
        self._hold(block, self._counter.count(tail))

    def _hold(self, block: Block, tokens: int) -> None:
        self._held.append(_Held(block, tokens))
        self._held_tokens += tokens
        while self._held_tokens > self._tail_budget:
            self._shorten_oldest()

    def _shorten_oldest(self) -> None:
        self.is_over = self.is_changed = True
        block, tokens = self._held.popleft()
        self._held_tokens -= tokens
        if isinstance(block, DataBlock):
            self.dropped_data += 1
            return
        text = tail_of(block.text, self._tail_budget - self._held_tokens, self._counter)
        if text:
            tokens = self._counter.count(text)
            self._held.appendleft(_Held(block.model_copy(update={"text": text}), tokens))
            self._held_tokens += tokens

    # Data

    def _feed_data(self, block: DataBlock) -> list[Block]:
        if self._uncounted:
            self._passed += self._counter.count(self._uncounted)
            self._uncounted = ""
        tokens = _data_tokens(block, self._counter)
        if tokens > self._tail_budget:
            self.is_changed = True
            return self.feed(TextBlock(text=f"\n[left out, too large: {_describe(block)}]\n"))
        if self.is_holding:
            self._hold(block, tokens)
            return []
        self._passed += tokens
        return [block]


def _data_tokens(block: DataBlock, counter: TokenCounter) -> int:
    source = block.source
    if source.media_type.startswith("image/"):
        return IMAGE_TOKENS
    return counter.count(source.data if isinstance(source, Base64Source) else str(source.url))


def _describe(block: DataBlock) -> str:
    source = block.source
    size = f", {len(source.data) * 3 // 4:,} bytes" if isinstance(source, Base64Source) else ""
    return f"{block.name or 'data'} ({source.media_type}{size})"
