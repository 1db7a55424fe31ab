"""An offloader keeps what the context cannot hold."""

from __future__ import annotations

from typing import Any

import pytest

from agentscope_like.agent import Agent, ContextConfig
from agentscope_like.message import (
    Msg,
    TextBlock,
    ToolResultBlock,
    ToolResultState,
    UserMsg,
)
from agentscope_like.tool import Toolkit
from tests.agent.kit import UNTOLD, DictatedModel, executed, model_of, results_of, text_of
from tests.agent.test_compression import small_agent, summing_up, talk
from tests.tool.kit import Probe, call_of, chunk_of

DONE = [TextBlock(text="Done.")]
LONG = "".join(f"line {number}\n" for number in range(20_000))


class Shelf:
    """Keeps what it is given, or fails."""

    def __init__(self, error: Exception | None = None) -> None:
        self.error = error
        self.contexts: list[tuple[str, list[Msg]]] = []
        self.results: list[tuple[str, ToolResultBlock]] = []

    async def offload_context(self, session_id: str, msgs: list[Msg]) -> str:
        """Keep messages."""
        if self.error:
            raise self.error
        self.contexts.append((session_id, msgs))
        return f"/shelf/context-{len(self.contexts)}"

    async def offload_tool_result(self, session_id: str, tool_result: ToolResultBlock) -> str:
        """Keep a result."""
        if self.error:
            raise self.error
        self.results.append((session_id, tool_result))
        return f"/shelf/{tool_result.id}"


def agent_with(shelf: Shelf, tool: Probe, *turns: Any, **config: Any) -> Agent:
    """Return an agent that offloads."""
    return Agent(
        "robot",
        "",
        DictatedModel(*turns),
        Toolkit([tool]),
        offloader=shelf,
        context_config=ContextConfig(**config),
        injection_config=UNTOLD,
    )


async def long_output(text: str) -> Any:
    """Yield more than a context holds, in pieces, and fail."""
    for start in range(0, len(LONG), 10_000):
        yield chunk_of(LONG[start : start + 10_000])
    if text == "fail":
        raise OSError("broken")


@pytest.mark.parametrize("limit", [100, 50_000])
async def test_a_long_result_is_offloaded_whole(limit: int) -> None:
    """Once, with the call's id and how it ended; the model is told where it is."""
    shelf = Shelf()
    tool = Probe(work=long_output)
    calls = [call_of("Probe", "{}", "a"), call_of("Probe", '{"text": "fail"}', "b")]
    agent = agent_with(shelf, tool, calls, DONE, tool_result_limit=limit)
    await agent.reply(UserMsg("user", "go"))
    kept = {result.id: result for _, result in shelf.results}
    assert sorted(kept) == ["a", "b"]
    assert {session for session, _ in shelf.results} == {agent.state.session_id}
    assert text_of(kept["a"]) == LONG
    assert text_of(kept["b"]).startswith(LONG)
    assert (kept["a"].state, kept["b"].state) == ("success", "error")
    assert kept["a"].name == "Probe"
    shown = text_of(results_of(agent)["a"])
    assert "/shelf/a" in shown
    assert len(shown) < len(LONG)


async def test_a_short_result_is_not_offloaded() -> None:
    """What the model is shown whole needs no other place."""
    shelf = Shelf()
    agent = agent_with(shelf, Probe(), [call_of("Probe", "{}", "a")], DONE)
    await agent.reply(UserMsg("user", "go"))
    assert shelf.results == []


async def test_a_long_result_from_outside_is_offloaded() -> None:
    """It comes at once, and is kept like one of a tool that ran here."""
    shelf = Shelf()
    tool = Probe(external=True)
    agent = agent_with(shelf, tool, [call_of("Probe", "{}", "a")], DONE, tool_result_limit=50)
    await agent.reply(UserMsg("user", "go"))
    await agent.reply(executed(agent, "a", LONG))
    ((_, kept),) = shelf.results
    assert (text_of(kept), kept.state) == (LONG, ToolResultState.SUCCESS)


async def test_history_that_is_summed_up_is_offloaded() -> None:
    """The messages that the summary replaces, and no others; the summary says where they are."""
    shelf = Shelf()
    agent = small_agent(summing_up(), DONE, offloader=shelf)
    await agent.observe(talk(220))
    await agent.reply(UserMsg("user", "go"))
    ((session, kept),) = shelf.contexts
    assert session == agent.state.session_id
    assert [message.id for message in kept] == ["m0", "m1", "m2", "m3"]
    assert "/shelf/context-1" in str(agent.state.summary)
    assert "/shelf/context-1" in str(model_of(agent).seen[-1])


async def test_an_offloader_that_fails_costs_the_reference_only() -> None:
    """The reply goes on; the model is told that the rest could not be kept."""
    shelf = Shelf(RuntimeError("disk full"))
    agent = agent_with(
        shelf, Probe(work=long_output), [call_of("Probe", "{}", "a")], DONE, tool_result_limit=100
    )
    await agent.reply(UserMsg("user", "go"))
    assert "could not be kept: the offloader failed: RuntimeError: disk full" in text_of(
        results_of(agent)["a"]
    )
    summing = small_agent(summing_up(), DONE, offloader=shelf)
    await summing.observe(talk(220))
    message = await summing.reply(UserMsg("user", "go"))
    assert message.get_text_content() is not None
    assert "Half of them." in str(summing.state.summary)
