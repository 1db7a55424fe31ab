"""Layers around the running of a call: what runs is what was decided."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from typing import Any

import pytest

from agentscope_like.agent import Agent, ContextConfig
from agentscope_like.exception import ConfigurationError, GrantError, ToolArgumentError
from agentscope_like.message import (
    TextBlock,
    ToolResultState,
    UserMsg,
)
from agentscope_like.tool import ToolBase, ToolChunk, Toolkit, ToolResponse
from tests.agent.kit import (
    DictatedModel,
    agent_of,
    answer,
    events_of,
    results_of,
    text_of,
)
from tests.agent.layers import Around
from tests.tool.kit import Probe, call_of, chunk_of

DONE = [TextBlock(text="All done.")]
GO = UserMsg("user", "go")
Next = Callable[..., Any]


def acting(hook: Any, tool: ToolBase | None = None, *turns: Any) -> Agent:
    """Return an agent with this `on_acting` hook that is about to make a call."""
    return agent_of(
        [tool or Probe()], *(turns or ([call_of()], DONE)), middlewares=[Around(on_acting=hook)]
    )


async def silent(agent: Any, inputs: dict[str, Any], go_on: Next) -> AsyncGenerator[Any, None]:
    """Yield nothing and run nothing."""
    nothing: tuple[ToolChunk, ...] = ()
    for item in nothing:
        yield item


async def swallowing(agent: Any, inputs: dict[str, Any], go_on: Next) -> AsyncGenerator[Any, None]:
    """Run the call and keep everything back."""
    async for item in go_on():
        if item is None:
            yield item


def changing(**changes: Any) -> Any:
    """Return an `on_acting` hook that goes on with another call."""

    async def hook(agent: Any, inputs: dict[str, Any], go_on: Next) -> AsyncGenerator[Any, None]:
        async for item in go_on(tool_call=inputs["tool_call"].model_copy(update=changes)):
            yield item

    return hook


async def test_an_acting_hook_sees_chunks_then_the_response() -> None:
    """It may change what is told, chunk by chunk."""
    kinds = []

    async def shout(agent: Any, inputs: dict[str, Any], go_on: Next) -> AsyncGenerator[Any, None]:
        async for item in go_on():
            kinds.append(type(item).__name__)
            if isinstance(item, ToolChunk):
                yield chunk_of("LOUD")
            else:
                yield item

    agent = acting(shout)
    await agent.reply(GO)
    assert kinds == ["ToolChunk", "ToolResponse"]
    assert text_of(results_of(agent)["c1"]) == "LOUD"
    assert results_of(agent)["c1"].state is ToolResultState.SUCCESS


async def test_an_acting_hook_may_answer_in_the_place_of_the_tool() -> None:
    """Without `next_handler` the tool does not run, and what the hook yields is its result."""

    async def cached(agent: Any, inputs: dict[str, Any], go_on: Next) -> AsyncGenerator[Any, None]:
        yield ToolResponse(content=[TextBlock(text="from the cache")], metadata={"hit": True})

    probe = Probe()
    agent = acting(cached, probe)
    await agent.reply(GO)
    assert probe.runs == []
    assert text_of(results_of(agent)["c1"]) == "from the cache"
    assert results_of(agent)["c1"].metadata == {"hit": True}


@pytest.mark.parametrize(
    ("hook", "runs", "state", "told"),
    [
        (silent, 0, ToolResultState.ERROR, "did not run"),
        (swallowing, 1, ToolResultState.SUCCESS, "withheld"),
    ],
)
async def test_a_call_whose_hook_says_nothing_has_a_result_all_the_same(
    hook: Any, runs: int, state: ToolResultState, told: str
) -> None:
    """The model is told whether the call ran."""
    probe = Probe()
    agent = acting(hook, probe)
    await agent.reply(GO)
    assert len(probe.runs) == runs
    assert results_of(agent)["c1"].state is state
    assert told in text_of(results_of(agent)["c1"])


@pytest.mark.parametrize(
    ("changes", "opinion", "runs", "state"),
    [
        ({"input": '{"text": "better"}'}, "allow", ["better"], ToolResultState.SUCCESS),
        ({"input": '{"text": "dangerous"}'}, "allow", [], ToolResultState.DENIED),
        ({"input": '{"count": 0}'}, "allow", [], ToolResultState.ERROR),
        ({"name": "Other"}, "allow", [], ToolResultState.ERROR),
        ({"id": "c9"}, "allow", [], ToolResultState.ERROR),
        ({}, "allow", ["hi"], ToolResultState.SUCCESS),
    ],
)
async def test_a_call_that_an_acting_hook_changes_is_decided_again(
    changes: dict[str, str], opinion: str, runs: list[str], state: ToolResultState
) -> None:
    """Other arguments run only where they are allowed; another tool or call never does."""
    probe = Probe(opinion=opinion)
    agent = agent_of(
        [probe, Probe("Other")],
        [call_of()],
        DONE,
        middlewares=[Around(on_acting=changing(**changes))],
    )
    await agent.reply(GO)
    assert probe.runs == runs
    assert results_of(agent)["c1"].state is state


async def test_a_yes_is_no_yes_to_what_an_acting_hook_makes_of_the_call() -> None:
    """A person allowed these arguments, once: neither others, nor a second run."""

    async def twice(agent: Any, inputs: dict[str, Any], go_on: Next) -> AsyncGenerator[Any, None]:
        for _ in range(2):
            async for item in go_on():
                yield item

    for hook, runs in ((changing(input='{"text": "else"}'), []), (twice, ["hi"])):
        probe = Probe("Ask", "ask")
        agent = acting(hook, probe, [call_of("Ask")], DONE)
        await events_of(agent, "go")
        await events_of(agent, answer(agent, "c1"))
        assert probe.runs == runs
        assert results_of(agent)["c1"].state is ToolResultState.DENIED
        assert "was not allowed" in text_of(results_of(agent)["c1"])


async def test_an_allowed_call_may_be_run_again_by_a_hook() -> None:
    """The policy allows each run: a hook may try again what failed."""

    async def retry(agent: Any, inputs: dict[str, Any], go_on: Next) -> AsyncGenerator[Any, None]:
        last = None
        for _ in range(2):
            async for item in go_on():
                if isinstance(item, ToolResponse):
                    last = item
            if last is not None and last.state is ToolResultState.SUCCESS:
                break
        yield last

    async def work(text: str) -> AsyncGenerator[Any, None]:
        if len(probe.runs) == 1:
            raise OSError("busy")
        yield chunk_of("fine")

    probe = Probe(work=work)
    agent = acting(retry, probe)
    await agent.reply(GO)
    assert probe.runs == ["hi", "hi"]
    assert text_of(results_of(agent)["c1"]) == "fine"


async def test_an_error_for_the_model_becomes_the_result_and_any_other_is_raised() -> None:
    """A hook that fails by design tells the model; one that breaks tells the developer."""

    async def refuse(agent: Any, inputs: dict[str, Any], go_on: Next) -> AsyncGenerator[Any, None]:
        raise ToolArgumentError("Use less.")
        yield

    async def broken(agent: Any, inputs: dict[str, Any], go_on: Next) -> AsyncGenerator[Any, None]:
        raise KeyError("oops")
        yield

    async def strange(agent: Any, inputs: dict[str, Any], go_on: Next) -> AsyncGenerator[Any, None]:
        yield "text"

    agent = acting(refuse)
    await agent.reply(GO)
    assert text_of(results_of(agent)["c1"]) == "Use less."
    assert results_of(agent)["c1"].state is ToolResultState.ERROR
    for hook, error in ((broken, KeyError), (strange, ConfigurationError)):
        agent = acting(hook)
        with pytest.raises(error):
            await agent.reply(GO)
        assert results_of(agent)["c1"].state is ToolResultState.INTERRUPTED


async def test_results_are_limited_whoever_gives_them() -> None:
    """A tool's chunks, a hook's response and a result from outside all have the limit."""
    long = "word " * 4_000

    async def cached(agent: Any, inputs: dict[str, Any], go_on: Next) -> AsyncGenerator[Any, None]:
        yield ToolResponse(content=[TextBlock(text=long)])

    async def work(text: str) -> AsyncGenerator[Any, None]:
        yield chunk_of(long)

    for middlewares, tool in (([Around(on_acting=cached)], Probe()), ([], Probe(work=work))):
        agent = Agent(
            "robot",
            "",
            DictatedModel([call_of()], DONE),
            Toolkit([tool], result_limit=None),
            middlewares,
            context_config=ContextConfig(tool_result_limit=100),
        )
        await agent.reply(GO)
        told = text_of(results_of(agent)["c1"])
        assert len(told) < 1_000
        assert "for the limit of 100 tokens" in told


async def test_nothing_runs_once_the_hooks_turn_is_over() -> None:
    """A hook that goes on in the background runs nothing after "did not run" was recorded."""
    refused: list[str] = []
    tasks: list[asyncio.Task[None]] = []

    async def later(agent: Any, inputs: dict[str, Any], go_on: Next) -> AsyncGenerator[Any, None]:
        async def drain() -> None:
            await asyncio.sleep(0.02)
            try:
                async for _ in go_on():
                    pass
            except GrantError as error:
                refused.append(error.message)

        tasks.append(asyncio.create_task(drain()))
        return
        yield

    probe = Probe()
    agent = acting(later, probe)
    await agent.reply(GO)
    await asyncio.gather(*tasks)
    assert probe.runs == []
    assert "did not run" in text_of(results_of(agent)["c1"])
    assert "is over" in refused[0]


async def test_what_a_hook_leaves_running_is_stopped_before_its_result_is_recorded() -> None:
    """The result says so, and the tool does nothing after it."""
    begun, done = asyncio.Event(), list[str]()
    tasks: list[asyncio.Task[None]] = []

    async def work(text: str) -> AsyncGenerator[Any, None]:
        begun.set()
        await asyncio.sleep(0.05)
        done.append(text)
        yield chunk_of("late")

    async def leaving(agent: Any, inputs: dict[str, Any], go_on: Next) -> AsyncGenerator[Any, None]:
        async def drain() -> None:
            async for _ in go_on():
                pass

        tasks.append(asyncio.create_task(drain()))
        await begun.wait()
        return
        yield

    agent = acting(leaving, Probe(work=work))
    await agent.reply(GO)
    await asyncio.sleep(0.1)
    assert done == []
    assert results_of(agent)["c1"].state is ToolResultState.INTERRUPTED
    assert "in another task" in text_of(results_of(agent)["c1"])
