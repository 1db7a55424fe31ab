"""Draws docs/assets: the real program, asking real questions about real calls.

A scripted model works on a small project in a temporary directory; the calls are decided, run and
shown as ever, and each picture ends where the person is asked: about an edit before it is made
(`terminal.svg`), and about what a held command changed (`held-question.svg`).

    python scripts/terminal_picture.py [FOLDER]
"""

from __future__ import annotations

import argparse
import asyncio
import io
import json
import subprocess
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

from rich.console import Console
from rich.text import Text

from agentscope_like.cli.ask import Ended, Person
from agentscope_like.cli.run import RunOptions, opening_notes, prepare_session
from agentscope_like.cli.show import Renderer, make_console
from agentscope_like.session import SQLiteSessionStorage

__all__ = ["PICTURES", "draw", "main"]

ASSETS = Path(__file__).parents[1] / "docs" / "assets"
WIDTH = 92

FILE = "shop/cart.py"
BEFORE = "def total(prices, discount):\n    return sum(prices) - discount * 2\n"
BUILD = """\
#!/bin/sh
echo "building shop 1.1"
echo 1.1 > VERSION
echo "release 1.1" >> CHANGES
rm ideas.txt
echo "built in 0.4 s"
"""


class Picture(NamedTuple):
    """One picture.

    Attributes:
        task: What the person asks for.
        files: What the project has, as git records it.
        untracked: What it has besides.
        turns: What the model does.
    """

    task: str
    files: dict[str, str]
    untracked: dict[str, str]
    turns: tuple[dict[str, Any], ...]


PICTURES = {
    "terminal.svg": Picture(
        "The total is wrong with two discounts.",
        {FILE: BEFORE},
        {},
        (
            {
                "say": "I will look at how the total is made.",
                "calls": [
                    {"name": "Bash", "input": {"command": "ls shop && grep -rn discount shop"}},
                    {"name": "Read", "input": {"file_path": FILE}},
                ],
            },
            {
                "say": "The discount is taken twice.",
                "calls": [
                    {
                        "name": "Edit",
                        "input": {
                            "file_path": FILE,
                            "old_string": "sum(prices) - discount * 2",
                            "new_string": "sum(prices) - discount",
                        },
                    }
                ],
            },
        ),
    ),
    "held-question.svg": Picture(
        "Build the release.",
        {"build.sh": BUILD, "VERSION": "1.0\n", "CHANGES": "release 1.0\n"},
        {"ideas.txt": "a wish list\n"},
        (
            {
                "say": "I will run the build.",
                "calls": [{"name": "Bash", "input": {"command": "./build.sh"}}],
            },
        ),
    ),
}


class _Watching:
    """Shows the prompt, and answers nothing."""

    def __init__(self, console: Console) -> None:
        self._console = console

    async def line(self, prompt: str, *, default: str = "", multiline: bool = False) -> str:
        """Show the prompt and end the input there."""
        del default, multiline
        self._console.print(Text(prompt, "bold"), end="")
        raise Ended


def draw(name: str) -> str:
    """Return a picture as SVG.

    Args:
        name: Its file name.
    """
    picture = PICTURES[name]
    console = make_console(record=True, width=WIDTH, terminal=True)
    console.file = io.StringIO()
    console.print(Text("$ ", "quiet") + Text(f"agentscope-like run {picture.task!r}", "bold"))
    with tempfile.TemporaryDirectory() as top:
        directory = Path(top).resolve() / "project"
        _make(directory, picture)
        asyncio.run(_work(directory, picture, console))
    text = console.export_svg(title="agentscope-like", unique_id=name.removesuffix(".svg"))
    return "\n".join(line.rstrip() for line in text.split("\n")) + "\n"


def _make(directory: Path, picture: Picture) -> None:
    """Make the project."""
    _write(directory, picture.files)
    identity = ("-c", "user.name=you", "-c", "user.email=you@example.com")
    for words in (("init", "-q"), ("add", "-A"), (*identity, "commit", "-qm", "Begin")):
        subprocess.run(["git", *words], cwd=directory, check=True)  # noqa: S607
    _write(directory, picture.untracked)


def _write(directory: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        path.chmod(0o755 if path.suffix == ".sh" else 0o644)


async def _work(directory: Path, picture: Picture, console: Console) -> None:
    script = directory.parent / "session.jsonl"
    script.write_text("\n".join(json.dumps(turn) for turn in picture.turns), encoding="utf-8")
    storage = SQLiteSessionStorage(directory.parent / "sessions.db")
    options = RunOptions(task=picture.task, model=f"scripted:{script}", directory=directory)
    # A spinner in a picture would stand still: the renderer writes as to a file, in colour.
    renderer = Renderer(console, with_spinner=False)
    try:
        session = await prepare_session(options, storage, renderer, at_terminal=False)
        session.respondent = Person(console, _Watching(console))
        for note in opening_notes(session, options):
            if str(directory) not in note:
                renderer.note(note)
        await session.run(picture.task)
    finally:
        await storage.close()


def main() -> None:
    """Write the pictures."""
    parser = argparse.ArgumentParser(description="Draw the terminal, asking, as SVG files.")
    parser.add_argument("folder", nargs="?", type=Path, default=ASSETS, metavar="FOLDER")
    folder: Path = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    for name in PICTURES:
        (folder / name).write_text(draw(name), encoding="utf-8")


if __name__ == "__main__":
    main()
