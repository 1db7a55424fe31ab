"""A terminal in a toolkit, and a session that uses it."""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from agentscope_like.message import TextBlock, ToolCallBlock, ToolResponse
from agentscope_like.state import AgentState
from agentscope_like.tool import Toolkit
from agentscope_like.typed import Observation
from agentscope_like.typed.tools.terminal import TerminalObservation, TerminalTool
from tests.typed.kit import run, state_in

__all__ = ["Seen", "Session", "left_with"]


class Seen:
    """What came of a call.

    Attributes:
        call: The call, with its state and decision.
        response: Its result; None if it waits.
    """

    def __init__(self, call: ToolCallBlock, response: ToolResponse | None) -> None:
        self.call = call
        self.response = response

    @property
    def state(self) -> str:
        """Return where the call got to."""
        return str(self.call.state.value)

    @property
    def text(self) -> str:
        """Return what the model reads."""
        blocks = () if self.response is None else self.response.content
        return "".join(block.text for block in blocks if isinstance(block, TextBlock))

    @property
    def observation(self) -> TerminalObservation:
        """Return the observation, as it was stored."""
        assert self.response is not None, self.call
        assert "observation" in self.response.metadata, self.text
        found = Observation.from_json(self.response.metadata["observation"])
        assert isinstance(found, TerminalObservation), self.text
        return found

    @property
    def output(self) -> str:
        """Return what the program showed."""
        return self.observation.output


class Session:
    """A session with a terminal in a directory.

    Args:
        directory: Where it starts, and what is worked in.
        *rules: The rules of the session.
        mode: Its mode.
        **params: As for `TerminalTool.create`.
    """

    def __init__(self, directory: Path, *rules: str, mode: str = "bypass", **params: Any) -> None:
        self.number = f"8{uuid.uuid4().int % 10**8:08}"
        params.setdefault("no_change_timeout_seconds", 0.4)
        (self.tool,) = TerminalTool.create(working_dir=directory, **params)
        self.toolkit = Toolkit(tools=[self.tool])
        self.state = state_in(mode, *rules, cwd=directory)

    async def __call__(
        self, command: str = "", *, state: AgentState | None = None, **arguments: Any
    ) -> Seen:
        """Make a call of the model."""
        if command:
            arguments["command"] = command
        text = json.dumps(arguments)
        return Seen(*await run(self.toolkit, self.tool.name, text, state or self.state))

    async def type(self, text: str, **arguments: Any) -> Seen:
        """Type text into the program that runs."""
        return await self(text, is_input=True, **arguments)

    async def until(
        self, is_so: Callable[[Seen], bool], look: Callable[[], Awaitable[Seen]]
    ) -> Seen:
        """Look until something is so; return what was seen then."""
        deadline = time.monotonic() + 20
        while True:
            seen = await look()
            if is_so(seen) or time.monotonic() > deadline:
                return seen

    async def ended(self) -> Seen:
        """Look until no program runs."""
        return await self.until(lambda seen: not seen.observation.is_running, self)


def left_with(number: str) -> list[str]:
    """Return the command lines of processes that have the number as an argument."""
    found = []
    for place in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = place.read_bytes().split(b"\0")
        except OSError:
            continue
        if number.encode() in words:
            found.append(b" ".join(words).decode())
    return found
