"""Tools that are called as AgentScope's documents and its users call them."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import Any, ClassVar

import pytest

from agentscope_like.exception import RecoverableToolError
from agentscope_like.message import TextBlock, ToolCallBlock, ToolResponse, ToolResultState
from agentscope_like.permission import PermissionBehavior, PermissionContext, PermissionDecision
from agentscope_like.state import AgentState
from agentscope_like.tool import (
    Bash,
    FunctionTool,
    ToolBase,
    ToolChunk,
    Toolkit,
    ToolMiddlewareBase,
)
from tests.agent.kit import agent_of, events_of, results_of, text_of
from tests.tool.kit import Probe, call_of, outcome
from tests.tool.kit import text_of as response_text


class Bare(ToolBase):
    """Does without `super().__init__()`."""

    name = "Bare"
    description = "Says its greeting."
    input_schema: ClassVar[dict[str, Any]] = {  # type: ignore[misc]
        "type": "object",
        "properties": {
            "anything": True,
            "nothing": False,
            "inner": {"type": "object", "properties": {"no": False, "title": True}},
        },
    }
    is_concurrency_safe = True
    is_read_only = True

    def __init__(self, greeting: str = "hello") -> None:
        self.greeting = greeting

    async def check_permissions(
        self, tool_input: dict[str, Any], context: PermissionContext
    ) -> PermissionDecision:
        return PermissionDecision(PermissionBehavior.ALLOW, "It only greets.")

    async def call(self, **arguments: Any) -> ToolChunk:
        return chunk(f"{self.greeting} {arguments}")


class Streaming(Bare):
    """Yields its chunks."""

    async def call(self, **arguments: Any) -> AsyncGenerator[ToolChunk, None]:  # type: ignore[override]
        yield chunk("a")
        yield chunk("b")


class Returning(Bare):
    """Returns a stream of its chunks."""

    async def call(self, **arguments: Any) -> AsyncGenerator[ToolChunk, None]:  # type: ignore[override]
        return _chunks()


async def _chunks() -> AsyncGenerator[ToolChunk, None]:
    yield chunk("a")
    yield chunk("b")


class Layer(ToolMiddlewareBase):
    """Passes everything on."""

    async def on_tool_call(
        self, tool: Any, input_kwargs: dict[str, Any], next_handler: Callable[..., Any]
    ) -> AsyncGenerator[ToolChunk, None]:
        async with aclosing(next_handler(**input_kwargs)) as stream:
            async for one in stream:
                yield one


def chunk(text: str) -> ToolChunk:
    """Return a chunk of one text."""
    return ToolChunk(content=[TextBlock(text=text)])


def words(one: ToolChunk | ToolResponse) -> str:
    """Return the text of a chunk."""
    return "".join(block.text for block in one.content if isinstance(block, TextBlock))


async def test_awaiting_a_tool_gives_its_chunk() -> None:
    """What `call` returns, of a tool of one's own and of a wrapped function."""
    produced = await Bare()(anything=1)
    assert isinstance(produced, ToolChunk)
    assert words(produced) == "hello {'anything': 1}"

    def double(number: int) -> int:
        """Double a number.

        Args:
            number: The number.
        """
        return 2 * number

    produced = await FunctionTool(double)(number=21)
    assert isinstance(produced, ToolChunk)
    assert words(produced) == "42"


@pytest.mark.parametrize("tool", [Streaming(), Returning(), Probe(middlewares=[Layer()])])
async def test_awaiting_a_tool_that_streams_gives_the_stream(tool: ToolBase) -> None:
    """Of an async generator, of a coroutine that returns one, and of a tool with layers."""
    produced = await tool()
    assert not isinstance(produced, ToolChunk)
    awaited = [words(one) async for one in produced]
    assert awaited == [words(one) async for one in tool()]
    assert awaited in (["a", "b"], [""], ["Probe"]) or len(awaited) == 1


@pytest.mark.parametrize("tool", [Bare(), Streaming(), Returning()])
async def test_every_tool_can_be_iterated_over(tool: ToolBase) -> None:
    """`async for` gives the chunks, whatever `call` returns; closing early is fine."""
    assert [words(one) async for one in tool()] in (["hello {}"], ["a", "b"])
    async with aclosing(tool()) as stream:
        assert words(await anext(stream))


async def test_a_run_is_awaited_or_iterated_over_and_only_once() -> None:
    """The second time is an error that says what to do, and runs nothing."""
    tool = Probe()
    run = tool(text="a")
    produced = await run
    assert not isinstance(produced, ToolChunk)
    assert [one async for one in produced]
    with pytest.raises(RuntimeError, match="call the tool again"):
        await run
    with pytest.raises(RuntimeError, match="was awaited"):
        await anext(run)
    begun = tool(text="b")
    await anext(begun)
    with pytest.raises(RuntimeError, match="has begun"):
        await begun
    await begun.aclose()
    assert tool.runs == ["a", "b"]


async def test_positional_arguments_are_refused() -> None:
    """A tool is called with names."""
    with pytest.raises(TypeError):
        Bare()("a")  # type: ignore[call-arg]


async def test_a_tool_needs_no_super_init() -> None:
    """It works in a toolkit and by an agent, and takes middlewares later."""
    tool = Bare("hi")
    agent = agent_of([tool], [call_of("Bare", '{"anything": 1}', "c")], [TextBlock(text="ok")])
    await events_of(agent, "go")
    assert text_of(results_of(agent)["c"]) == "hi {'anything': 1}"
    tool.middlewares = [Layer()]
    assert [words(one) async for one in tool()] == ["hi {}"]


@pytest.mark.parametrize(
    ("arguments", "fits"),
    [
        ('{"anything": {"of": ["any", "kind"]}}', True),
        ('{"inner": {"title": 1}}', True),
        ("{}", True),
        ('{"nothing": null}', False),
        ('{"inner": {"no": 1}}', False),
    ],
)
async def test_true_takes_anything_and_false_nothing(arguments: str, *, fits: bool) -> None:
    """Boolean schemas of properties count, at any depth."""
    call = call_of("Bare", arguments, "c")
    (*_, response) = [one async for one in Toolkit([Bare()]).call_tool(call, AgentState())]
    assert isinstance(response, ToolResponse)
    assert (response.state is ToolResultState.SUCCESS) is fits


async def test_boolean_schemas_are_told_as_they_are() -> None:
    """Also for a function with a schema of one's own."""

    def take(**given: Any) -> str:
        """Take anything."""
        return str(given)

    schema = {"type": "object", "properties": {"a": True, "b": False}, "title": "T"}
    for tool in (Bare(), FunctionTool(take, input_schema=schema)):
        (told,) = await Toolkit([tool]).get_tool_schemas()
        assert told["function"]["parameters"]["properties"] == tool.input_schema["properties"]


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [(Probe(), "{}"), (Probe(), "[]"), (Probe(opinion="deny"), "{}"), (None, "{}")],
)
async def test_a_response_has_the_id_of_its_call(tool: Probe | None, arguments: str) -> None:
    """Of a call that ran, one that could not be read, one that was denied, and one of no tool."""
    toolkit = Toolkit([tool] if tool is not None else [])
    call = ToolCallBlock(id="the-call", name="Probe", input=arguments)
    (*_, response) = [one async for one in toolkit.call_tool(call, AgentState())]
    assert isinstance(response, ToolResponse)
    assert response.id == "the-call"


@pytest.mark.parametrize(
    ("pattern", "command", "matches"),
    [
        ("git:*", "git status", True),
        ("git:*", "git push origin main", True),
        ("git status", "git status", True),
        ("ls:*", "ls -l && ls", True),
        ("npm run:*", "npm run build", True),
        ("npm run:*", "npm install", False),
        ("git commit:*", "git status", False),
        ("git:*", "gitk", False),
        ("git:*", "git status && rm x", False),
        ("ls:*", "cat x", False),
    ],
)
async def test_bash_says_which_commands_a_rule_matches(
    pattern: str, command: str, *, matches: bool
) -> None:
    """Also commands that need no rule, as they only read."""
    assert await Bash().match_rule(pattern, {"command": command}) is matches


async def test_a_failure_with_a_code_tells_it_to_the_model_and_to_programs() -> None:
    """Before the message, and in the result's metadata; the call itself is an ordinary error."""

    class Refusing(Bare):
        async def call(self, **arguments: Any) -> ToolChunk:
            raise RecoverableToolError("area.reason", "Do something else.")

    response = await outcome(Toolkit([Refusing()]), call_of("Bare", "{}"), AgentState())
    assert response is not None
    assert response.state is ToolResultState.ERROR
    assert response_text(response) == "area.reason: Do something else."
    assert response.metadata == {"error_code": "area.reason"}
