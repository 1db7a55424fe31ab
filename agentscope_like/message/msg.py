"""Messages: who said what."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal, Self, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, model_validator

from agentscope_like.message.block import (
    ContentBlock,
    DataBlock,
    HintBlock,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
    ToolResultBlock,
    new_id,
    now,
)
from agentscope_like.message.rebuild import append_event
from agentscope_like.message.usage import Usage
from agentscope_like.permission.text import Facts, Text
from agentscope_like.types import ErrorInfo, ReplyFinishedReason

__all__ = ["AssistantMsg", "BlockType", "Msg", "SystemMsg", "UserMsg"]

BlockType: TypeAlias = Literal["text", "thinking", "hint", "tool_call", "tool_result", "data"]

_ALLOWED_BLOCKS: dict[str, tuple[type, ...]] = {
    "user": (TextBlock, DataBlock),
    "system": (TextBlock,),
    "assistant": (
        TextBlock,
        ThinkingBlock,
        HintBlock,
        ToolCallBlock,
        ToolResultBlock,
        DataBlock,
    ),
}


class Msg(BaseModel):
    """A message of the user, the assistant or the system.

    Raises:
        pydantic.ValidationError: A block stands in a message of a role that cannot say it.
    """

    model_config = ConfigDict(defer_build=True, extra="forbid")

    name: Text
    content: list[Annotated[ContentBlock, Field(discriminator="type")]]
    role: Literal["user", "assistant", "system"]
    id: str = Field(default_factory=new_id)
    metadata: Facts = Field(default_factory=dict)
    created_at: str = Field(default_factory=now)
    usage: Usage | None = None
    finished_at: str | None = None
    finished_reason: ReplyFinishedReason | None = None
    structured_output: Facts | None = None
    error: ErrorInfo | None = None

    @model_validator(mode="after")
    def validate_role_content(self) -> Self:
        """Refuse blocks that a message of this role cannot hold."""
        allowed = _ALLOWED_BLOCKS[self.role]
        for block in self.content:
            if not isinstance(block, allowed):
                names = ", ".join(kind.__name__ for kind in allowed)
                raise ValueError(
                    f"a {self.role} message cannot hold a {type(block).__name__}; "
                    f"it may hold {names}"
                )
        return self

    def has_content_blocks(self, block_type: BlockType | list[BlockType] | None = None) -> bool:
        """Return whether there is a block of this type, or of any of these; None means any."""
        return bool(self.get_content_blocks(block_type))

    def get_text_content(self, separator: str = "\n") -> str | None:
        """Return the text blocks joined by `separator`, or None where there is none."""
        texts = [block.text for block in self.content if isinstance(block, TextBlock)]
        return separator.join(texts) if texts else None

    def get_content_blocks(
        self, block_type: BlockType | list[BlockType] | None = None
    ) -> Sequence[ContentBlock]:
        """Return the blocks of this type, or of any of these types; None means all."""
        if block_type is None:
            return list(self.content)
        wanted = {block_type} if isinstance(block_type, str) else set(block_type)
        return [block for block in self.content if block.type in wanted]

    def append_event(self, event: Any) -> Self:
        """Take in one event of the reply that this message records, and return the message.

        Args:
            event: Any event of `agentscope_like.event`; one of another reply, whose id is not the
                message's, changes nothing.
        """
        append_event(self, event)
        return self


def _blocks(content: str | Sequence[ContentBlock]) -> list[ContentBlock]:
    return [TextBlock(text=content)] if isinstance(content, str) else list(content)


def _given(**fields: Any) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}


def UserMsg(  # noqa: N802 - the name is part of the public contract
    name: str,
    content: str | list[TextBlock | DataBlock],
    metadata: dict[str, Any] | None = None,
    created_at: str | None = None,
    finished_at: str | None = None,
    finished_reason: ReplyFinishedReason | None = None,
    id: str | None = None,  # noqa: A002
) -> Msg:
    """Return a message of the user; a plain string becomes one text block."""
    return Msg(
        name=name,
        role="user",
        content=_blocks(content),
        **_given(
            metadata=metadata,
            created_at=created_at,
            finished_at=finished_at,
            finished_reason=finished_reason,
            id=id,
        ),
    )


def AssistantMsg(  # noqa: N802 - the name is part of the public contract
    name: str,
    content: str
    | list[TextBlock | ThinkingBlock | HintBlock | ToolCallBlock | ToolResultBlock | DataBlock],
    metadata: dict[str, Any] | None = None,
    created_at: str | None = None,
    finished_at: str | None = None,
    finished_reason: ReplyFinishedReason | None = None,
    structured_output: dict[str, Any] | None = None,
    id: str | None = None,  # noqa: A002
    usage: Usage | None = None,
) -> Msg:
    """Return a message of the assistant; a plain string becomes one text block."""
    return Msg(
        name=name,
        role="assistant",
        content=_blocks(content),
        **_given(
            metadata=metadata,
            created_at=created_at,
            finished_at=finished_at,
            finished_reason=finished_reason,
            structured_output=structured_output,
            id=id,
            usage=usage,
        ),
    )


def SystemMsg(  # noqa: N802 - the name is part of the public contract
    name: str,
    content: str | list[TextBlock],
    metadata: dict[str, Any] | None = None,
    created_at: str | None = None,
    finished_at: str | None = None,
    finished_reason: ReplyFinishedReason | None = None,
    id: str | None = None,  # noqa: A002
) -> Msg:
    """Return a message of the system; a plain string becomes one text block."""
    return Msg(
        name=name,
        role="system",
        content=_blocks(content),
        **_given(
            metadata=metadata,
            created_at=created_at,
            finished_at=finished_at,
            finished_reason=finished_reason,
            id=id,
        ),
    )
