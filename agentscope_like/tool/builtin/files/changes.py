"""Changes files for Write and Edit: requires an earlier read, and reports the diff."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from agentscope_like.message import ToolChunk
from agentscope_like.paths import Location
from agentscope_like.state import AgentState, ReadCacheEntry, ReadState
from agentscope_like.tool.builtin.file_errors import FileToolError
from agentscope_like.tool.builtin.file_system import FileContent, Files, FileSystem, explain
from agentscope_like.tool.builtin.tool_results import Checkpoint, failed, succeeded

__all__ = ["Change", "make_change", "remember", "require_read", "write_anew", "write_over"]


class Change(Struct, frozen=True):
    """A completed change of one file.

    Attributes:
        summary: One sentence for the model.
        diff: The unified diff, for people.
        entry: The file after the change, for the read state.
        occurrences: How many places changed.
    """

    summary: str
    diff: str
    entry: ReadCacheEntry
    occurrences: int = 1


async def make_change(
    file_system: FileSystem,
    work: Callable[[Files, ReadState | None, Checkpoint], Change],
    state: AgentState | None,
) -> ToolChunk:
    """Change a file in a thread, record its new state, and return the result.

    Args:
        file_system: Where the file is.
        work: Called in a thread with the files, the read state, and a checkpoint.
        state: The agent's state; without it no file counts as read.

    Returns:
        The result with the metadata `diff`, `file_path` and `occurrences` (contract), or an error.
    """
    read_state = None if state is None else state.tool_context.read_state
    try:
        change = await file_system.work(
            lambda files, checkpoint: work(files, read_state, checkpoint)
        )
    except FileToolError as error:
        return failed(error.message)
    if state is not None:
        remember(state, change.entry)
    metadata = {
        "diff": change.diff,
        "file_path": change.entry.file_path,
        "occurrences": change.occurrences,
    }
    return succeeded(change.summary, metadata)


def remember(state: AgentState, entry: ReadCacheEntry) -> None:
    """Record in the agent's state what the agent knows of a file now."""
    context = state.tool_context
    context.read_state.max_files = context.max_cache_files
    context.read_state.record(entry)


def require_read(location: Location, now: FileContent, read_state: ReadState | None) -> None:
    """Refuse to change a file whose current content was not read (seed 002, "File Tools").

    Without a read state no file counts as read, so no existing file is changed.

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


def write_over(
    files: Files, location: Location, data: bytes, before: FileContent, checkpoint: Checkpoint
) -> FileContent:
    """Replace a file that was read as `before` by `data`.

    Raises:
        FileToolError: It is no longer that file, may not be written, or the system refuses.
    """
    if not before.status.st_mode & 0o222:
        raise FileToolError(
            f"{location.written} is read-only. Make it writable first (chmod u+w), or ask the user."
        )
    try:
        return files.replace(location, data, before, checkpoint)
    except OSError as error:
        raise explain(error, location.written) from None


def write_anew(
    files: Files, location: Location, data: bytes, checkpoint: Checkpoint
) -> FileContent:
    """Create a new file and its missing directories.

    Raises:
        FileToolError: It exists now, or the system refuses.
    """
    try:
        return files.create(location, data, checkpoint)
    except OSError as error:
        raise explain(error, location.written) from None
