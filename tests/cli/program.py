"""The real program in a process of its own, plain or at a pseudo-terminal."""

from __future__ import annotations

import contextlib
import gc
import io
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import pexpect

from agentscope_like.cli.program import main

MESSAGE = "you>"
HESITATION = 0.5
"""Seconds in which a person reads a question; it takes no answer for the first 0.3 of them."""
COMMAND = [sys.executable, "-m", "agentscope_like"]
ESCAPE = re.compile(r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|[()][A-Za-z0-9]|[=>])")


@dataclass(frozen=True)
class Program:
    """The command line, with a home and a project of its own."""

    home: Path
    project: Path

    @property
    def environment(self) -> dict[str, str]:
        """Return the environment of the test, with this home and without a key."""
        hidden = ("OPENAI_API_KEY", "OPENAI_BASE_URL", "AGENTSCOPE_LIKE_MODEL")
        kept = {name: value for name, value in os.environ.items() if name not in hidden}
        return {
            **kept,
            "HOME": str(self.home),
            "XDG_DATA_HOME": str(self.home / "data"),
            "PROMPT_TOOLKIT_NO_CPR": "1",
            "TERM": "xterm",
            "COLUMNS": "100",
        }

    def call(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run its entry point to its end in this process, which is much faster than `run`."""
        out, err = io.StringIO(), io.StringIO()
        code: object = None
        with (
            mock.patch.dict(os.environ, self.environment, clear=True),
            mock.patch.object(sys, "argv", ["agentscope-like", *arguments]),
            mock.patch.object(sys, "stdin", io.StringIO()),
            contextlib.chdir(self.project),
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
        ):
            try:
                main()
            except SystemExit as end:
                code = end.code
            finally:
                gc.enable()
        return subprocess.CompletedProcess(
            list(arguments), code if isinstance(code, int) else 0, out.getvalue(), err.getvalue()
        )

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run it to its end in a process of its own, without a terminal."""
        return subprocess.run(
            [*COMMAND, *arguments],
            cwd=self.project,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
        )

    def script(self, *entries: Mapping[str, Any]) -> str:
        """Write a script and return it as the value of `--model`."""
        path = self.home / "script.jsonl"
        path.write_text("".join(json.dumps(entry) + "\n" for entry in entries), encoding="utf-8")
        return f"scripted:{path}"

    def open(self, *arguments: str) -> Terminal:
        """Start it at a pseudo-terminal."""
        child = pexpect.spawn(
            COMMAND[0],
            [*COMMAND[1:], *arguments],
            cwd=str(self.project),
            env=self.environment,
            dimensions=(50, 100),
            encoding="utf-8",
            timeout=20,
            preexec_fn=_heed_a_hangup,
        )
        return Terminal(child)


def _heed_a_hangup() -> None:
    """Undo what `nohup` and its like hand on: a terminal's programs end when it goes away."""
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


class Terminal:
    """What a person sees and types."""

    def __init__(self, child: pexpect.spawn[str]) -> None:
        self.child = child
        self.unread = ""

    def expect(self, text: str, *, seconds: float = 15.0) -> str:
        """Wait until `text` is shown; return what is new up to its end, without its colours."""
        deadline = time.monotonic() + seconds
        while text not in (shown := ESCAPE.sub("", self.unread)):
            if time.monotonic() > deadline:
                raise AssertionError(f"{text!r} was not shown; there is:\n{shown}")
            try:
                self.unread += self.child.read_nonblocking(4096, timeout=0.2)
            except pexpect.TIMEOUT:
                continue
            except pexpect.EOF:
                raise AssertionError(f"it ended before {text!r}; there is:\n{shown}") from None
        end = shown.index(text) + len(text)
        self.unread = shown[end:]
        return shown[:end].replace("\r\n", "\n")

    def answer(self, prompt: str, text: str) -> str:
        """Type `text` at the prompt, and return what was shown before it."""
        shown = self.expect(prompt)
        self.type(f"{text}\r")
        return shown

    def type(self, text: str) -> None:
        """Type, after the time that it takes to read the prompt that was shown."""
        time.sleep(HESITATION)
        self.child.send(text)

    def press(self, key: str) -> None:
        """Press a key together with Ctrl."""
        time.sleep(HESITATION)
        self.child.sendcontrol(key)

    def leave(self) -> int:
        """End the session at the prompt for the next message, and return the exit code."""
        self.expect(MESSAGE)
        self.press("d")
        return self.end()

    def end(self) -> int:
        """Wait for the end and return the exit code."""
        self.child.expect(pexpect.EOF)
        self.unread += ESCAPE.sub("", self.child.before or "")
        self.child.close()
        return -1 if self.child.exitstatus is None else self.child.exitstatus


def call(call_id: str, name: str, **arguments: Any) -> dict[str, Any]:
    """Return a call for a turn of a script."""
    return {"id": call_id, "name": name, "input": arguments}


def turn(*calls: dict[str, Any], say: str = "") -> dict[str, Any]:
    """Return a turn of a script."""
    return {"say": say, "calls": list(calls)}
