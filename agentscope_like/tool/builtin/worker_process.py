"""Runs a worker program with limits on time and output, and ends it with the call."""

from __future__ import annotations

import os
import selectors
import subprocess
import tempfile
import time
from collections.abc import Sequence

from msgspec import Struct

from agentscope_like.tool.builtin.file_errors import FileToolError
from agentscope_like.tool.builtin.tool_results import CancelCheck

__all__ = ["MAX_OUTPUT_BYTES", "WorkerOutput", "run_worker"]

MAX_OUTPUT_BYTES = 32 * 1024 * 1024
"""How much output of a worker is taken; it is stopped there."""

_POLL_SECONDS = 0.1
_READ_BYTES = 1 << 16


class WorkerOutput(Struct, frozen=True):
    """What a worker program wrote.

    Attributes:
        output: Its standard output.
        error: Its standard error, as text.
        code: Its exit code; negative where it was stopped.
        cut: Whether it was stopped because it wrote too much.
    """

    output: bytes
    error: str
    code: int
    cut: bool


def run_worker(
    argv: Sequence[str],
    *,
    feed: bytes,
    directory: str,
    cancel_check: CancelCheck,
    seconds: float,
    too_slow: FileToolError,
    most_bytes: int = MAX_OUTPUT_BYTES,
    hand_over: tuple[int, ...] = (),
) -> WorkerOutput:
    """Run a program to its end; blocks.

    Args:
        argv: The program and its arguments.
        feed: What it finds on its standard input.
        directory: Where it starts.
        cancel_check: Called several times a second; what it raises ends the program.
        seconds: How long it may take.
        too_slow: Raised if it takes longer.
        most_bytes: How much output is taken; it is stopped there.
        hand_over: Descriptors that the program inherits under their numbers.

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
            name = os.path.basename(argv[0])
            raise FileToolError(f"{name} cannot be started: {said}. Try again.") from None
        with process:
            try:
                deadline = time.monotonic() + seconds
                return _collect(process, cancel_check, deadline, too_slow, most_bytes)
            finally:
                if process.poll() is None:
                    process.kill()


def _collect(
    process: subprocess.Popen[bytes],
    cancel_check: CancelCheck,
    deadline: float,
    too_slow: FileToolError,
    most_bytes: int,
) -> WorkerOutput:
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
            cancel_check()
            cut = max(map(len, written.values())) > most_bytes
            if time.monotonic() > deadline:
                raise too_slow
    if cut:
        process.kill()
    return WorkerOutput(
        output=bytes(written["output"]),
        error=written["error"].decode("utf-8", "replace"),
        code=process.wait(),
        cut=cut,
    )
