"""Edits are planned before anybody is asked: shown as they would be, or failed at once."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from agentscope_like.message import TextBlock, ToolCallBlock, ToolCallState
from agentscope_like.permission import PermissionContext
from agentscope_like.state import AgentState
from agentscope_like.tool import DecidedCall, Edit, Read, Toolkit, Write
from agentscope_like.tool.builtin.file_errors import FileToolError

TEXT = "".join(f"line {number}\n" for number in range(1, 21))


class Work:
    """A project with one file, and a toolkit of the file tools."""

    def __init__(self, root: Path, **rules: list[str]) -> None:
        self.root = root
        self.file = root / "a.txt"
        self.file.write_text(TEXT)
        self.edit_tool = Edit(cwd=root)
        self.toolkit = Toolkit([Read(cwd=root), Write(cwd=root), self.edit_tool])
        policy = PermissionContext.from_rules(working_directories=[root], **rules)  # type: ignore[arg-type]
        self.state = AgentState(permission_context=policy)

    async def read(self, name: str = "a.txt") -> None:
        """Read the file as the agent does."""
        tool = Read(cwd=self.root)
        async for _ in tool(file_path=name, _agent_state=self.state):
            pass

    async def decide(self, name: str, **arguments: str) -> DecidedCall:
        """Decide a call of Edit or Write."""
        text = ToolCallBlock.model_validate(
            {"id": "1", "name": name, "input": json.dumps(arguments)}
        )
        return await self.toolkit.decide(text, self.state)


def refusal_of(decided: DecidedCall) -> str:
    """Return the text with which a call was refused; empty where it was not."""
    blocks = () if decided.refusal is None else decided.refusal.content
    return "".join(block.text for block in blocks if isinstance(block, TextBlock))


async def test_a_preview_is_the_true_difference(tmp_path: Path) -> None:
    """It is taken from the file: the changed line, its number, and the lines around it."""
    work = Work(tmp_path)
    await work.read()
    arguments = {"file_path": "a.txt", "old_string": "line 10\n", "new_string": "ten\n"}
    diff = await work.edit_tool.preview(arguments, work.state)
    assert "@@ -7,7 +7,7 @@\n line 7\n line 8\n line 9\n-line 10\n+ten\n line 11\n" in diff
    assert work.file.read_text() == TEXT


async def test_a_preview_of_what_can_only_fail_says_why(tmp_path: Path) -> None:
    """An edit of text that is not there has no difference, but a reason."""
    work = Work(tmp_path)
    await work.read()
    arguments = {"file_path": "a.txt", "old_string": "no such", "new_string": "x"}
    with pytest.raises(FileToolError, match="not in"):
        await work.edit_tool.preview(arguments, work.state)


@pytest.mark.parametrize(
    ("name", "arguments", "says"),
    [
        ("Edit", {"file_path": "a.txt", "old_string": "line 1\n", "new_string": ""}, "Read it"),
        ("Edit", {"file_path": "b.txt", "old_string": "x", "new_string": "y"}, "does not exist"),
        ("Write", {"file_path": "a.txt", "content": "x"}, "Read it first"),
    ],
)
async def test_a_call_that_can_only_fail_is_not_asked_about(
    tmp_path: Path, name: str, arguments: dict[str, str], says: str
) -> None:
    """Where the file may be read unasked, the model is told at once and nobody is asked."""
    work = Work(tmp_path, allow=["Read(**)"])
    decided = await work.decide(name, **arguments)
    assert says in refusal_of(decided)
    assert decided.call.state is ToolCallState.FINISHED
    assert decided.grant is None


async def test_a_call_that_may_succeed_asks(tmp_path: Path) -> None:
    """An edit of a file that was read is asked about as ever."""
    work = Work(tmp_path, allow=["Read(**)"])
    await work.read()
    decided = await work.decide("Edit", file_path="a.txt", old_string="line 1\n", new_string="")
    assert decided.refusal is None
    assert decided.call.state is ToolCallState.ASKING


@pytest.mark.parametrize(
    ("file", "rules"),
    [
        ("a.txt", {}),
        ("a.txt", {"allow": ["Read(**)"], "deny": ["Read(a.txt)"]}),
        ("a.txt", {"allow": ["Read(**)"], "ask": ["Read(a.txt)"]}),
        (".env", {"allow": ["Read(**)"]}),
    ],
)
async def test_nothing_is_told_of_a_file_that_may_not_be_read_unasked(
    tmp_path: Path, file: str, rules: dict[str, list[str]]
) -> None:
    """Whether a text is in a secret or denied file is not answered: a person is asked."""
    work = Work(tmp_path, **rules)
    (tmp_path / ".env").write_text("TOKEN=1\n")
    decided = await work.decide("Edit", file_path=file, old_string="TOKEN=2", new_string="")
    assert decided.refusal is None
    assert decided.call.state is ToolCallState.ASKING


async def test_a_preview_never_waits_for_a_pipe(tmp_path: Path) -> None:
    """A path that is no regular file is refused without opening it."""
    work = Work(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(FileToolError, match="pipe"):
        await Write(cwd=tmp_path).preview({"file_path": "pipe", "content": "x"}, work.state)


async def test_a_preview_of_a_new_file_shows_all_of_it(tmp_path: Path) -> None:
    """Write of a file that does not exist adds every line."""
    work = Work(tmp_path)
    arguments = {"file_path": "b.txt", "content": "one\n"}
    assert "+one" in await Write(cwd=tmp_path).preview(arguments, work.state)
    assert not (tmp_path / "b.txt").exists()
