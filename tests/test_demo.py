"""`make demo` without a person: the recorded answers are used, and the work is really done."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pexpect

from tests.cli.program import MESSAGE, Terminal

DEMO = Path(__file__).parent.parent / "examples" / "repair" / "demo.py"


def test_the_demo_repairs_its_project() -> None:
    """The tests fail before the edit and pass after it; one call is refused; the summary counts."""
    done = subprocess.run(
        [sys.executable, str(DEMO)],
        capture_output=True,
        text=True,
        timeout=120,
        stdin=subprocess.DEVNULL,
        env={**os.environ, "CI": "true", "COLUMNS": "100"},
        check=False,
    )
    shown = done.stdout
    assert done.returncode == 0, done.stderr
    before, _, after = shown.partition("* Edit")
    assert "2 failed" in before
    assert "6 passed" in after
    assert shown.count("(recorded)") == 2
    assert "\nwhy " in shown.replace("│", "").replace("\n ", "\n")
    assert "denied Bash git push --force origin main" in shown
    assert "2 prompts (1 done by hand, 1 no)" in shown
    assert "Warning" not in shown
    assert "--resume" not in shown
    assert shown.endswith("its project is removed now.\n")


def test_ctrl_c_interrupts_a_call_of_the_demo_and_not_the_demo() -> None:
    """Ctrl-C reaches every program at the terminal; the session goes on, and is ended by Ctrl-D."""
    child = pexpect.spawn(
        sys.executable,
        [str(DEMO)],
        env={**os.environ, "TERM": "xterm", "PROMPT_TOOLKIT_NO_CPR": "1"},
        dimensions=(50, 100),
        encoding="utf-8",
        timeout=60,
    )
    terminal = Terminal(child)
    terminal.answer("Result:", "Approved: commit it locally.")
    terminal.answer("Run it? [", "e")
    terminal.expect("Command:")
    terminal.press("u")
    terminal.type("echo has be''gun; sleep 60\r")
    terminal.expect("has begun")
    terminal.press("c")
    terminal.expect("interrupted Bash")
    terminal.expect(MESSAGE)
    time.sleep(0.5)  # a demo that Ctrl-C ended would kill the session a moment later
    terminal.press("d")
    terminal.end()
    assert "Summary" in terminal.unread
    assert "Traceback" not in terminal.unread
