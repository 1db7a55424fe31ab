"""The page about differences from AgentScope, and the tests of those that no other test shows."""

from __future__ import annotations

import ast
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from agentscope_like.agent import Agent
from agentscope_like.event import ExternalExecutionResultEvent, HintBlockEvent, TextBlockStartEvent
from agentscope_like.message import (
    AssistantMsg,
    Msg,
    TextBlock,
    ToolCallBlock,
    ToolChunk,
    ToolResultBlock,
    ToolResultState,
    UserMsg,
)
from agentscope_like.tool import Read, Toolkit
from tests.agent.kit import UNTOLD, Block, DictatedModel, agent_of, events_of
from tests.agent.test_streamed_blocks import streaming, text
from tests.tool.kit import Probe, call_of

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "design" / "differences.md"
ROW = re.compile(r"^\| (.+) \| (.+) \| (.*) \| (`.+`) \|$", re.MULTILINE)
PROOF = re.compile(r"`(tests/[\w/]+\.py)::(\w+)`")
ROWS = ROW.findall(PAGE.read_text())
DONE = [TextBlock(text="Done.")]


def names_in(file: Path) -> set[str]:
    """Return the names of the tests in a file, without those that are never run."""
    return {
        node.name
        for node in ast.parse(file.read_text()).body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and not any(
            "mark.skip" in (m := ast.unparse(one)) or "xfail" in m for one in node.decorator_list
        )
    }


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_each_difference_names_tests_that_are_run(row: tuple[str, ...]) -> None:
    """The tests of a row exist, and are not skipped."""
    proofs = PROOF.findall(row[3])
    assert ", ".join(f"`{file}::{name}`" for file, name in proofs) == row[3]
    for file, name in proofs:
        assert name in names_in(ROOT / file), name


def test_every_line_of_the_tables_is_a_row() -> None:
    """None is left out of the check because it is written in another way."""
    lines = [line for line in PAGE.read_text().splitlines() if line.startswith("| ")]
    tables = PAGE.read_text().count("|---|---|---|---|")
    assert len(lines) == len(ROWS) + tables


def test_every_test_below_shows_a_row() -> None:
    """The tests of this file that are not about the page are named on it."""
    named = {name for row in ROWS for _, name in PROOF.findall(row[3])}
    here = {name for name in names_in(Path(__file__)) if name.startswith("test_")}
    assert here - named == {
        "test_each_difference_names_tests_that_are_run",
        "test_every_line_of_the_tables_is_a_row",
        "test_every_test_below_shows_a_row",
    }


async def test_a_reply_is_the_whole_message() -> None:
    """It has the texts, the calls and the results of all rounds, in their order."""
    first: list[Block] = [TextBlock(text="First."), call_of("Probe", "{}", "c")]
    agent = agent_of([Probe()], first, DONE)
    message = await agent.reply(UserMsg("user", "go"))
    assert message is agent.state.context[-1]
    assert [block.type for block in message.content] == ["text", "tool_call", "tool_result", "text"]
    assert message.get_text_content() == "First.\nDone."


async def test_events_and_state_have_the_same_blocks() -> None:
    """The ids of the events are those of the blocks in the state: the first that the model gave."""
    parts: list[list[Any]] = [[text("He", "a")], [text("llo", "b")], [text("Hello", "c")]]
    agent = agent_of([], streaming(*parts))
    events = await events_of(agent, "go")
    begun = [event.block_id for event in events if isinstance(event, TextBlockStartEvent)]
    assert begun == [block.id for block in agent.state.context[-1].content] == ["a"]


async def test_a_whole_that_contradicts_the_stream_is_added() -> None:
    """What was streamed stays, and what the whole says instead comes after it."""
    agent = agent_of([], streaming([text("Hello", "a")], [text("Good day", "b")]))
    message = await agent.reply(UserMsg("user", "go"))
    assert message.get_text_content() == "Hello\nGood day"


def test_an_external_result_comes_with_its_own_events() -> None:
    """The answer itself leaves the message as it is."""
    message = AssistantMsg("a", [ToolCallBlock(id="c", name="T", input="{}")], id="r")
    result = ToolResultBlock(id="c", name="T", output="x", state=ToolResultState.SUCCESS)
    before = message.model_dump()
    message.append_event(ExternalExecutionResultEvent(reply_id="r", execution_results=[result]))
    assert message.model_dump() == before


def test_times_are_in_utc() -> None:
    """Whatever zone the machine is in, a block's time can be compared with another's."""
    given = datetime.fromisoformat(TextBlock(text="x").created_at)
    assert given.utcoffset() == timedelta(0)
    assert abs(datetime.now(UTC) - given) < timedelta(minutes=1)


async def test_a_chunk_of_a_file_tool_says_how_it_went(tmp_path: Path) -> None:
    """Without a toolkit as well."""
    (tmp_path / "a.txt").write_text("x\n")
    states = []
    for name in ("a.txt", "missing.txt"):
        chunk = await Read(cwd=tmp_path)(file_path=name)
        assert isinstance(chunk, ToolChunk)
        states.append(chunk.state)
    assert states == ["success", "error"]


async def test_calls_that_fail_alike_bring_no_hint() -> None:
    """The model sees its errors, and no more than that."""
    turns = [[call_of("Nothing", "{}", f"c{number}")] for number in range(4)]
    events = await events_of(agent_of([Probe()], *turns, DONE), "go")
    assert not any(isinstance(event, HintBlockEvent) for event in events)


async def test_results_are_not_counted_by_the_model() -> None:
    """Requests are, whole."""
    counted: list[list[str]] = []

    class Model(DictatedModel):
        async def count_tokens(
            self, messages: list[Msg], tools: list[dict[str, Any]] | None = None
        ) -> int:
            counted.append([message.role for message in messages])
            return 1

    model = Model([call_of("Probe", "{}", "c")], DONE)
    await Agent("robot", "", model, Toolkit([Probe()]), injection_config=UNTOLD).reply(
        UserMsg("user", "go")
    )
    assert counted == [["system", "user"], ["system", "user", "assistant"]]
