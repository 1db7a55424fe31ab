"""Let an agent repair a small project: a recorded model, and everything else real.

The project is copied into a temporary workspace and given a git history. At a terminal you answer
the prompts; without one the recorded answers are used, and each is printed.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
TASK = "The balances of tallybook do not add up: some cents get lost. Find out why and fix it."
FIRST_COMMIT = ("README.md", "pyproject.toml", "tallybook/__init__.py", "tallybook/money.py")


def git(workspace: Path, *arguments: str) -> None:
    """Run git in the workspace as a made-up author, with no configuration but the workspace's."""
    identity = {
        f"GIT_{role}_{field}": value
        for role in ("AUTHOR", "COMMITTER")
        for field, value in (("NAME", "Ada"), ("EMAIL", "ada@example.org"))
    }
    environment = {**os.environ, **identity, "GIT_CONFIG_GLOBAL": os.devnull}
    subprocess.run(["git", *arguments], cwd=workspace, env=environment, check=True)


def make_workspace(parent: Path) -> Path:
    """Copy the project below `parent`, with two commits of history, and return its folder."""
    workspace = parent / "tallybook"
    shutil.copytree(HERE / "project", workspace)
    (workspace / ".gitignore").write_text("__pycache__/\n.pytest_cache/\n")
    git(workspace, "init", "-q", "-b", "main")
    git(workspace, "config", "user.name", "Ada")
    git(workspace, "config", "user.email", "ada@example.org")
    git(workspace, "add", ".gitignore", *FIRST_COMMIT)
    git(workspace, "commit", "-q", "-m", "Count money in cents")
    git(workspace, "add", "-A")
    git(workspace, "commit", "-q", "-m", "Split expenses and show balances")
    return workspace


def main() -> int:
    """Run the session and return its exit status."""
    binaries = Path(sys.executable).parent
    with tempfile.TemporaryDirectory(prefix="agentscope-like-demo-") as parent:
        workspace = make_workspace(Path(parent))
        command = [
            str(binaries / "agentscope-like"),
            "run",
            "--mode",
            "accept_edits",
            "--model",
            f"scripted:{HERE / 'session.jsonl'}",
            "--cwd",
            str(workspace),
            "--no-save",
            "--summary",
            TASK,
        ]
        environment = {**os.environ, "PATH": f"{binaries}{os.pathsep}{os.environ['PATH']}"}
        environment["XDG_DATA_HOME"] = str(Path(parent) / "data")
        environment["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # the project has none of its own
        # Ctrl-C is for the program, which interrupts a call; this one only waits for its end.
        signal.signal(signal.SIGINT, lambda *_: None)
        code = subprocess.run(command, env=environment, check=False).returncode
    print("That was a demonstration: its project is removed now.")
    return code


if __name__ == "__main__":
    sys.exit(main())
