"""Notes that an agent keeps from one session to the next."""

from agentscope_like.tool.builtin.memory.memory_store import Memory, MemoryStore
from agentscope_like.tool.builtin.memory.memory_tools import (
    MemoryDelete,
    MemorySave,
    MemorySearch,
)

__all__ = ["Memory", "MemoryDelete", "MemorySave", "MemorySearch", "MemoryStore"]
