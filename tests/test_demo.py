"""`make demo` without a person: the recorded answers are used, and the work is really done."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

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
    assert shown.count("(recorded)") == 4
    assert "row 4" in shown
    assert "denied Bash git push --force origin main" in shown
    assert "4 prompts (2 yes, 1 done by hand, 1 no)" in shown
