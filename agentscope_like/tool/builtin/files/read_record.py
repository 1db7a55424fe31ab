"""What the agent has read of files: noted after each read and change, required before a change."""

from __future__ import annotations

from agentscope_like.paths import Location
from agentscope_like.state import AgentState, ReadCacheEntry, ReadState
from agentscope_like.tool.builtin.file_errors import FileToolError
from agentscope_like.tool.builtin.file_system import FileContent

__all__ = ["remember", "require_read"]


def remember(state: AgentState, entry: ReadCacheEntry) -> None:
    """Note in the agent's state what a file is now, as far as the agent knows it."""
    context = state.tool_context
    context.read_state.max_files = context.max_cache_files
    context.read_state.record(entry)


def require_read(location: Location, now: FileContent, read_state: ReadState | None) -> None:
    """Refuse to change a file that was not read as it is now (seed 002, "File Tools").

    Without a read state nothing is known to have been read, so nothing existing is changed.

    Raises:
        FileToolError: It was not read, or changed since.
    """
    shown = location.written
    if read_state is None:
        raise FileToolError(
            f"{shown} exists, and without an agent's state nobody knows that it was read. "
            "Call the tool through a Toolkit, or pass the state as `_agent_state`."
        )
    entry = read_state.get(location.resolved)
    if entry is None:
        raise FileToolError(f"{shown} exists but was not read. Read it first, then call again.")
    if entry.digest != now.digest:
        raise FileToolError(
            f"{shown} changed since it was read. Read it again, then decide what to change."
        )
