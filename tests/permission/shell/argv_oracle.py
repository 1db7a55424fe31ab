"""What a command line really runs, told by bash.

`BashOracle` runs text with a real bash whose PATH holds only stub programs that log their
arguments.
"""

from __future__ import annotations

import contextlib
import os
import select
import shutil
import signal
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["BASH", "HOME", "MARKER", "PROGRAMS", "BashOracle"]

BASH = shutil.which("bash")

MARKER = "evil"
PROGRAMS = ("a", "b", "c", "no", "in", "12", MARKER)
HOME = "/home/stub"

_STUB = """#!/bin/sh
printf '%s\\0' "$#" "${0##*/}" "$@" >>"$STUB_LOG"
[ "${0##*/}" != no ]
"""

_WAIT_DESCRIPTOR = 200


class BashOracle:
    """Runs commands with stub programs and tells which of them ran, with which arguments."""

    def __init__(self, directory: Path) -> None:
        self._programs = directory / "programs"
        self._programs.mkdir()
        self._work = directory / "work"
        self._log = directory / "log"
        for name in PROGRAMS:
            stub = self._programs / name
            stub.write_text(_STUB)
            stub.chmod(0o755)

    @staticmethod
    def accepts(command: str) -> bool:
        """Return whether bash can parse a command."""
        arguments = [BASH or "bash", "--norc", "--noprofile", "-n", "-c", "--", command]
        done = subprocess.run(
            arguments, env={"LC_ALL": "C.UTF-8"}, capture_output=True, check=False
        )
        return done.returncode == 0 and b"warning" not in done.stderr

    def run(self, command: str, *, timeout: float = 5) -> list[tuple[str, ...]] | None:
        """Return the argument vectors that the stubs saw, in order; None after a timeout."""
        shutil.rmtree(self._work, ignore_errors=True)
        (self._work / "out").mkdir(parents=True)
        self._log.write_bytes(b"")
        environment = {
            "PATH": str(self._programs),
            "STUB_LOG": str(self._log),
            "HOME": HOME,
            "LC_ALL": "C.UTF-8",
        }
        reading, writing = os.pipe()
        os.dup2(writing, _WAIT_DESCRIPTOR)
        os.close(writing)
        process = subprocess.Popen(
            [BASH or "bash", "--norc", "--noprofile", "-c", "--", command],
            cwd=self._work,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=(_WAIT_DESCRIPTOR,),
            start_new_session=True,
            restore_signals=False,  # a closed pipe must not end its writer
        )
        os.close(_WAIT_DESCRIPTOR)
        try:
            process.wait(timeout)
            ended, _, _ = select.select([reading], [], [], timeout)
            if not ended:  # something in the background has not closed its end
                return None
        except subprocess.TimeoutExpired:
            return None
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            os.close(reading)
        return list(self._records())

    def _records(self) -> Iterator[tuple[str, ...]]:
        fields = self._log.read_bytes().decode(errors="surrogateescape").split("\0")
        index = 0
        while index + 1 < len(fields):
            count = int(fields[index]) + 1
            yield tuple(fields[index + 1 : index + 1 + count])
            index += count + 1
