"""Whatever is said, the state can be stored."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Any

import pytest

from agentscope_like.event import parse_event
from agentscope_like.message import TextBlock, ToolChunk, UserMsg
from agentscope_like.permission import PermissionDecision
from agentscope_like.state import AgentState
from tests.agent.kit import Block, agent_of, answer, events_of, results_of
from tests.tool.kit import Probe, call_of, chunk_of

DONE = [TextBlock(text="All done.")]


@pytest.mark.parametrize("odd", ["\ud800", "caf\udce9", "\ude00\ud83d", "\ud83d" + "\ude00"])
async def test_text_that_is_no_text_never_keeps_a_state_from_being_stored(odd: str) -> None:
    """Halves of surrogate pairs, from whatever side, are written out; the state stays JSON."""

    async def saying(_: str) -> AsyncGenerator[Any, None]:
        yield chunk_of(odd)
        raise FileNotFoundError(2, "No such file", odd)

    class Doubting(Probe):
        async def check_permissions(self, tool_input: Any, context: Any) -> PermissionDecision:
            raise OSError(odd)

    kit = [Probe(work=saying), Doubting("Doubt"), Probe("Ask", "ask")]
    calls = [call_of(), call_of(odd, call_id=odd), call_of("Ask", odd, "c3")]
    said: list[Block] = [TextBlock(text=odd), *calls, call_of("Doubt", call_id="c4")]
    agent = agent_of(kit, said, RuntimeError(odd))
    events = await events_of(agent, odd)
    events += await events_of(agent, answer(agent, "c4", confirmed=False))
    for event in events:
        assert parse_event(event.model_dump_json()) == event
    assert AgentState.model_validate_json(agent.state.model_dump_json()) == agent.state
    assert agent.state.context[-1].error is not None


async def test_facts_that_no_json_holds_are_stored_as_text() -> None:
    """A tool's metadata keeps its shape; what JSON has no form for becomes text."""
    circle: dict[str, Any] = {}
    circle["self"] = circle

    def giving(metadata: Any) -> Any:
        async def work(_: str) -> AsyncGenerator[Any, None]:
            yield ToolChunk(content=[], metadata=metadata)

        return work

    odd = {"object": object(), "bytes": b"\xff", "nan": float("nan"), "set": {1}, "name": "\udcff"}
    plain = {"diff": "+a", "count": 3, "deep": [{"x": None}]}
    for metadata, check in (
        (
            odd,
            lambda kept: kept["nan"] == "nan" and kept["set"] == [1] and kept["name"] == "\\udcff",
        ),
        (circle, bool),
        (plain, plain.__eq__),
    ):
        agent = agent_of([Probe(work=giving(metadata))], [call_of()], DONE)
        await agent.reply(UserMsg("user", "go"))
        assert check(results_of(agent)["c1"].metadata)
        assert AgentState.model_validate_json(agent.state.model_dump_json()) == agent.state
