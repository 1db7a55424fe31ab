"""What a tool yields while it runs, and what a call comes to."""

from __future__ import annotations

from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field

from agentscope_like.message.base64_pieces import join_base64
from agentscope_like.message.block import (
    ApplyQuestion,
    Base64Source,
    DataBlock,
    TextBlock,
    ToolResultState,
    new_id,
)

__all__ = ["ToolChunk", "ToolResponse", "joined"]

_SEVERITY = {
    ToolResultState.SUCCESS: 0,
    ToolResultState.INTERRUPTED: 1,
    ToolResultState.DENIED: 1,
    ToolResultState.ERROR: 2,
}


class ToolChunk(BaseModel):
    """A piece of a tool's output.

    Attributes:
        content: What is new.
        state: RUNNING while more may come or nothing is to be said; else how it went.
        is_last: Whether the tool means this to be its last piece.
        metadata: Facts for programs, merged into the response's.
    """

    model_config = ConfigDict(defer_build=True, extra="forbid")

    content: list[TextBlock | DataBlock]
    state: ToolResultState = ToolResultState.RUNNING
    is_last: bool = True
    metadata: dict[str, Any] = Field(default_factory=dict)
    id: str = Field(default_factory=new_id)


class ToolResponse(BaseModel):
    """The whole of what one call came to.

    Attributes:
        question: What a person is asked about first: the call ran held, and is not over.
    """

    model_config = ConfigDict(defer_build=True, extra="forbid")

    content: list[TextBlock | DataBlock] = Field(default_factory=list)
    state: Literal[
        ToolResultState.ERROR,
        ToolResultState.DENIED,
        ToolResultState.INTERRUPTED,
        ToolResultState.SUCCESS,
    ] = ToolResultState.SUCCESS
    metadata: dict[str, Any] = Field(default_factory=dict)
    id: str = Field(default_factory=new_id)
    question: ApplyQuestion | None = None

    def append_chunk(self, chunk: ToolChunk) -> Self:
        """Add `chunk`: blocks of one id are joined, text follows text, the worst state wins."""
        for block in chunk.content:
            self._append_block(block)
        self.metadata.update(chunk.metadata)
        state = chunk.state
        if state is not ToolResultState.RUNNING and _SEVERITY[state] > _SEVERITY[self.state]:
            self.state = state
        return self

    def _append_block(self, block: TextBlock | DataBlock) -> None:
        # A joined block is a new one: those that came in chunks stay as their senders made them.
        if isinstance(block, TextBlock):
            for index in range(len(self.content) - 1, -1, -1):
                known = self.content[index]
                is_last = index == len(self.content) - 1
                if isinstance(known, TextBlock) and (is_last or known.id == block.id):
                    text = known.text + block.text
                    self.content[index] = known.model_copy(update={"text": text})
                    return
        else:
            for index, known in enumerate(self.content):
                if isinstance(known, DataBlock) and (joined_data := joined(known, block)):
                    self.content[index] = joined_data
                    return
        self.content.append(block)


def joined(known: DataBlock, piece: DataBlock) -> DataBlock | None:
    """Return the block of data grown by a piece of the same id, or None where they are two."""
    if known.id != piece.id:
        return None
    before, more = known.source, piece.source
    if not isinstance(before, Base64Source) or not isinstance(more, Base64Source):
        return None
    source = before.model_copy(update={"data": join_base64(before.data, more.data)})
    return known.model_copy(update={"source": source})
