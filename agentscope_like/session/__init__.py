"""Stores sessions, so that another process can resume them, and memories beside them."""

from agentscope_like.session.memories import SQLiteMemoryStore
from agentscope_like.session.recording import recorded
from agentscope_like.session.replay import replay
from agentscope_like.session.sqlite import SQLiteSessionStorage
from agentscope_like.session.storage import SessionError, SessionInfo, SessionStorage

__all__ = [
    "SQLiteMemoryStore",
    "SQLiteSessionStorage",
    "SessionError",
    "SessionInfo",
    "SessionStorage",
    "recorded",
    "replay",
]
