"""Calls of agents run at the same time unless what they declare to touch conflicts."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from agentscope_like.agent import Agent
from agentscope_like.event import ConfirmResult, UserConfirmResultEvent
from agentscope_like.exception import ConfigurationError
from agentscope_like.message import (
    TextBlock,
    ToolCallBlock,
    ToolCallState,
    ToolChunk,
    ToolResultBlock,
    ToolResultState,
    UserMsg,
)
from agentscope_like.permission import (
    PermissionBehavior,
    PermissionContext,
    PermissionDecision,
    PermissionMode,
)
from agentscope_like.state import AgentState
from agentscope_like.tool import (
    DeclaredResources,
    Edit,
    FunctionTool,
    ToolBase,
    Toolkit,
    ToolMiddlewareBase,
    ToolProxy,
    Write,
)
from tests.agent.kit import UNTOLD, DictatedModel, agent_of
from tests.tool.kit import Probe

ALLOWED = PermissionDecision(PermissionBehavior.ALLOW, "It is harmless.")
HELLO = UserMsg("user", "Hello.")
DONE = [TextBlock(text="Done.")]


class Scene:
    """Keeps when calls of its tools are decided, begin and end; each waits to be let go."""

    def __init__(self) -> None:
        self.said: list[str] = []
        self.gates: dict[str, asyncio.Event] = {}

    async def work(self, text: str) -> AsyncGenerator[ToolChunk, None]:
        """Begin, wait to be let go, and end."""
        self.said.append(f"+{text}")
        await self.gates.setdefault(text, asyncio.Event()).wait()
        self.said.append(f"-{text}")
        yield ToolChunk(content=[TextBlock(text=text)])

    async def let_go(self, *texts: str) -> None:
        """Let calls end, one after another, and what follows them begin."""
        for text in texts:
            self.gates.setdefault(text, asyncio.Event()).set()
            await self.until(f"-{text}")

    async def until(self, *wanted: str) -> None:
        """Wait until all this was said, and a little more, for what should not be said."""
        for _ in range(4000):
            if set(wanted) <= set(self.said):
                break
            await asyncio.sleep(0.005)
        assert set(wanted) <= set(self.said)
        await asyncio.sleep(0.02)


class Declaring(Probe):
    """A tool whose calls need for themselves the letters of their text, but for capitals."""

    def __init__(self, scene: Scene, name: str = "Probe", **options: Any) -> None:
        super().__init__(name, work=scene.work, **{"concurrent": False, **options})
        self.scene = scene

    def resources(self, tool_input: dict[str, Any]) -> DeclaredResources | None:
        keys = (letter for letter in tool_input["text"] if letter.islower())
        return DeclaredResources(keys=tuple(keys))

    async def check_permissions(self, tool_input: dict[str, Any], context: Any) -> Any:
        self.scene.said.append(f"?{tool_input['text']}")
        return await super().check_permissions(tool_input, context)


def calls_of(*texts: str, name: str = "Probe") -> list[ToolCallBlock]:
    """Return calls with these texts, which are their ids as well; `Name:text` is of a tool."""
    calls = []
    for text in texts:
        tool, _, rest = text.rpartition(":")
        calls.append(ToolCallBlock(id=rest, name=tool or name, input=json.dumps({"text": rest})))
    return calls


def replying(agent: Agent) -> asyncio.Task[Any]:
    """Start a reply."""
    return asyncio.create_task(agent.reply(HELLO))


async def test_calls_of_different_resources_run_at_the_same_time() -> None:
    """Calls that need different keys run together, though the tool is not concurrency-safe."""
    scene = Scene()
    reply = replying(agent_of([Declaring(scene)], calls_of("a", "b", "C"), DONE))
    await scene.until("+a", "+b", "+C")
    await scene.let_go("b", "a", "C")
    await reply


async def test_calls_of_one_resource_keep_the_model_s_order() -> None:
    """The second of two calls with one key is decided when the first has ended."""
    scene = Scene()
    reply = replying(agent_of([Declaring(scene)], calls_of("ax", "ay"), DONE))
    await scene.until("+ax")
    assert scene.said == ["?ax", "+ax"]
    await scene.let_go("ax", "ay")
    assert scene.said == ["?ax", "+ax", "-ax", "?ay", "+ay", "-ay"]
    await reply


async def test_a_call_begins_as_soon_as_what_it_waited_for_has_ended() -> None:
    """One call waits for another; a third, of other resources, runs beside both."""
    scene = Scene()
    reply = replying(agent_of([Declaring(scene)], calls_of("ax", "ay", "b"), DONE))
    await scene.until("+ax", "+b")
    assert "+ay" not in scene.said
    await scene.let_go("ax")
    await scene.until("+ay")
    assert "-b" not in scene.said
    await scene.let_go("b", "ay")
    await reply


async def test_a_call_does_not_overtake_one_before_it_that_it_conflicts_with() -> None:
    """A third call waits for a second that waits for a first, though the first is not its own."""
    scene = Scene()
    reply = replying(agent_of([Declaring(scene)], calls_of("a", "ab", "b"), DONE))
    await scene.until("+a")
    assert "+b" not in scene.said
    await scene.let_go("a", "ab", "b")
    begun = [one for one in scene.said if one.startswith("+")]
    assert begun == ["+a", "+ab", "+b"]
    await reply


@pytest.mark.parametrize(
    ("safe", "together"), [(True, True), (False, False)], ids=["safe", "unsafe"]
)
async def test_without_a_declaration_the_tool_s_flag_decides(safe: bool, together: bool) -> None:
    """A tool that declares nothing runs beside others if both are concurrency-safe."""
    scene = Scene()
    plain = Probe("Plain", concurrent=safe, work=scene.work)
    tools: list[ToolBase] = [Declaring(scene, concurrent=True), plain]
    reply = replying(agent_of(tools, calls_of("a", "Plain:P", "b"), DONE))
    await scene.until("+a")
    assert ("+P" in scene.said, "+b" in scene.said) == (together, together)
    await scene.let_go("a", "P", "b")
    await reply


async def test_an_unsafe_tool_that_declares_keeps_its_place_among_those_that_do_not() -> None:
    """What a tool that declares writes is there for a later call of one that says nothing."""
    scene = Scene()
    tools = [Declaring(scene), Probe("Plain", work=scene.work)]
    reply = replying(agent_of(tools, calls_of("a", "Plain:P"), DONE))
    await scene.until("+a")
    assert "+P" not in scene.said
    await scene.let_go("a", "P")
    await reply


async def test_a_call_that_asks_holds_later_calls_up() -> None:
    """Calls after one that waits for an answer stay pending; those before it run."""
    scene = Scene()
    asking = Declaring(scene, "Asking", opinion="ask")
    agent = agent_of([Declaring(scene), asking], calls_of("a", "Asking:b", "c", "a2"), DONE)
    reply = replying(agent)
    await scene.until("+a")
    await scene.let_go("a")
    await reply
    states = {call.id: call.state for call in agent.state.get_unfinished_tool_calls("robot")}
    assert states == {
        "b": ToolCallState.ASKING,
        "c": ToolCallState.PENDING,
        "a2": ToolCallState.PENDING,
    }
    assert scene.said == ["?a", "?b", "+a", "-a"]
    answer = UserConfirmResultEvent(
        reply_id=agent.state.reply_context.reply_id,
        confirm_results=[
            ConfirmResult(confirmed=True, tool_call=call)
            for call in agent.state.get_awaiting_tool_calls("robot")
        ],
    )
    going_on = asyncio.create_task(agent.reply(answer))
    await scene.let_go("b", "c", "a2")
    await going_on
    assert agent.state.get_unfinished_tool_calls("robot") == []


def other_agent(toolkit: Toolkit, *turns: Sequence[Any]) -> Agent:
    """Return an agent with that toolkit and a state of its own."""
    return Agent("other", "Be helpful.", DictatedModel(*turns), toolkit, injection_config=UNTOLD)


@pytest.mark.parametrize("view", [lambda kit: kit, ToolProxy], ids=["toolkit", "view"])
async def test_agents_take_turns_at_a_resource(view: Callable[[Toolkit], Toolkit]) -> None:
    """A call of another agent waits for this one's of the same resource, and for no other."""
    scene = Scene()
    kit = Toolkit([Declaring(scene)])
    first = replying(other_agent(kit, calls_of("ax"), DONE))
    await scene.until("+ax")
    second = replying(other_agent(view(kit), calls_of("ay", "b"), DONE))
    await scene.until("+b")
    assert "+ay" not in scene.said
    await scene.let_go("b", "ax", "ay")
    await asyncio.gather(first, second)
    assert scene.said[-2:] == ["+ay", "-ay"]


async def test_an_agent_that_is_stopped_while_it_waits_leaves_nothing_held() -> None:
    """A reply that is cancelled in the queue of a resource keeps no later one out."""
    scene = Scene()
    kit = Toolkit([Declaring(scene)])
    first = replying(other_agent(kit, calls_of("ax"), DONE))
    await scene.until("+ax")
    waiting = replying(other_agent(kit, calls_of("ay"), DONE))
    await scene.until("?ay")
    last = replying(other_agent(kit, calls_of("az"), DONE))
    await scene.until("?az")
    waiting.cancel()
    await asyncio.wait([waiting])
    await scene.let_go("ax", "az")
    await asyncio.gather(first, last)
    assert "+ay" not in scene.said


async def test_a_call_that_is_delegated_while_its_resource_is_held_runs() -> None:
    """A tool that holds a key may have an agent make calls that need it."""
    scene = Scene()
    inner = other_agent(Toolkit([Declaring(scene)]), calls_of("a"), DONE)

    async def delegate() -> str:
        """Have another agent do it."""
        await inner.reply(HELLO)
        return "done"

    tool = FunctionTool(
        delegate, permission=ALLOWED, resources=lambda _: DeclaredResources(keys=("a",))
    )
    reply = replying(agent_of([tool], [ToolCallBlock(id="1", name="delegate", input="{}")], DONE))
    await scene.let_go("a")
    await asyncio.wait_for(reply, 20)


async def test_a_function_declares_by_its_arguments() -> None:
    """`FunctionTool(resources=...)` says what a call touches."""
    scene = Scene()

    async def work(text: str) -> AsyncGenerator[ToolChunk, None]:
        """Work."""
        async for chunk in scene.work(text):
            yield chunk

    tool = FunctionTool(
        work,
        permission=ALLOWED,
        is_concurrency_safe=False,
        resources=lambda given: DeclaredResources(keys=(given["text"][0],)),
    )
    reply = replying(agent_of([tool], calls_of("ax", "ay", "b", name="work"), DONE))
    await scene.until("+ax", "+b")
    assert "+ay" not in scene.said
    await scene.let_go("ax", "ay", "b")
    await reply


class Renaming(ToolMiddlewareBase):
    """Changes the text of a call to its first letter."""

    async def on_tool_call(
        self, tool: Any, input_kwargs: dict[str, Any], next_handler: Any
    ) -> AsyncGenerator[ToolChunk, None]:
        async for chunk in next_handler(text=input_kwargs["text"][-1]):
            yield chunk


async def test_arguments_that_a_middleware_changes_are_declared_anew() -> None:
    """What the tool touches in the end is held, not only what the model wrote."""
    scene = Scene()
    renamed = Declaring(scene, "Renamed", middlewares=[Renaming()])
    first = replying(agent_of([Declaring(scene)], calls_of("a"), DONE))
    await scene.until("+a")
    reply = replying(agent_of([renamed], calls_of("xa", name="Renamed"), DONE))
    await scene.until("?xa")
    assert scene.said.count("+a") == 1
    await scene.let_go("a")
    await asyncio.gather(first, reply)
    assert scene.said.count("-a") == 2


async def test_a_tool_that_cannot_say_runs_alone_and_does_not_run() -> None:
    """Where `resources` raises, the call fails and the reply goes on; its neighbours run."""
    scene = Scene()

    class Failing(Declaring):
        def resources(self, tool_input: dict[str, Any]) -> DeclaredResources | None:
            raise ValueError("which one?")

    tools = [Declaring(scene), Failing(scene, "Failing")]
    agent = agent_of(tools, calls_of("a", "Failing:b"), DONE)
    reply = replying(agent)
    await scene.let_go("a")
    await reply
    message = agent.state.reply_message("robot")
    assert message is not None
    results = {one.id: one for one in message.content if isinstance(one, ToolResultBlock)}
    assert results["b"].state is ToolResultState.ERROR
    assert "ValueError: which one?" in str(results["b"].output)
    assert results["a"].state is ToolResultState.SUCCESS
    assert "+b" not in scene.said


async def test_a_declaration_of_the_wrong_type_is_the_developer_s_mistake() -> None:
    """A `resources` that returns something else is said to the program."""
    scene = Scene()

    class Wrong(Declaring):
        def resources(self, tool_input: dict[str, Any]) -> Any:
            return ["a"]

    with pytest.raises(ConfigurationError, match="return DeclaredResources, or None"):
        await agent_of([Wrong(scene)], calls_of("a"), DONE).reply(HELLO)


class Meeting(ToolMiddlewareBase):
    """Lets calls of a tool pass when a number of them has come."""

    def __init__(self, count: int) -> None:
        self.barrier = asyncio.Barrier(count)

    async def on_tool_call(
        self, tool: Any, input_kwargs: dict[str, Any], next_handler: Any
    ) -> AsyncGenerator[ToolChunk, None]:
        async with asyncio.timeout(20):
            await self.barrier.wait()
        async for chunk in next_handler(**input_kwargs):
            yield chunk


def written(path: str, content: str) -> ToolCallBlock:
    """Return a call of Write."""
    text = json.dumps({"file_path": path, "content": content})
    return ToolCallBlock(id=f"{path} {content}", name="Write", input=text)


async def test_different_files_are_written_at_the_same_time(tmp_path: Path) -> None:
    """Two Writes of two files meet, in a directory that both of them make."""
    tool = Write(cwd=tmp_path, middlewares=[Meeting(2)])
    state = AgentState(permission_context=PermissionContext(mode=PermissionMode.BYPASS))
    calls = [written("new/one", "1"), written("new/two", "2")]
    await agent_of([tool], calls, DONE, state=state).reply(HELLO)
    assert {one.name: one.read_text() for one in (tmp_path / "new").iterdir()} == {
        "one": "1",
        "two": "2",
    }


async def test_changes_of_one_file_are_made_in_order(tmp_path: Path) -> None:
    """Writing a file twice, by two names of it, and editing it leave what the last call wrote."""
    (tmp_path / "link").symlink_to("file")
    edit = ToolCallBlock(
        id="edit",
        name="Edit",
        input=json.dumps({"file_path": "link", "old_string": "two", "new_string": "three"}),
    )
    calls = [written("file", "one"), written("link", "two"), edit]
    state = AgentState(permission_context=PermissionContext(mode=PermissionMode.BYPASS))
    tools = [Write(cwd=tmp_path), Edit(cwd=tmp_path)]
    await agent_of(tools, calls, DONE, state=state).reply(HELLO)
    assert (tmp_path / "file").read_text() == "three"
