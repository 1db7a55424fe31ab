"""A real agent whose session is stored, and taken up by another one."""

from __future__ import annotations

from contextlib import aclosing
from pathlib import Path
from typing import Any

from agentscope_like.agent import Agent
from agentscope_like.event import (
    AgentEvent,
    ConfirmResult,
    ToolResultTextDeltaEvent,
    UserConfirmResultEvent,
)
from agentscope_like.message import Msg, TextBlock, ToolChunk, UserMsg
from agentscope_like.model import Script, ScriptedModel
from agentscope_like.permission import PermissionBehavior, PermissionContext, PermissionDecision
from agentscope_like.session import SQLiteSessionStorage, recorded
from agentscope_like.state import AgentState
from agentscope_like.tool import ToolBase, Toolkit

SCRIPT = Script.parse(
    '{"think": "First.", "say": "I begin.", "calls": [{"id": "c1", "name": "Work"}]}\n'
    '{"say": "And again.", "calls": [{"id": "c2", "name": "Work"}]}\n'
    '{"say": "Done."}\n'
)


class Work(ToolBase):
    """Counts its runs."""

    name = "Work"
    description = "Works."
    input_schema = {"type": "object", "properties": {}}  # noqa: RUF012 - as the documents show it
    is_concurrency_safe = False
    is_read_only = False

    def __init__(self, asks: bool = False) -> None:
        super().__init__()
        self.asks = asks
        self.runs = 0

    async def check_permissions(
        self, tool_input: dict[str, Any], context: PermissionContext
    ) -> PermissionDecision:
        behavior = PermissionBehavior.ASK if self.asks else PermissionBehavior.ALLOW
        return PermissionDecision(behavior=behavior, message="as the test wants")

    async def call(self) -> Any:
        self.runs += 1
        yield ToolChunk(content=[TextBlock(text="half, ")], is_last=False)
        yield ToolChunk(content=[TextBlock(text="whole")])


def agent(work: Work, state: AgentState | None = None) -> Agent:
    return Agent("agent", "Work.", ScriptedModel(SCRIPT), Toolkit([work]), state=state)


async def test_every_event_seen_is_stored(tmp_path: Path) -> None:
    """At each event of a reply, another process finds the agent's state just as it is."""
    one = agent(Work())
    async with (
        SQLiteSessionStorage(tmp_path / "s.db") as storage,
        SQLiteSessionStorage(tmp_path / "s.db") as other,
    ):
        events = recorded(one.reply_stream(UserMsg("u", "go")), one.state, storage)
        seen: list[AgentEvent | Msg] = []
        async with aclosing(events):
            async for event in events:
                seen.append(event)
                stored = await other.load(one.state.session_id)
                assert stored is not None
                assert stored.context == one.state.context
                assert stored.reply_context == one.state.reply_context
    assert len(seen) > 20


async def test_a_call_that_was_cut_is_ended_and_never_run_again(tmp_path: Path) -> None:
    """Taken up after its process died amid a call, a session ends that call and goes on."""
    first = Work()
    one = agent(first)
    async with SQLiteSessionStorage(tmp_path / "s.db") as storage:
        events = recorded(one.reply_stream(UserMsg("u", "go")), one.state, storage)
        while not isinstance(await anext(events), ToolResultTextDeltaEvent):
            pass
        async with SQLiteSessionStorage(tmp_path / "s.db") as other:
            left = await other.load(one.state.session_id)
        await events.aclose()
    assert first.runs == 1
    assert left is not None
    second = Work()
    two = agent(second, left)
    reply = await two.reply(UserMsg("u", "go on"))
    assert reply.get_text_content() == "And again.\nDone."
    assert second.runs == 1
    assert two.state.get_unfinished_tool_calls("agent") == []


async def test_a_question_is_answered_by_another_process(tmp_path: Path) -> None:
    """A call that waits when its process ends is answered by the next one, and runs once."""
    one = agent(Work(asks=True))
    async with SQLiteSessionStorage(tmp_path / "s.db") as storage:
        events = recorded(one.reply_stream(UserMsg("u", "go")), one.state, storage)
        async with aclosing(events):
            async for _ in events:
                pass
    async with SQLiteSessionStorage(tmp_path / "s.db") as storage:
        left = await storage.load(one.state.session_id)
    assert left is not None
    work = Work(asks=True)
    two = agent(work, left)
    (call,) = left.get_awaiting_tool_calls("agent")
    assert (call.id, work.runs) == ("c1", 0)
    answer = ConfirmResult(confirmed=True, tool_call=call)
    await two.reply(UserConfirmResultEvent(reply_id=left.reply_id, confirm_results=[answer]))
    assert work.runs == 1
    assert [call.id for call in left.get_awaiting_tool_calls("agent")] == ["c2"]
