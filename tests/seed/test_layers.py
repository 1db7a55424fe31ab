"""Seed 002, "Tool Middleware", row by row."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from typing import Any

import pytest

from agentscope_like.message import TextBlock, ToolChunk, ToolResultState
from agentscope_like.middleware import MiddlewareBase
from agentscope_like.permission import PermissionDecision
from agentscope_like.tool import Bash, FunctionTool, ToolBase, Toolkit, ToolMiddlewareBase
from tests.agent.kit import agent_of, events_of
from tests.seed.kit import (
    ALLOW,
    DENY,
    DONE,
    Echo,
    Layer,
    call,
    call_of,
    permitting,
    rule,
    run,
    said,
    state_of,
    text_of,
)

Next = Callable[..., AsyncGenerator[ToolChunk, None]]


class Streaming(Echo):
    """Says each letter in a chunk of its own."""

    async def call(self, text: str) -> AsyncGenerator[ToolChunk, None]:  # type: ignore[override]
        for letter in text:
            yield ToolChunk(content=[TextBlock(text=letter)])


async def test_002_layer_1_layers_run_with_every_call() -> None:
    """Of an agent, of a toolkit, and of a program."""
    notes: list[str] = []
    tool = Echo(middlewares=[Layer("layer", notes)])
    await run(tool, text="x")
    await said(Toolkit([tool]), "Echo", text="x")
    await events_of(agent_of([tool], [call_of("Echo", text="x")], DONE), "Speak.")
    assert notes == ["layer before", "layer after"] * 3
    assert tool.heard == ["x"] * 3


async def test_002_layer_2_a_layer_may_change_what_goes_in_and_comes_out() -> None:
    """The tool gets the changed arguments, the caller the changed chunks.

    Of a model's call the changed arguments are decided again: what is denied does not run.
    """

    class Shouting(ToolMiddlewareBase):
        async def on_tool_call(
            self, tool: ToolBase, input_kwargs: dict[str, Any], next_handler: Next
        ) -> AsyncGenerator[ToolChunk, None]:
            async for chunk in next_handler(text=input_kwargs["text"] + "!"):
                yield ToolChunk(content=[TextBlock(text=text_of(chunk).upper())])

    tool = Echo(middlewares=[Shouting()])
    assert await run(tool, text="hello") == "HELLO!"
    assert tool.heard == ["hello!"]

    class Refusing(Echo):
        async def match_rule(self, rule_content: str | None, tool_input: dict[str, Any]) -> bool:
            return rule_content in (None, tool_input["text"])

    refusing = Refusing(middlewares=[Shouting()])
    state = state_of(permitting(rule("Echo", "bad!", DENY)))
    assert await said(Toolkit([refusing]), "Echo", state, text="good") == "GOOD!"
    response = await call(Toolkit([refusing]), "Echo", state, text="bad")
    assert response is not None
    assert response.state is ToolResultState.ERROR
    assert refusing.heard == ["good!"]


async def test_002_layer_3_layers_of_agent_and_tool_are_apart() -> None:
    """`on_acting` surrounds the layers of the tool; the decision has a hook of its own.

    A call that is denied is decided and never acted. The hook may deny, and allows nothing that is
    denied without it.
    """
    notes: list[str] = []

    class Acting(MiddlewareBase):
        async def on_check_permission(
            self, agent: Any, input_kwargs: dict[str, Any], next_handler: Any
        ) -> PermissionDecision:
            notes.append(f"decide {input_kwargs['tool_call'].id}")
            if input_kwargs["tool_input"]["text"] == "bad":
                return PermissionDecision(DENY, "Not that.")
            return PermissionDecision(ALLOW, "Whatever the others say.")

        async def on_acting(
            self, agent: Any, input_kwargs: dict[str, Any], next_handler: Any
        ) -> AsyncGenerator[Any, None]:
            notes.append(f"act {input_kwargs['tool_call'].id}")
            async for item in next_handler():
                yield item
            notes.append("acted")

    tool = Echo(middlewares=[Layer("tool", notes)], is_concurrency_safe=False)
    calls = [call_of("Echo", text="good"), call_of("Echo", text="bad")]
    calls[1].id = "c2"
    agent = agent_of([tool], calls, DONE, middlewares=[Acting()])
    await events_of(agent, "Speak.")
    assert notes == ["decide c1", "act c1", "tool before", "tool after", "acted", "decide c2"]
    denied = Echo(opinion=DENY)
    await events_of(agent_of([denied], [calls[0]], DONE, middlewares=[Acting()]), "Speak.")
    assert denied.heard == []


async def test_002_layer_4_they_need_no_agent() -> None:
    """A tool that is called by a program alone has its layers around it."""
    notes: list[str] = []
    assert await run(Echo(middlewares=[Layer("layer", notes)]), text="x") == "x"
    assert notes == ["layer before", "layer after"]


def test_002_layer_5_a_layer_implements_one_method() -> None:
    """A class without `on_tool_call` cannot be instantiated; it needs nothing else."""

    class Empty(ToolMiddlewareBase):
        pass

    with pytest.raises(TypeError, match="on_tool_call"):
        Empty()  # type: ignore[abstract]
    assert Layer.__abstractmethods__ == frozenset()


async def test_002_layer_6_a_layer_is_given_tool_arguments_and_the_next_one() -> None:
    """The tool object itself, the arguments of this call, and what to call to go on."""
    given: list[Any] = []

    class Watching(ToolMiddlewareBase):
        async def on_tool_call(
            self, tool: ToolBase, input_kwargs: dict[str, Any], next_handler: Next
        ) -> AsyncGenerator[ToolChunk, None]:
            given.extend((tool, dict(input_kwargs)))
            async for chunk in next_handler(**input_kwargs):
                yield chunk

    tool = Echo(middlewares=[Watching()])
    await run(tool, text="x")
    assert given == [tool, {"text": "x"}]


@pytest.mark.parametrize("kind", [Echo, Streaming])
async def test_002_layer_7_the_first_is_the_outermost(kind: type[Echo]) -> None:
    """It begins first and ends last, around the second, around the tool."""
    notes: list[str] = []
    tool = kind(middlewares=[Layer("outer", notes), Layer("inner", notes)])
    assert await run(tool, text="ab") == "ab"
    assert notes == ["outer before", "inner before", "inner after", "outer after"]


async def test_002_layer_8_the_next_one_is_always_a_stream() -> None:
    """Whether the tool streams, returns a chunk, or is a function."""
    kinds: list[bool] = []

    class Watching(ToolMiddlewareBase):
        async def on_tool_call(
            self, tool: ToolBase, input_kwargs: dict[str, Any], next_handler: Next
        ) -> AsyncGenerator[ToolChunk, None]:
            stream = next_handler(**input_kwargs)
            kinds.append(isinstance(stream, AsyncGenerator))
            async for chunk in stream:
                yield chunk

    def repeat(text: str) -> str:
        """Repeat a text."""
        return text

    layers: list[ToolMiddlewareBase] = [Watching()]
    for tool in (Echo(middlewares=layers), Streaming(middlewares=layers)):
        assert await run(tool, text="ab") == "ab"
    assert await run(FunctionTool(repeat, middlewares=layers), text="ab") == "ab"
    assert kinds == [True, True, True]


async def test_002_layer_9_innermost_is_the_tool_s_own_call() -> None:
    """A layer that does not go on keeps the tool from running."""

    class Instead(ToolMiddlewareBase):
        async def on_tool_call(
            self, tool: ToolBase, input_kwargs: dict[str, Any], next_handler: Next
        ) -> AsyncGenerator[ToolChunk, None]:
            yield ToolChunk(content=[TextBlock(text="from a cache")])

    tool = Echo(middlewares=[Instead()])
    assert await run(tool, text="x") == "from a cache"
    assert tool.heard == []


async def test_002_layer_10_built_in_tools_and_functions_take_layers() -> None:
    """As the argument `middlewares` of their constructor."""
    notes: list[str] = []
    assert await run(Bash(middlewares=[Layer("bash", notes)]), command="echo x") == "x\n"
    assert await run(FunctionTool(len, middlewares=[Layer("len", notes)]), obj="abc") == "3"
    assert notes == ["bash before", "bash after", "len before", "len after"]


async def test_002_layer_11_the_agent_s_layer_sees_the_round_around_a_call() -> None:
    """Its decision, the call as the model made it, and the agent with its state."""
    seen: list[Any] = []

    class Auditing(MiddlewareBase):
        async def on_acting(
            self, agent: Any, input_kwargs: dict[str, Any], next_handler: Any
        ) -> AsyncGenerator[Any, None]:
            call = input_kwargs["tool_call"]
            seen.extend((call.name, call.input, call.decision.behavior, agent.state.cur_iter))
            async for item in next_handler():
                yield item

    made = call_of("Echo", text="x")
    await events_of(agent_of([Echo()], [made], DONE, middlewares=[Auditing()]), "Speak.")
    assert seen == ["Echo", made.input, "allow", 1]
