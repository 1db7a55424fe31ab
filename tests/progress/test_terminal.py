"""What a person at the terminal sees of a tool that is at work."""

from __future__ import annotations

import asyncio
import io
import os
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pexpect
import pytest
from rich.console import Console

from agentscope_like.cli.ask.respondent import Ended
from agentscope_like.cli.project.project_rules import ProjectRules
from agentscope_like.cli.run.session import Session
from agentscope_like.cli.show.render import LIVE_LINES, Renderer
from agentscope_like.cli.show.summary import Tally
from agentscope_like.cli.show.theme import make_console
from agentscope_like.event import AgentEvent
from agentscope_like.message import TextBlock, ToolCallBlock, ToolResultBlock
from agentscope_like.progress import emit_tool_progress
from agentscope_like.session import SQLiteSessionStorage
from tests.agent.kit import agent_of
from tests.cli.program import Terminal
from tests.progress.kit import tool_of


class Nobody:
    """Answers nothing."""

    async def confirm(self, question: object) -> Any:
        """Refuse."""
        raise AssertionError("asked")

    async def perform(self, call: ToolCallBlock) -> ToolResultBlock:
        """Refuse."""
        raise AssertionError("asked")

    async def next_message(self) -> str | None:
        """End."""
        raise Ended


class Instant(SQLiteSessionStorage):
    """Stores nothing, so that no time passes between an event and its being shown."""

    async def append(self, session_id: str, event: AgentEvent) -> None:
        """Forget it."""


async def seen(
    place: Path, work: Callable[..., Awaitable[Any]], *, during: Callable[[str], None] | None = None
) -> str:
    """Return what a person sees of a reply that calls a tool; `during`, each time that looks."""
    out = io.StringIO()
    console = make_console(width=100)
    console.file = out

    async def look() -> None:
        while True:
            await asyncio.sleep(0.01)
            if during is not None:
                during(out.getvalue())

    looking = asyncio.create_task(look())
    try:
        await seen_by(console, place, work)
    finally:
        looking.cancel()
    return out.getvalue()


async def seen_by(console: Console, place: Path, work: Callable[..., Awaitable[Any]]) -> None:
    """Show a reply that calls a tool at a console."""
    call = ToolCallBlock(id="c1", name="work", input="{}")
    agent = agent_of([tool_of(work, name="work")], [call], (TextBlock(text="Done."),))
    storage = Instant(place / "sessions.db")
    rules = ProjectRules(place, data=place / "data")
    session = Session(agent, storage, Nobody(), Renderer(console), place, rules, Tally())
    try:
        await asyncio.wait_for(session.run("Go."), 30)
    finally:
        await storage.close()


async def test_sage_p_35_a_tool_s_progress_is_seen_while_it_works(tmp_path: Path) -> None:
    """The tool waits until the person has seen it: it is live, under the tool's name."""
    was_seen = asyncio.Event()

    async def work() -> str:
        await emit_tool_progress("half way\n")
        await was_seen.wait()
        return "the result"

    def look(text: str) -> None:
        if "  | half way" in text:
            was_seen.set()

    text = await seen(tmp_path, work, during=look)
    assert text.index("* work") < text.index("| half way") < text.index("ok work")
    assert text.index("ok work") < text.index("the result")
    assert text.count("half way") == 1


PROGRAM = """
import asyncio, sys
from pathlib import Path
from agentscope_like.cli.show.theme import make_console
from agentscope_like.progress import emit_tool_progress
from tests.progress.test_terminal import seen_by

async def work() -> str:
    await emit_tool_progress("half way\\n")
    while not Path("seen").exists():
        await asyncio.sleep(0.01)
    return "the result"

asyncio.run(seen_by(make_console(), Path.cwd(), work))
"""


def test_it_is_seen_at_a_real_terminal(tmp_path: Path) -> None:
    """The tool ends only once what it shows has been read from a pseudo-terminal."""
    child = pexpect.spawn(
        sys.executable,
        ["-c", PROGRAM],
        cwd=str(tmp_path),
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2]), "TERM": "xterm"},
        dimensions=(50, 100),
        encoding="utf-8",
        timeout=20,
    )
    terminal = Terminal(child)
    assert "the result" not in terminal.expect("| half way")
    (tmp_path / "seen").touch()
    terminal.expect("the result")
    assert terminal.end() == 0


async def test_all_of_it_is_seen_before_the_end(tmp_path: Path) -> None:
    """What is shown last, without the end of a line, comes before the call's end."""

    async def work() -> str:
        await emit_tool_progress("no end of line")
        await emit_tool_progress("trouble", stream="stderr")
        return "the result"

    text = await seen(tmp_path, work)
    assert text.index("| no end of line") < text.index("| trouble") < text.index("ok work")


async def test_long_progress_is_cut_and_counted(tmp_path: Path) -> None:
    """A screen's worth is shown, the rest is counted."""

    async def work() -> str:
        for number in range(LIVE_LINES + 5):
            await emit_tool_progress(f"line {number}\n")
        return "the result"

    text = await seen(tmp_path, work)
    assert f"| line {LIVE_LINES - 1}\n" in text
    assert f"line {LIVE_LINES}\n" not in text
    assert "... 5 more lines" in text


@pytest.mark.parametrize("hostile", ["\x1b[2J", "\x07", "[bold]x[/]", "\u202e"])
async def test_progress_cannot_steer_the_terminal(tmp_path: Path, hostile: str) -> None:
    """It is shown as text, with control characters spelt out."""

    async def work() -> str:
        await emit_tool_progress(f"before {hostile} after\n")
        return "the result"

    text = await seen(tmp_path, work)
    assert "before" in text
    assert "\x1b[2J" not in text
    assert "\x07" not in text
    assert "\u202e" not in text
    if hostile.startswith("[bold"):
        assert hostile in text


async def test_a_tool_without_progress_is_announced_as_before(tmp_path: Path) -> None:
    """Nothing is shown twice for a tool that shows nothing."""

    async def work() -> str:
        return "the result"

    text = await seen(tmp_path, work)
    assert text.count("* work") == 1
    assert text.count("the result") == 1
