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

from agentscope_like.agent import Agent
from agentscope_like.cli.ask.keyboard import Person
from agentscope_like.cli.ask.respondent import Ended
from agentscope_like.cli.check import make_context
from agentscope_like.cli.program_tools import all_tools
from agentscope_like.cli.project.project_rules import ProjectRules
from agentscope_like.cli.run.session import Session
from agentscope_like.cli.show.render import Renderer
from agentscope_like.cli.show.summary import Tally
from agentscope_like.cli.show.theme import make_console
from agentscope_like.model import Script, ScriptedModel
from agentscope_like.permission import PermissionMode
from agentscope_like.session import SQLiteSessionStorage
from agentscope_like.state import AgentState
from agentscope_like.tool import Toolkit

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
    {
        "calls": [
            {
                "name": "Bash",
                "input": {"command": "git diff --stat && pytest -q tests > report.txt"},
            }
        ]
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
    storage = SQLiteSessionStorage(directory.parent / "sessions.db")
    try:
        await _session(directory, storage, console).run(TASK)
    finally:
        await storage.close()


def _session(directory: Path, storage: SQLiteSessionStorage, console: Console) -> Session:
    script = Script.parse("\n".join(json.dumps(turn) for turn in TURNS))
    context = make_context(PermissionMode.ACCEPT_EDITS, directory, ())
    agent = Agent(
        "agent",
        "You mend programs.",
        ScriptedModel(script, stream=False),
        Toolkit(all_tools(directory)),
        state=AgentState(permission_context=context),
    )
    project = ProjectRules(directory, data=directory.parent / "data")
    # A spinner in a picture would stand still: the renderer writes as to a file, in colour.
    renderer = Renderer(console, with_spinner=False)
    person = Person(console, _Watching(console))
    return Session(agent, storage, person, renderer, directory, project, Tally())


def main() -> None:
    """Write the picture."""
    parser = argparse.ArgumentParser(description="Draw the terminal, asking, as an SVG file.")
    parser.add_argument("file", nargs="?", type=Path, default=PICTURE, metavar="FILE")
    target: Path = parser.parse_args().file
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(draw(), encoding="utf-8")


if __name__ == "__main__":
    main()
