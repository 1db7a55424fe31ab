"""Changes to files by Write and Edit: require a read before, report the difference after."""

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
    """One change of one file, done.

    Attributes:
        summary: One sentence for the model.
        diff: The difference, for people.
        entry: The file as it is now, for the read state.
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
    """Do blocking work that changes a file, note what the file is now, and answer.

    Args:
        file_system: Where the file is.
        work: Called in a thread with the files there, what was read, and a checkpoint.
        state: The agent's state; without it nothing is known to have been read.

    Returns:
        The answer, its metadata `diff`, `file_path` and `occurrences` (contract); or why not.
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


def write_over(
    files: Files, location: Location, data: bytes, before: FileContent, checkpoint: Checkpoint
) -> FileContent:
    """Put `data` in the place of a file that was read as `before`.

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
    """Make a file that does not exist yet, and the directories that lead to it.

    Raises:
        FileToolError: It exists by now, or the system refuses.
    """
    try:
        return files.create(location, data, checkpoint)
    except OSError as error:
        raise explain(error, location.written) from None
