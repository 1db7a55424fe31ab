"""The process that holds the other parsers, as seen from here."""

from __future__ import annotations

import atexit
import contextlib
import os
import socket
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Callable
from pathlib import Path

import msgspec

from agentscope_like.shell.voters.answer import Answer, NoAnswerError

__all__ = ["ANSWER_SECONDS", "Worker"]

ANSWER_SECONDS = 0.25
"""How long an answer may take before the process is killed (docs/design/commands.md)."""

START_SECONDS = 10.0
"""How long the process may take to load the parsers."""

MAXIMUM_ANSWER = 1 << 20

_PROGRAM = Path(__file__).with_name("program.py")
_INHERITED = ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")
"""What Python itself may need to start, where it is not installed as a whole."""

_RECEIVED_AT_ONCE = 1 << 16


class Worker:
    """A process that parses with bashlex and tree-sitter-bash; started when first asked.

    One that does not answer in time, ends, or answers nonsense is killed, and another started for
    the next question. Safe to use from several threads, and after a fork. No process outlives this
    one: it ends with its input, and is killed when the interpreter exits.

    Args:
        command: Another program to ask, with its arguments.
        answer_seconds: How long an answer may take.
    """

    def __init__(
        self, command: tuple[str, ...] | None = None, *, answer_seconds: float = ANSWER_SECONDS
    ) -> None:
        self._command = command or (sys.executable, "-I", str(_PROGRAM))
        self._answer_seconds = answer_seconds
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._socket: socket.socket | None = None
        self._owner = os.getpid()
        self._number = 0
        os.register_at_fork(after_in_child=_weakly(self._forget))

    @property
    def pid(self) -> int | None:
        """Return the id of the process that runs now, or None."""
        return None if self._process is None else self._process.pid

    def ask(self, text: str) -> Answer:
        """Return what the parsers find in a text.

        Raises:
            NoAnswerError: There is no process, or it gave no answer in time.
        """
        if self._owner != os.getpid():
            self._forget()
        with self._lock:
            try:
                return self._ask(text)
            except TimeoutError:
                self._kill()
                milliseconds = round(self._answer_seconds * 1000)
                raise NoAnswerError(f"did not answer within {milliseconds} ms") from None
            except (OSError, msgspec.MsgspecError) as error:
                self._kill()
                raise NoAnswerError(f"gave no answer ({type(error).__name__})") from None
            except BaseException:
                self._kill()
                raise

    def close(self) -> None:
        """Kill the process; the next question starts another."""
        if self._owner == os.getpid():
            with self._lock:
                self._kill()

    def _ask(self, text: str) -> Answer:
        connection = self._running()
        self._number += 1
        question = msgspec.json.encode((self._number, text)) + b"\n"
        until = time.monotonic() + self._answer_seconds
        connection.settimeout(self._answer_seconds)
        connection.sendall(question)
        answer = msgspec.json.decode(_line(connection, until), type=Answer)
        if answer.number != self._number:
            raise OSError("an answer to another question")
        return answer

    def _running(self) -> socket.socket:
        """Return the connection to a process that waits for a question."""
        if self._process is not None and self._process.poll() is not None:
            self._kill()
        if self._socket is not None:
            return self._socket
        here, there = socket.socketpair()
        self._socket = here
        with there:
            self._process = subprocess.Popen(
                self._command,
                stdin=there.fileno(),
                stdout=there.fileno(),
                stderr=subprocess.DEVNULL,
                cwd="/",
                env={name: os.environ[name] for name in _INHERITED if name in os.environ},
                start_new_session=True,
            )
        atexit.register(self.close)
        try:
            _line(here, time.monotonic() + START_SECONDS)
        except TimeoutError:
            raise OSError("the parsers take too long to load") from None
        return here

    def _kill(self) -> None:
        process, connection = self._process, self._socket
        self._process = self._socket = None
        if connection is not None:
            connection.close()
        if process is not None:
            process.kill()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(START_SECONDS)
        atexit.unregister(self.close)

    def _forget(self) -> None:
        """In a forked process, let go of the parent's: it is not this one's to kill."""
        self._lock = threading.Lock()
        self._owner = os.getpid()
        if self._socket is not None:
            self._socket.close()
        if self._process is not None:
            self._process.returncode = 0  # so that it is not waited for
        self._process = self._socket = None


def _line(connection: socket.socket, until: float) -> bytes:
    """Return the next line.

    Raises:
        TimeoutError: It has not come by `until`.
        OSError: The connection ended, or the line is too long.
    """
    received = b""
    while not received.endswith(b"\n"):
        left = until - time.monotonic()
        if left <= 0:
            raise TimeoutError
        connection.settimeout(left)
        more = connection.recv(_RECEIVED_AT_ONCE)
        if not more or len(received) > MAXIMUM_ANSWER:
            raise OSError("no answer")
        received += more
    return received


def _weakly(method: Callable[[], None]) -> Callable[[], None]:
    """Return a function that calls a bound method as long as its object lives."""
    reference = weakref.WeakMethod(method)

    def call() -> None:
        bound = reference()
        if bound is not None:
            bound()

    return call
