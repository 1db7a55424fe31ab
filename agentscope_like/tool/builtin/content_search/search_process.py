"""Runs a search program with limits on time and output; stops it if the call is cancelled."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from agentscope_like.tool.builtin.file_errors import FileToolError
from agentscope_like.tool.builtin.tool_results import CancelCheck
from agentscope_like.tool.builtin.worker_process import WorkerOutput, run_worker

__all__ = ["SEARCH_SECONDS", "SearchOutput", "run_search", "took_too_long"]

SEARCH_SECONDS = 30.0
"""The timeout of a search."""

SearchOutput: TypeAlias = WorkerOutput


def run_search(
    argv: Sequence[str],
    *,
    feed: bytes,
    directory: str,
    cancel_check: CancelCheck,
    seconds: float = SEARCH_SECONDS,
    hand_over: tuple[int, ...] = (),
) -> SearchOutput:
    """Run a search program to its end; blocks.

    Args:
        argv: The program and its arguments.
        feed: Its standard input.
        directory: Where it starts.
        cancel_check: Called several times a second; what it raises ends the program.
        seconds: The timeout.
        hand_over: Descriptors that the program inherits under the same numbers.

    Raises:
        FileToolError: It took too long, or cannot be started.
    """
    return run_worker(
        argv,
        feed=feed,
        directory=directory,
        cancel_check=cancel_check,
        seconds=seconds,
        too_slow=took_too_long(),
        hand_over=hand_over,
    )


def took_too_long() -> FileToolError:
    """Return the error for a search that timed out."""
    return FileToolError(
        "The search took too long and was stopped. Narrow it with `path`, `glob` or `type`, or use "
        "a simpler pattern."
    )
