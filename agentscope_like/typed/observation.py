"""Defines `Observation`, what a typed tool's call came to, and what the model reads of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Self, TypeAlias

from pydantic import Field

from agentscope_like.message import (
    DataBlock,
    TextBlock,
    ToolResponse,
    ToolResultBlock,
    ToolResultState,
)
from agentscope_like.typed.schema import Schema

if TYPE_CHECKING:
    from rich.text import Text

__all__ = ["OBSERVATION", "Content", "ErrorObservation", "Observation", "observation_of"]

Content: TypeAlias = Annotated[TextBlock | DataBlock, Field(discriminator="type")]
"""A part of an observation that a model can read."""

OBSERVATION = "observation"
"""The key of a result's metadata under which the observation is, as JSON."""

ERROR_HEADER = "[The call ended with an error.]\n"


class Observation(Schema):
    """What came of an action (seed 004); subclasses add fields.

    Attributes:
        content: What the model reads.
        is_error: Whether the action failed.
    """

    content: tuple[Content, ...] = ()
    is_error: bool = False

    @classmethod
    def from_text(cls, text: str, is_error: bool = False, **fields: Any) -> Self:
        """Return an observation whose content is one text.

        Args:
            text: The text.
            is_error: Whether the action failed.
            **fields: The other fields of the class.
        """
        return cls(content=(TextBlock(text=text),), is_error=is_error, **fields)

    @property
    def text(self) -> str:
        """Return the texts of the content, joined."""
        return "".join(block.text for block in self.content if isinstance(block, TextBlock))

    @property
    def to_llm_content(self) -> list[Content]:
        """Return what the model reads; an error says so first."""
        if self.is_error:
            return [TextBlock(text=ERROR_HEADER), *self.content]
        return list(self.content)

    @property
    def visualize(self) -> Text:
        """Return the content for a terminal; an error is red."""
        from rich.text import Text

        text = Text()
        for block in self.to_llm_content:
            if isinstance(block, TextBlock):
                text.append(block.text, style="red" if self.is_error else "")
            else:
                text.append(f"[{block.source.media_type}]", style="dim")
        return text


class ErrorObservation(Observation):
    """An action that did not come to an observation of its tool's own class.

    Attributes:
        tool_name: The tool.
    """

    tool_name: str = ""
    is_error: bool = True


def observation_of(result: ToolResponse | ToolResultBlock) -> Observation:
    """Return the observation of a result, of its own class if that was imported.

    A result that no typed tool gave, such as a refusal, is an observation of its content.

    Args:
        result: What a toolkit's run ended with, or what an agent recorded of it.

    Raises:
        pydantic.ValidationError: Its class is not known.
    """
    given = result.content if isinstance(result, ToolResponse) else result.output
    blocks = (TextBlock(text=given),) if isinstance(given, str) else tuple(given)
    dumped = result.metadata.get(OBSERVATION)
    if isinstance(dumped, dict):
        observation = Observation.from_json(dumped)
        if "content" in dumped:
            return observation
        return observation.model_copy(update={"content": _without_header(blocks)})
    if result.state is ToolResultState.SUCCESS:
        return Observation(content=blocks)
    return ErrorObservation(content=blocks)


def _without_header(blocks: tuple[Content, ...]) -> tuple[Content, ...]:
    """Return what the model read of an error without the words that say that it is one."""
    first = blocks[0] if blocks else None
    if not isinstance(first, TextBlock) or not first.text.startswith(ERROR_HEADER):
        return blocks
    text = first.text.removeprefix(ERROR_HEADER)
    return (first.model_copy(update={"text": text}), *blocks[1:])
