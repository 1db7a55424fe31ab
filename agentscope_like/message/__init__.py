"""Messages and the blocks they are made of."""

from agentscope_like.message.block import (
    ApplyQuestion,
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
from agentscope_like.message.chunk import ToolChunk, ToolResponse
from agentscope_like.message.msg import AssistantMsg, BlockType, Msg, SystemMsg, UserMsg
from agentscope_like.message.usage import Usage

__all__ = [
    "ApplyQuestion",
    "AssistantMsg",
    "Base64Source",
    "BlockType",
    "ContentBlock",
    "DataBlock",
    "HintBlock",
    "Msg",
    "SystemMsg",
    "TextBlock",
    "ThinkingBlock",
    "ToolCallBlock",
    "ToolCallState",
    "ToolChunk",
    "ToolResponse",
    "ToolResultBlock",
    "ToolResultState",
    "URLSource",
    "Usage",
    "UserMsg",
]
