"""Writes the messages about how a command ended, shown beside its output."""

from __future__ import annotations

import os
import uuid
from collections.abc import Sequence
from typing import Any

from agentscope_like.exception import ToolArgumentError
from agentscope_like.message import TextBlock, ToolChunk, ToolResultState
from agentscope_like.sandbox.isolation import Violation
from agentscope_like.tool.builtin.bash.shell_process import ShellExit
from agentscope_like.tool.builtin.bash.transcript import Transcript

__all__ = [
    "MAX_BACKGROUND_MS",
    "MAX_TIMEOUT_MS",
    "NO_OUTPUT",
    "epilogue",
    "failure",
    "not_confined",
    "refuse_unsendable",
    "run_seconds",
    "say_chunk",
    "secrecy",
]

MAX_TIMEOUT_MS = 600_000
"""The maximum timeout of a command, in milliseconds (seed 002, "Bash")."""

MAX_BACKGROUND_MS = 24 * 3_600_000
"""The maximum timeout of a command in the background."""

_MILLISECONDS = 1000

NO_OUTPUT = "The command ended without any output."
"""The result of a command that succeeded and wrote nothing."""

_MOST_NAMED = 5

_MAX_ARGUMENT_BYTES = 131_072
"""MAX_ARG_STRLEN of Linux, execve(2)."""


def refuse_unsendable(command: str) -> None:
    """Refuse text that cannot be an argument of a program."""
    try:
        encoded = os.fsencode(command)
    except UnicodeEncodeError as error:
        raise ToolArgumentError(f"The command cannot be encoded ({error}): rewrite it.") from error
    if b"\0" in encoded:
        raise ToolArgumentError("The command contains a NUL character: leave it out.")
    if len(encoded) >= _MAX_ARGUMENT_BYTES:
        raise ToolArgumentError(
            f"The command has {len(encoded):,} bytes and a program can be given "
            f"{_MAX_ARGUMENT_BYTES:,}: write it to a file and run that."
        )


def run_seconds(timeout_ms: int, *, in_background: bool) -> float:
    """Return the timeout of a command in seconds; 0 ms stands for the maximum."""
    longest = MAX_BACKGROUND_MS if in_background else MAX_TIMEOUT_MS
    return min(timeout_ms or longest, longest) / _MILLISECONDS


def epilogue(
    end: ShellExit,
    transcript: Transcript,
    timeout_ms: int,
    violation: Violation | None,
    kept_secret: Sequence[str] = (),
    *,
    is_held: bool = False,
) -> str:
    """Return the message after the output.

    Args:
        end: How the command ended.
        transcript: Its output.
        timeout_ms: Its timeout.
        violation: What it tried and the confinement refused.
        kept_secret: Paths of hidden credentials that it opened.
        is_held: Whether it ran held, so that nothing stands of what it did until it was ended.
    """
    notes: list[str] = []
    if end.excess is not None:
        notes.append(f"The command was ended: {end.excess}.")
    elif end.status is None:
        limit = timeout_ms or MAX_TIMEOUT_MS
        advice = (
            f"a longer timeout, at most {MAX_TIMEOUT_MS} ms, or " if limit < MAX_TIMEOUT_MS else ""
        )
        notes.append(
            f"The command was ended after its timeout of {limit} ms"
            f"{'' if is_held else '; what it did until then stands'}. "
            f"Give it {advice}less to do."
        )
    elif end.status:
        notes.append(f"exit status {end.status}")
    if end.left_background:
        notes.append("Processes that the command left in the background were ended with it.")
    if violation is not None:
        notes.append(violation.message)
    if kept_secret:
        notes.append(secrecy(kept_secret))
    if not notes:
        return NO_OUTPUT if transcript.is_empty else ""
    text = "\n".join(f"[{note}]" for note in notes)
    return text if transcript.is_empty or transcript.ends_line else f"\n{text}"


def secrecy(paths: Sequence[str]) -> str:
    """Return the sentence about credentials that a command opened and did not see."""
    named = ", ".join(f"`{path}`" for path in paths[:_MOST_NAMED])
    more = len(paths) - _MOST_NAMED
    named += f" and {more} more" if more > 0 else ""
    were, one = ("was", "it") if len(paths) == 1 else ("were", "one")
    return (
        f"{named} {were} kept secret from this command; name {one} in a command of its own to ask "
        "for it."
    )


def not_confined(reason: str) -> ToolChunk:
    """Return the result of a command that did not run, since it could not be confined."""
    chunk = failure(
        "The command was not run, because it could not be confined to what was decided about it: "
        f"{reason}. Nothing is run without that unless the user switches it off."
    )
    chunk.metadata["not_confined"] = reason
    return chunk


def failure(text: str) -> ToolChunk:
    """Return the result of a command that did not run."""
    return say_chunk(text, block_id=uuid.uuid4().hex, state=ToolResultState.ERROR)


def say_chunk(
    text: str,
    *,
    block_id: str,
    state: ToolResultState = ToolResultState.RUNNING,
    metadata: dict[str, Any] | None = None,
) -> ToolChunk:
    """Return a piece of a command's output; the last one has another state than RUNNING."""
    return ToolChunk(
        content=[TextBlock(text=text, id=block_id)],
        state=state,
        is_last=state is not ToolResultState.RUNNING,
        metadata=metadata or {},
    )
