"""A project whose scripts nothing can prove harmless, and a toolkit that holds them."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from agentscope_like.event import ConfirmResult
from agentscope_like.message import TextBlock, ToolCallBlock, ToolResponse
from agentscope_like.permission import PermissionContext, PermissionMode
from agentscope_like.state import AgentState
from agentscope_like.tool import Bash, DecidedCall, Toolkit

__all__ = ["Scene", "text_of", "until"]


class Scene:
    """A project, a home and a store of layers, and calls of a `Bash` that holds commands.

    Args:
        top: An empty directory, in which all is made.
        mode: The mode of the session.
        rules: Rules by behaviour, as for `PermissionContext.from_rules`.
    """

    def __init__(self, top: Path, mode: str = "default", **rules: list[str]) -> None:
        self.project, self.home, self.store = top / "project", top / "home", top / "layers"
        for each in (self.project, self.home):
            each.mkdir(exist_ok=True)
        self.mode, self.rules = mode, rules
        self.bash = self.new_bash()
        self.toolkit = Toolkit([self.bash])
        self.state = self.new_state()

    def new_bash(self, **options: Any) -> Bash:
        """Return a Bash that holds commands, as a new process would have it."""
        return Bash(cwd=self.project, contain="on", layers=self.store, **options)

    def new_state(self) -> AgentState:
        """Return the state of a new session."""
        context = PermissionContext.from_rules(
            mode=PermissionMode(self.mode), working_directories=[self.project], **self.rules
        )
        return AgentState(permission_context=context)

    def git(self, *words: str) -> None:
        """Run git in the project."""
        own = ["-c", "user.name=a", "-c", "user.email=a@example.com"]
        subprocess.run(
            ["/usr/bin/git", *own, *words], cwd=self.project, check=True, capture_output=True
        )

    def script(self, name: str, *lines: str) -> str:
        """Write a script into the project, and return the command that runs it."""
        path = self.project / name
        path.write_text("\n".join(["#!/bin/sh", *lines, ""]))
        path.chmod(0o755)
        return f"./{name}"

    def call(self, command: str, **arguments: Any) -> ToolCallBlock:
        """Return a model's call of a command."""
        return ToolCallBlock(
            id=f"call-{command}",
            name="Bash",
            input=json.dumps({"command": command, **arguments}),
        )

    async def run(self, call: ToolCallBlock) -> tuple[str, ToolResponse | None]:
        """Decide and run a call; return the text of its chunks, and the response if it is over."""
        text, response = "", None
        async for item in self.toolkit.call_tool(call, self.state):
            if isinstance(item, ToolResponse):
                response = item
            else:
                text += text_of(item.content)
        return text, response

    async def answer(self, call: ToolCallBlock, *, yes: bool, **more: Any) -> ToolResponse:
        """Answer a question about a call, and return what the call came to."""
        answer = ConfirmResult(confirmed=yes, tool_call=call.model_copy(), **more)
        decided = await self.toolkit.confirm(call, answer, self.state)
        return await self.finished(decided)

    async def finished(self, decided: DecidedCall) -> ToolResponse:
        """Return what a decided call comes to."""
        if decided.refusal is not None:
            return decided.refusal
        assert decided.grant is not None
        found = [item async for item in self.toolkit.run(decided.grant, self.state)]
        assert isinstance(found[-1], ToolResponse)
        return found[-1]

    def layers(self) -> list[Path]:
        """Return the layers that are kept."""
        if not self.store.exists():
            return []
        return [each for each in self.store.iterdir() if (each / "layer.json").exists()]


def until(holds: Callable[[], bool], seconds: float = 30) -> None:
    """Wait until something holds; block meanwhile."""
    end = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > end:
            raise TimeoutError("it never held")
        time.sleep(0.02)


def text_of(content: Sequence[object]) -> str:
    """Return the text of blocks."""
    return "".join(block.text for block in content if isinstance(block, TextBlock))
