"""Runs a search program with limits on time and output; stops it if the call is cancelled."""

from __future__ import annotations

import os
import selectors
import subprocess
import tempfile
import time
from collections.abc import Sequence

from msgspec import Struct

from agentscope_like.tool.builtin.file_errors import FileToolError
from agentscope_like.tool.builtin.tool_results import Checkpoint

__all__ = ["SEARCH_SECONDS", "SearchOutput", "run_search", "took_too_long"]

SEARCH_SECONDS = 30.0
"""The timeout of a search."""

MAX_OUTPUT_BYTES = 32 * 1024 * 1024
"""The maximum output of a search, which is then stopped."""

_POLL_SECONDS = 0.1
_READ_BYTES = 1 << 16


class SearchOutput(Struct, frozen=True):
    """The output of a search program.

    Attributes:
        output: Its standard output.
        error: Its standard error, as text.
        code: Its exit code; negative if it was stopped.
        cut: Whether it was stopped at the limit of its output.
    """

    output: bytes
    error: str
    code: int
    cut: bool


def run_search(
    argv: Sequence[str],
    *,
    feed: bytes,
    directory: str,
    checkpoint: Checkpoint,
    seconds: float = SEARCH_SECONDS,
    hand_over: tuple[int, ...] = (),
) -> SearchOutput:
    """Run a program to its end; blocks.

    Args:
        argv: The program and its arguments.
        feed: Its standard input.
        directory: Where it starts.
        checkpoint: Called several times a second; what it raises ends the program.
        seconds: The timeout.
        hand_over: Descriptors that the program inherits under the same numbers.

    Raises:
        FileToolError: It took too long, or cannot be started.
    """
    with tempfile.TemporaryFile() as source:
        source.write(feed)
        source.seek(0)
        try:
            process = subprocess.Popen(
                argv,
                stdin=source,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                cwd=directory,
                env={"PATH": os.defpath, "LC_ALL": "C.UTF-8"},
                start_new_session=True,
                pass_fds=hand_over,
            )
        except OSError as error:
            said = error.strerror or type(error).__name__
            raise FileToolError(f"The search cannot be started: {said}. Try again.") from None
        with process:
            try:
                return _collect(process, checkpoint, time.monotonic() + seconds)
            finally:
                if process.poll() is None:
                    process.kill()


def _collect(
    process: subprocess.Popen[bytes], checkpoint: Checkpoint, deadline: float
) -> SearchOutput:
    written = {"output": bytearray(), "error": bytearray()}
    cut = False
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout or -1, selectors.EVENT_READ, "output")
        selector.register(process.stderr or -1, selectors.EVENT_READ, "error")
        while selector.get_map() and not cut:
            for key, _ in selector.select(_POLL_SECONDS):
                if data := os.read(key.fd, _READ_BYTES):
                    written[key.data] += data
                else:
                    selector.unregister(key.fileobj)
            checkpoint()
            cut = max(map(len, written.values())) > MAX_OUTPUT_BYTES
            if time.monotonic() > deadline:
                raise took_too_long()
    if cut:
        process.kill()
    return SearchOutput(
        output=bytes(written["output"]),
        error=written["error"].decode("utf-8", "replace"),
        code=process.wait(),
        cut=cut,
    )


def took_too_long() -> FileToolError:
    """Return the error for a search that timed out."""
    return FileToolError(
        "The search took too long and was stopped. Narrow it with `path`, `glob` or `type`, or use "
        "a simpler pattern."
    )
