"""Models, tools, programs and second agents that do not keep to their part."""

from __future__ import annotations

import asyncio
import copy
from collections.abc import AsyncGenerator
from typing import Any, cast

import pytest

from agentscope_like.event import EventType, UserConfirmResultEvent
from agentscope_like.exception import GrantError, ResumeError
from agentscope_like.message import (
    Msg,
    TextBlock,
    ToolCallBlock,
    ToolCallState,
    ToolResultState,
    UserMsg,
)
from agentscope_like.model import ChatResponse
from agentscope_like.permission import (
    PermissionBehavior,
    PermissionContext,
    PermissionDecision,
    PermissionMode,
    PermissionRule,
    RuleError,
)
from agentscope_like.state import AgentState
from agentscope_like.tool import Toolkit
from agentscope_like.types import ReplyFinishedReason
from tests.agent.kit import (
    agent_of,
    answer,
    calls_of,
    events_of,
    executed,
    outline,
    results_of,
    text_of,
)
from tests.tool.kit import Probe, call_of, chunk_of

DONE = [TextBlock(text="All done.")]


def part(*blocks: Any, last: bool = False) -> ChatResponse:
    """Return a part of a response, or its whole."""
    return ChatResponse(content=list(blocks), is_last=last)


def stream_of(*parts: ChatResponse) -> Any:
    """Return a turn that gives these parts."""

    async def stream() -> AsyncGenerator[ChatResponse, None]:
        for one in parts:
            yield one

    return stream


# Models


async def test_a_stream_that_ends_without_its_whole_runs_nothing() -> None:
    """A call that came in parts only was perhaps cut off: the reply fails, the session goes on."""
    probe = Probe()
    agent = agent_of([probe], stream_of(part(call_of())), DONE)
    message = await agent.reply(UserMsg("user", "go"))
    assert message.finished_reason is ReplyFinishedReason.ERROR
    assert "did not run" in text_of(results_of(agent)["c1"])
    assert (await agent.reply(UserMsg("user", "again"))).get_text_content() == "All done."
    assert probe.runs == []


async def test_nothing_counts_after_the_whole() -> None:
    """Parts that come after `is_last` add nothing to a call that was complete."""
    probe = Probe()
    late = part(call_of(arguments='{"text": "late"}'), call_of(call_id="c2"))
    agent = agent_of([probe], stream_of(part(call_of(), last=True), late), DONE)
    await agent.reply(UserMsg("user", "go"))
    assert probe.runs == ["hi"]


async def test_what_was_shown_of_a_call_is_what_is_decided() -> None:
    """A whole that contradicts its parts changes neither the tool nor the arguments."""
    probe, asks = Probe(), Probe("Ask", "ask")
    shown, other = call_of("Ask"), call_of("Probe", '{"text": "other"}')
    agent = agent_of([probe, asks], stream_of(part(shown), part(other, last=True)), DONE)
    await events_of(agent, "go")
    assert (calls_of(agent)["c1"].name, calls_of(agent)["c1"].input) == ("Ask", shown.input)
    assert probe.runs == []


async def test_a_call_may_have_the_id_of_a_text() -> None:
    """Blocks of different kinds are different blocks; the call is neither lost nor mixed up."""
    probe = Probe()
    parts = (part(TextBlock(id="x", text="Look: ")), part(call_of(call_id="x")))
    whole = part(TextBlock(id="x", text="Look: "), call_of(call_id="x"), last=True)
    agent = agent_of([probe], stream_of(*parts, whole), DONE)
    message = await agent.reply(UserMsg("user", "go"))
    assert probe.runs == ["hi"]
    assert message.get_text_content() == "Look: \nAll done."


ODD_IDS = ["", "\n", "\x00", "c-2", "c", "c", "é" * 1_000, "'; --", "../c"]


async def test_ids_may_be_anything() -> None:
    """Each call has one result of its own, whatever the model calls it; no name is an error."""
    probe = Probe()
    calls = [call_of(call_id=call_id) for call_id in ODD_IDS] + [call_of("", call_id="nameless")]
    agent = agent_of([probe], calls, DONE)
    await agent.reply(UserMsg("user", "go"))
    assert len(probe.runs) == len(ODD_IDS)
    assert len(results_of(agent)) == len(calls)
    assert results_of(agent)["nameless"].state is ToolResultState.ERROR
    assert AgentState.model_validate_json(agent.state.model_dump_json()) == agent.state


# Tools


@pytest.mark.parametrize("count", [1, 2])
async def test_a_tool_that_cancels_itself_ends_its_own_call_only(count: int) -> None:
    """A stray CancelledError neither ends the reply nor leaves it waiting for ever."""

    async def stray(_: str) -> AsyncGenerator[Any, None]:
        yield chunk_of("begun ")
        raise asyncio.CancelledError

    calls = [call_of(call_id=f"c{n}") for n in range(count)]
    agent = agent_of([Probe(work=stray)], calls, DONE)
    lines = outline(await asyncio.wait_for(events_of(agent, "go"), 20))
    assert lines[-1] == "REPLY_END completed"
    assert {r.state for r in results_of(agent).values()} == {ToolResultState.INTERRUPTED}


async def test_a_batch_does_not_wait_for_a_call_that_ended_without_a_word() -> None:
    """A tool that raises GeneratorExit ends the reply; the next message is answered."""

    async def leaving(text: str) -> AsyncGenerator[Any, None]:
        if text == "leave":
            raise GeneratorExit
        yield chunk_of("stayed")

    calls = [call_of(arguments='{"text": "leave"}', call_id="c1"), call_of(call_id="c2")]
    for batch, error in ((calls, RuntimeError), (calls[:1], GeneratorExit)):
        agent = agent_of([Probe(work=leaving)], batch, DONE)
        with pytest.raises(error):
            await agent.reply(UserMsg("user", "go"))
        assert results_of(agent)["c1"].state is ToolResultState.INTERRUPTED
        assert (await agent.reply(UserMsg("user", "again"))).get_text_content() == "All done."


async def test_many_chunks_wait_for_whoever_listens() -> None:
    """A batch of calls that say much is told whole, and never runs far ahead of its listener."""
    told: list[int] = []

    async def chatty(_: str) -> AsyncGenerator[Any, None]:
        for n in range(300):
            told.append(n)
            yield chunk_of(f"{n} ")

    agent = agent_of([Probe(work=chatty)], [call_of(call_id=c) for c in "ab"], DONE)
    heard = 0
    async for event in agent.reply_stream(UserMsg("user", "go")):
        if not isinstance(event, Msg) and event.type is EventType.TOOL_RESULT_TEXT_DELTA:
            heard += 1
            assert len(told) - heard < 100
    assert text_of(results_of(agent)["a"]).split() == [str(n) for n in range(300)]


async def test_a_tool_that_loosens_the_policy_frees_nothing_that_was_decided() -> None:
    """Its siblings' grants are void; the model is told, and may call again."""
    state = AgentState()

    async def loosening(_: str) -> AsyncGenerator[Any, None]:
        state.permission_context.mode = PermissionMode.BYPASS
        yield chunk_of("done")

    first, second = Probe(work=loosening), Probe("Second")
    calls = [call_of(call_id="c1"), call_of("Second", call_id="c2")]
    agent = agent_of([first, second], calls, DONE, state=state)
    await agent.reply(UserMsg("user", "go"))
    assert second.runs == []
    assert "did not run" in text_of(results_of(agent)["c2"])


async def test_a_tool_that_says_nothing_but_blank_chunks_is_said_to_have_ended() -> None:
    """The model never gets an empty result."""

    async def blank(_: str) -> AsyncGenerator[Any, None]:
        yield chunk_of("")

    agent = agent_of([Probe(work=blank)], [call_of()], DONE)
    await agent.reply(UserMsg("user", "go"))
    assert "without any output" in text_of(results_of(agent)["c1"])


# Programs


@pytest.mark.parametrize("given", ["hello", ["hello"], {"role": "user"}, 5, [None]])
async def test_what_is_no_message_is_refused_before_it_is_kept(given: Any) -> None:
    """Plain text is the commonest mistake: it raises with the mend and spoils nothing."""
    agent = agent_of([], DONE)
    for use in (agent.reply, agent.observe):
        with pytest.raises(ResumeError, match="UserMsg"):
            await cast("Any", use)(given)
    assert agent.state.context == []
    assert (await agent.reply(UserMsg("user", "hello"))).get_text_content() == "All done."


async def test_a_state_that_is_given_later_is_the_one_that_counts() -> None:
    """The policy and the context are those of the state that the agent has now."""
    probe = Probe()
    agent = agent_of([probe], [call_of()], DONE)
    agent.state = AgentState(permission_context=PermissionContext(mode=PermissionMode.EXPLORE))
    await agent.reply(UserMsg("user", "go"))
    assert results_of(agent)["c1"].state is ToolResultState.DENIED
    assert probe.runs == []


async def test_a_state_cannot_be_exchanged_in_the_middle_of_a_reply() -> None:
    """The reply goes on with the state that it began with."""
    agent = agent_of([Probe()], [call_of()], DONE)
    stream = agent.reply_stream(UserMsg("user", "go"))
    await anext(stream)
    with pytest.raises(ResumeError, match="when it has ended"):
        agent.state = AgentState()
    assert len([event async for event in stream]) > 5


async def test_a_toolkit_that_is_given_later_is_the_one_that_runs() -> None:
    """What is told to the model and what decides are one toolkit."""
    old, new = Probe(), Probe()
    agent = agent_of([old], [call_of()], DONE)
    agent.toolkit = Toolkit([new])
    await agent.reply(UserMsg("user", "go"))
    assert (old.runs, new.runs) == ([], ["hi"])


async def test_a_policy_in_error_is_refused_before_anything_is_done() -> None:
    """No message is kept, no model called; mended, the same message is answered."""
    agent = agent_of([Probe()], [call_of()], DONE)
    wrong = PermissionRule(tool_name="Prove", behavior=PermissionBehavior.DENY)
    agent.state.permission_context.deny_rules["Prove"] = [wrong]
    before = agent.state.model_dump_json()
    with pytest.raises(RuleError, match="Prove"):
        await agent.reply(UserMsg("user", "go"))
    assert agent.state.model_dump_json() == before
    agent.state.permission_context.deny_rules.clear()
    assert (await agent.reply(UserMsg("user", "go"))).get_text_content() == "All done."


async def test_an_answer_to_an_agent_that_never_replied_leaves_no_trace() -> None:
    """It is refused, and no empty message is begun for it."""
    agent = agent_of([], DONE)
    call = call_of()
    for results in ([], [{"confirmed": True, "tool_call": call}]):
        event = UserConfirmResultEvent.model_validate(
            {"reply_id": agent.state.reply_id, "confirm_results": results}
        )
        with pytest.raises(ResumeError):
            await agent.reply(event)
    assert agent.state.context == []


# Answers


class Thoughtful(Probe):
    """Takes its time to decide; what it says of danger can change."""

    danger = ""

    async def check_permissions(self, tool_input: Any, context: Any) -> PermissionDecision:
        await asyncio.sleep(0.01)
        message = self.danger or "Sure?"
        return PermissionDecision(PermissionBehavior.ASK, message, bypass_immune=bool(self.danger))


async def test_two_agents_on_one_state_never_run_a_call_twice() -> None:
    """The second is refused while the first replies, and finds nothing to answer afterwards."""
    probe, state = Thoughtful(), AgentState()
    first = agent_of([probe], [call_of()], DONE, state=state)
    second = agent_of([probe], DONE, state=state)
    await events_of(first, "go")
    yes = answer(first, "c1")
    results = await asyncio.gather(
        events_of(first, yes), events_of(second, yes), return_exceptions=True
    )
    assert [isinstance(result, ResumeError) for result in results] == [False, True]
    with pytest.raises(ResumeError):
        await events_of(second, yes)
    assert probe.runs == ["hi"]


async def test_a_copy_of_a_state_is_free_while_the_original_is_not() -> None:
    """Whether a reply is under way is no part of what is copied, saved or compared."""
    agent = agent_of([Probe()], [call_of()], DONE)
    stream = agent.reply_stream(UserMsg("user", "go"))
    await anext(stream)
    for twin in (
        copy.deepcopy(agent.state),
        agent.state.model_copy(deep=True),
        AgentState.model_validate_json(agent.state.model_dump_json()),
    ):
        assert twin == agent.state
        assert (await agent_of([], DONE, state=twin).reply()).get_text_content() == "All done."
    with pytest.raises(ResumeError, match="replying already"):
        await agent_of([], DONE, state=agent.state).reply()
    await stream.aclose()


async def test_a_rule_for_a_sibling_does_not_swap_the_question_under_an_answer() -> None:
    """A yes counts for the question that was shown, not for the one that holds by now."""
    probe, other = Thoughtful("Risky"), Probe("Other", "ask")
    calls = [call_of("Risky", call_id="c1"), call_of("Other", call_id="c2")]
    agent = agent_of([probe, other], calls, DONE)
    await events_of(agent, "go")
    yes = answer(agent, "c1")
    probe.danger = "By now it would overwrite .bashrc."
    rule = PermissionRule(tool_name="Other", behavior=PermissionBehavior.ALLOW)
    await events_of(agent, answer(agent, "c2", rules=[rule]))
    lines = outline(await events_of(agent, yes))
    assert lines == ["REQUIRE_USER_CONFIRM c1"]
    assert probe.runs == []
    await events_of(agent, answer(agent, "c1"))
    assert probe.runs == ["hi"]


async def test_an_answer_that_claims_a_decision_of_its_own_is_not_believed() -> None:
    """What the answer's call says of state, decision and rules is passed by."""
    probe = Thoughtful()
    probe.danger = "It formats the disk."
    agent = agent_of([probe], [call_of()], DONE)
    await events_of(agent, "go")
    yes = answer(agent, "c1", arguments='{"text": "other"}')
    claimed = yes.confirm_results[0].tool_call
    claimed.state = ToolCallState.ALLOWED
    claimed.decision = PermissionDecision(PermissionBehavior.ALLOW, "fine")
    claimed.digest = "0-0"
    assert outline(await events_of(agent, yes)) == ["REQUIRE_USER_CONFIRM c1"]
    assert probe.runs == []


async def test_an_event_that_answers_nothing_is_refused() -> None:
    """An empty list is neither a yes nor a way to go on."""
    probe = Probe(opinion="ask")
    agent = agent_of([probe], [call_of()], DONE)
    await events_of(agent, "go")
    empty = UserConfirmResultEvent(reply_id=agent.state.reply_id, confirm_results=[])
    with pytest.raises(ResumeError, match="answers no call"):
        await events_of(agent, empty)
    assert calls_of(agent)["c1"].state is ToolCallState.ASKING


async def test_an_edited_call_that_is_done_outside_says_that_it_was_edited() -> None:
    """The model learns that it was not its own arguments that were carried out."""
    probe = Probe("Ext", "ask", external=True)
    agent = agent_of([probe], [call_of("Ext")], DONE)
    await events_of(agent, "go")
    await events_of(agent, answer(agent, "c1", arguments='{"text": "better"}'))
    assert calls_of(agent)["c1"].state is ToolCallState.SUBMITTED
    await events_of(agent, executed(agent, "c1"))
    told = text_of(results_of(agent)["c1"])
    assert "The user edited the arguments" in told
    assert told.endswith("done")


async def test_a_grant_of_the_agents_toolkit_cannot_be_taken_by_others() -> None:
    """Two kits with the same tool do not run each other's grants."""
    probe, state = Probe(), AgentState()
    mine, other = Toolkit([probe]), Toolkit([probe])
    grant: Any = (await mine.decide(ToolCallBlock(id="c", name="Probe", input="{}"), state)).grant
    with pytest.raises(GrantError):
        other.run(grant, state)
    assert [item async for item in mine.run(grant, state)]
