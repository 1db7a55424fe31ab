"""`Toolkit.call`: calls for code that is not async."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from agentscope_like.bridge import iterate, run
from agentscope_like.event import ConfirmResult
from agentscope_like.exception import BridgeError, ResumeError
from agentscope_like.message import (
    TextBlock,
    ToolCallBlock,
    ToolCallState,
    ToolResponse,
    ToolResultState,
)
from agentscope_like.permission import PermissionBehavior, PermissionDecision
from agentscope_like.state import AgentState
from agentscope_like.tool import DecidedCall, DeclaredResources, FunctionTool, ToolChunk, Toolkit
from tests.tool.kit import Probe


def text_of(response: ToolResponse | DecidedCall) -> str:
    """Return the text of a response."""
    assert isinstance(response, ToolResponse)
    return "".join(block.text for block in response.content if isinstance(block, TextBlock))


def call_of(name: str = "Probe", text: str = "hello") -> ToolCallBlock:
    """Return a call with that text."""
    return ToolCallBlock(id="call_1", name=name, input=f'{{"text": "{text}"}}')


def test_an_allowed_call_gives_its_response() -> None:
    """The call is decided and run, and its one response returned."""
    probe, call = Probe(), call_of()
    response = Toolkit([probe]).call(call, AgentState())
    assert isinstance(response, ToolResponse)
    assert response.state is ToolResultState.SUCCESS
    assert response.id == "call_1"
    assert call.state is ToolCallState.FINISHED
    assert len(probe.runs) == 1


def test_a_refused_call_gives_its_refusal() -> None:
    """A denied call, and one of an unknown tool, give a response that says so; nothing ran."""
    probe = Probe(opinion="deny")
    kit = Toolkit([probe])
    denied, unknown = kit.call(call_of(), AgentState()), kit.call(call_of("Prob"), AgentState())
    assert text_of(denied).startswith("Denied")
    assert "Probe" in text_of(unknown)
    assert probe.runs == []


def test_a_call_that_asks_comes_back_undone_and_takes_an_answer() -> None:
    """A call that waits gives its decision; with a person's answer it goes on."""
    probe, call, state = Probe(opinion="ask"), call_of(), AgentState()
    kit = Toolkit([probe])
    asked = kit.call(call, state)
    assert isinstance(asked, DecidedCall)
    assert asked.decision is not None
    assert asked.decision.message == "Probe wants to run."
    assert call.state is ToolCallState.ASKING
    assert probe.runs == []
    response = kit.call(call, state, answer=ConfirmResult(confirmed=True, tool_call=call))
    assert isinstance(response, ToolResponse)
    assert probe.runs == ["hello"]
    with pytest.raises(ResumeError):
        kit.call(call, state, answer=ConfirmResult(confirmed=True, tool_call=call))


def test_a_rejected_call_does_not_run() -> None:
    """With the answer no, the response is the rejection."""
    probe, call, state = Probe(opinion="ask"), call_of(), AgentState()
    kit = Toolkit([probe])
    kit.call(call, state)
    response = kit.call(call, state, answer=ConfirmResult(confirmed=False, tool_call=call))
    assert isinstance(response, ToolResponse)
    assert response.state is not ToolResultState.SUCCESS
    assert probe.runs == []


def test_the_model_is_told_that_a_person_edited_its_call() -> None:
    """The response of an edited call begins with the note that it was edited."""
    probe, call, state = Probe(opinion="ask"), call_of(), AgentState()
    kit = Toolkit([probe])
    kit.call(call, state)
    edited = call.model_copy(update={"input": '{"text": "other"}'})
    response = kit.call(call, state, answer=ConfirmResult(confirmed=True, tool_call=edited))
    assert "edited" in text_of(response).lower()
    assert probe.runs == ["other"]


def test_an_external_call_comes_back_for_its_system() -> None:
    """A call that another system does gives what was decided, and is submitted."""
    call = call_of()
    decided = Toolkit([Probe(external=True)]).call(call, AgentState())
    assert isinstance(decided, DecidedCall)
    assert call.state is ToolCallState.SUBMITTED


def test_a_call_may_take_its_time_and_no_more() -> None:
    """At the timeout the tool is cancelled and has cleaned up; other calls are not touched."""
    said: list[str] = []

    async def slow() -> str:
        """Sleep."""
        try:
            await asyncio.sleep(60)
        finally:
            await asyncio.sleep(0.02)
            said.append("clean")
        return "done"

    kit = Toolkit([FunctionTool(slow, permission=None), Probe()])
    kit_state = AgentState()
    call = ToolCallBlock(id="1", name="slow", input="{}")
    kit.call(call, kit_state)
    with pytest.raises(TimeoutError):
        kit.call(
            call,
            kit_state,
            answer=ConfirmResult(confirmed=True, tool_call=call),
            timeout=0.1,
        )
    assert said == ["clean"]
    assert isinstance(kit.call(call_of(), kit_state), ToolResponse)


async def test_in_async_code_the_error_names_the_other_door() -> None:
    """On an event loop the call is refused, nothing is decided, and the message has the cure."""
    probe, call = Probe(), call_of()
    with pytest.raises(BridgeError, match=r"`toolkit\.call_tool\(\.\.\.\)` with `async for`"):
        Toolkit([probe]).call(call, AgentState())
    assert call.state is ToolCallState.PENDING
    assert probe.runs == []


def test_the_chunks_of_a_call_can_be_iterated() -> None:
    """`bridge.iterate` gives the chunks of `call_tool`, and its response last."""
    items = list(iterate(Toolkit([Probe()]).call_tool(call_of(), AgentState())))
    assert [type(item) for item in items] == [ToolChunk, ToolResponse]


def test_a_blocking_tool_may_call_for_what_it_holds() -> None:
    """A function that holds a resource makes calls that need it too, through the blocking door."""
    kit, state = Toolkit([]), AgentState()
    allowed = PermissionDecision(PermissionBehavior.ALLOW, "It is harmless.")

    def account(_: dict[str, Any]) -> DeclaredResources:
        return DeclaredResources(keys=("account",))

    def book() -> str:
        """Book."""
        return "booked"

    def pay() -> str:
        """Pay, and book it."""
        return "paid, " + text_of(
            kit.call(ToolCallBlock(id="2", name="book", input="{}"), state, timeout=20)
        )

    for function in (book, pay):
        tool = FunctionTool(function, permission=allowed, resources=account)
        run(kit.add_tool(tool))
    paid = kit.call(ToolCallBlock(id="1", name="pay", input="{}"), state, timeout=30)
    assert text_of(paid) == "paid, booked"
