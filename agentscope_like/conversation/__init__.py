"""Gives an agent the chat that it works for: to search, to read and to commit to."""

from __future__ import annotations

from agentscope_like.conversation.activation import (
    ActivatedContextProvider,
    ContextEntry,
    InMemoryActivations,
)
from agentscope_like.conversation.activation_tool import ReadActivated
from agentscope_like.conversation.chat_file import read_chat_file
from agentscope_like.conversation.chat_tools import ChatReadMessages, ChatSearch
from agentscope_like.conversation.commit import Commit, CommitMode, CommitSink
from agentscope_like.conversation.history import MessageHistoryStore
from agentscope_like.conversation.in_memory_chat import InMemoryChat
from agentscope_like.conversation.messages import (
    ChatMessage,
    ChatRole,
    FoundMessages,
    MessageHit,
    MessageSearch,
)
from agentscope_like.conversation.sqlite import ConversationError, SQLiteActivations, SQLiteChat

__all__ = [
    "ActivatedContextProvider",
    "ChatMessage",
    "ChatReadMessages",
    "ChatRole",
    "ChatSearch",
    "Commit",
    "CommitMode",
    "CommitSink",
    "ContextEntry",
    "ConversationError",
    "FoundMessages",
    "InMemoryActivations",
    "InMemoryChat",
    "MessageHistoryStore",
    "MessageHit",
    "MessageSearch",
    "ReadActivated",
    "SQLiteActivations",
    "SQLiteChat",
    "read_chat_file",
]
