"""`Agent.run` and `Agent.run_stream`: agents for code that is not async."""

from __future__ import annotations

import asyncio
import threading

import pytest

from agentscope_like.agent import Agent
from agentscope_like.bridge import BackgroundLoop, run, shared_loop
from agentscope_like.event import ConfirmResult, EventType, UserConfirmResultEvent
from agentscope_like.exception import BridgeError
from agentscope_like.message import Msg, TextBlock, ToolCallBlock, ToolCallState, UserMsg
from agentscope_like.model import OpenAIChatModel
from agentscope_like.permission import PermissionBehavior, PermissionDecision
from agentscope_like.tool import FunctionTool
from tests.agent.kit import agent_of
from tests.model.chat_server import ChatServer, delta, running, streamed
from tests.tool.kit import Probe

ALLOWED = PermissionDecision(PermissionBehavior.ALLOW, "It is harmless.")
CALL = ToolCallBlock(id="1", name="Probe", input='{"text": "hello"}')
HELLO = UserMsg("user", "Hello.")


def texts(message: Msg) -> list[str]:
    """Return the texts of a message."""
    return [block.text for block in message.content if isinstance(block, TextBlock)]


def test_a_reply_is_returned() -> None:
    """`run` gives the message of the reply, with its tools run."""
    probe = Probe()
    agent = agent_of([probe], [CALL], [TextBlock(text="Done.")])
    assert texts(agent.run(HELLO))[-1] == "Done."
    assert probe.runs == ["hello"]


def test_the_same_agent_replies_again_and_goes_on_after_an_answer() -> None:
    """Replies follow one another on one loop; a waiting one takes the person's answer."""
    probe = Probe(opinion="ask")
    agent = agent_of(
        [probe], [CALL.model_copy()], [TextBlock(text="Done.")], [TextBlock(text="Hi")]
    )
    waiting = agent.run(HELLO)
    assert "waiting" in texts(waiting)[-1]
    (call,) = agent.state.get_unfinished_tool_calls("robot")
    answer = UserConfirmResultEvent(
        reply_id=agent.state.reply_context.reply_id,
        confirm_results=[ConfirmResult(confirmed=True, tool_call=call)],
    )
    assert texts(agent.run(answer))[-1] == "Done."
    assert texts(agent.run(HELLO)) == ["Hi"]
    assert probe.runs == ["hello"]


def test_the_events_can_be_iterated() -> None:
    """`run_stream` gives the events of `reply_stream`, each as it happens."""
    agent = agent_of([Probe()], [CALL.model_copy()], [TextBlock(text="Done.")])
    events = list(agent.run_stream(HELLO, yield_final_msg=True))
    kinds = [event.type for event in events if not isinstance(event, Msg)]
    assert kinds[0] is EventType.REPLY_START
    assert kinds[-1] is EventType.REPLY_END
    assert EventType.TOOL_RESULT_END in kinds
    assert isinstance(events[-1], Msg)


def test_leaving_the_events_early_ends_the_reply() -> None:
    """After a `break` nothing still counts as running, and the agent can reply again."""
    agent = agent_of([Probe()], [CALL.model_copy()], [TextBlock(text="Again.")])
    for event in agent.run_stream(HELLO):
        if not isinstance(event, Msg) and event.type is EventType.TOOL_RESULT_START:
            break
    states = {call.state for call in agent.state.get_unfinished_tool_calls("robot")}
    assert ToolCallState.ALLOWED not in states
    assert texts(agent.run(HELLO))[-1] == "Again."


def test_a_timeout_interrupts_the_reply_in_order() -> None:
    """The tool is cancelled and cleaned up, and the reply is ended: the agent can go on."""
    said: list[str] = []

    async def slow() -> str:
        """Sleep."""
        try:
            await asyncio.sleep(60)
        finally:
            await asyncio.sleep(0.02)
            said.append("clean")
        return "done"

    agent = agent_of(
        [FunctionTool(slow, permission=ALLOWED)],
        [ToolCallBlock(id="1", name="slow", input="{}")],
        [TextBlock(text="Again.")],
    )
    with pytest.raises(TimeoutError):
        agent.run(HELLO, timeout=0.2)
    assert said == ["clean"]
    assert agent.state.get_unfinished_tool_calls("robot") == []
    assert texts(agent.run(HELLO))[-1] == "Again."


async def test_in_async_code_the_errors_name_the_other_doors() -> None:
    """On an event loop both doors are refused before anything is done; the async ones work."""
    agent = agent_of([], [TextBlock(text="Hi.")])
    with pytest.raises(BridgeError, match=r"use `await agent\.reply\(\.\.\.\)`"):
        agent.run(HELLO)
    with pytest.raises(BridgeError, match=r"`agent\.reply_stream\(\.\.\.\)` with `async for`"):
        agent.run_stream(HELLO)
    assert texts(await agent.reply(HELLO)) == ["Hi."]


def test_agents_in_several_threads_share_the_loop() -> None:
    """Two agents in two threads reply at the same time: each waits for the other's tool."""
    barrier = threading.Barrier(2, timeout=20)

    def meet() -> str:
        """Wait for the other."""
        barrier.wait()
        return "met"

    call = ToolCallBlock(id="1", name="meet", input="{}")
    agents = [
        agent_of(
            [FunctionTool(meet, permission=ALLOWED)], [call.model_copy()], [TextBlock(text="Met.")]
        )
        for _ in range(2)
    ]
    replies: list[str] = []
    threads = [
        threading.Thread(target=lambda one=one: replies.append(texts(one.run(HELLO))[-1]))
        for one in agents
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert replies == ["Met.", "Met."]


class CountingServer(ChatServer):
    """Counts the connections that are made to it."""

    connections = 0

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection."""
        self.connections += 1
        await super().handle(reader, writer)


def test_replies_one_after_another_use_one_connection_to_the_model() -> None:
    """The model's client belongs to the loop, which is kept: it connects once, not every time."""
    hello = streamed(delta(role="assistant", content=""), delta("stop", content="Hello."))
    with BackgroundLoop() as aside, shared_loop():
        serving = running(CountingServer([hello] * 3))
        server = aside.run(serving.__aenter__())
        model = OpenAIChatModel("m", base_url=server.url, api_key="sk-secret")
        agent = Agent("robot", "Be helpful.", model)
        assert [texts(agent.run(HELLO)) for _ in range(3)] == [["Hello."]] * 3
        assert server.connections == 1
        run(model.close())
        aside.run(serving.__aexit__(None, None, None))
