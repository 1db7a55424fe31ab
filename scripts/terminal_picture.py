"""Draws docs/assets/terminal.svg: the real program, asking a real question about a real call.

A scripted model works on a small project in a temporary directory; the calls are decided, run and
shown as ever, and the picture ends where the person is asked.

    python scripts/terminal_picture.py [FILE]
"""

from __future__ import annotations

import argparse
import asyncio
import io
import json
import tempfile
from pathlib import Path

from rich.console import Console
from rich.text import Text

from agentscope_like.cli.ask import Ended, Person
from agentscope_like.cli.run import RunOptions, opening_notes, prepare_session
from agentscope_like.cli.show import Renderer, make_console
from agentscope_like.session import SQLiteSessionStorage

__all__ = ["draw", "main"]

PICTURE = Path(__file__).parents[1] / "docs" / "assets" / "terminal.svg"
WIDTH = 92
TASK = "The total is wrong with two discounts."
FILE = "shop/cart.py"
BEFORE = "def total(prices, discount):\n    return sum(prices) - discount * 2\n"
TURNS = (
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
)


class _Watching:
    """Shows the prompt, and answers nothing."""

    def __init__(self, console: Console) -> None:
        self._console = console

    async def line(self, prompt: str, *, default: str = "", multiline: bool = False) -> str:
        """Show the prompt and end the input there."""
        del default, multiline
        self._console.print(Text(prompt, "bold"), end="")
        raise Ended


def draw() -> str:
    """Return the picture as SVG."""
    console = make_console(record=True, width=WIDTH, terminal=True)
    console.file = io.StringIO()
    console.print(Text("$ ", "quiet") + Text(f"agentscope-like run {TASK!r}", "bold"))
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name).resolve() / "project"
        (directory / "shop").mkdir(parents=True)
        (directory / FILE).write_text(BEFORE, encoding="utf-8")
        asyncio.run(_work(directory, console))
    text = console.export_svg(title="agentscope-like", unique_id="terminal")
    return "\n".join(line.rstrip() for line in text.split("\n")) + "\n"


async def _work(directory: Path, console: Console) -> None:
    script = directory.parent / "session.jsonl"
    script.write_text("\n".join(json.dumps(turn) for turn in TURNS), encoding="utf-8")
    storage = SQLiteSessionStorage(directory.parent / "sessions.db")
    options = RunOptions(task=TASK, model=f"scripted:{script}", directory=directory)
    # A spinner in a picture would stand still: the renderer writes as to a file, in colour.
    renderer = Renderer(console, with_spinner=False)
    try:
        session = await prepare_session(options, storage, renderer, at_terminal=False)
        session.respondent = Person(console, _Watching(console))
        for note in opening_notes(session, options):
            if str(directory) not in note:
                renderer.note(note)
        await session.run(TASK)
    finally:
        await storage.close()


def main() -> None:
    """Write the picture."""
    parser = argparse.ArgumentParser(description="Draw the terminal, asking, as an SVG file.")
    parser.add_argument("file", nargs="?", type=Path, default=PICTURE, metavar="FILE")
    target: Path = parser.parse_args().file
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(draw(), encoding="utf-8")


if __name__ == "__main__":
    main()
