"""Humans in the loop: asking, and answers in any order, in part, in this process or a later one."""

from __future__ import annotations

import asyncio
import itertools
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentscope_like.agent import Agent, ReActConfig
from agentscope_like.event import (
    ConfirmResult,
    ExternalExecutionResultEvent,
    UserConfirmResultEvent,
    UserInterruptEvent,
)
from agentscope_like.exception import ResumeError
from agentscope_like.message import (
    TextBlock,
    ToolCallState,
    ToolResultBlock,
    ToolResultState,
    UserMsg,
)
from agentscope_like.permission import PermissionBehavior, PermissionRule, RuleError
from agentscope_like.state import AgentState
from agentscope_like.tool import Write
from tests.agent.kit import (
    agent_of,
    answer,
    calls_of,
    events_of,
    executed,
    outline,
    reloaded,
    results_of,
    text_of,
)
from tests.tool.kit import Probe, call_of

DONE = [TextBlock(text="All done.")]
MIXED = [
    call_of("Ok", call_id="c1"),
    call_of("Ask", call_id="c2"),
    call_of("Ext", call_id="c3"),
    call_of("Ask", call_id="c4"),
    call_of("Seq", call_id="c5"),
]


def tools() -> list[Probe]:
    """Return one tool that runs, one that asks, an external one and a sequential one."""
    return [
        Probe("Ok"),
        Probe("Ask", "ask"),
        Probe("Ext", external=True),
        Probe("Seq", concurrent=False),
    ]


async def parked(kit: list[Probe], *turns: Any) -> Agent:
    """Return an agent that waits for answers to a mixed batch."""
    agent = agent_of(kit, MIXED, *turns)
    await events_of(agent, "go")
    return agent


async def test_a_mixed_batch_is_told_and_taken_up_step_by_step() -> None:
    """What runs, asks, and waits outside is told as it is; the last answer lets the rest run."""
    kit = tools()
    agent = agent_of(kit, MIXED, DONE)
    assert outline(await events_of(agent, "go")) == [
        "REPLY_START",
        "TOOL_RESULT_START c1",
        "REQUIRE_USER_CONFIRM c2",
        "TOOL_RESULT_START c3",
        "REQUIRE_EXTERNAL_EXECUTION c3",
        "REQUIRE_USER_CONFIRM c4",
        "TOOL_RESULT_END c1 success",
    ]
    assert [call.state.value for call in calls_of(agent).values()] == [
        "finished",
        "asking",
        "submitted",
        "asking",
        "pending",
    ]
    assert outline(await events_of(agent, answer(agent, "c2"))) == [
        "TOOL_RESULT_START c2",
        "TOOL_RESULT_END c2 success",
    ]
    assert outline(await events_of(agent, executed(agent, "c3"))) == ["TOOL_RESULT_END c3 success"]
    assert outline(await events_of(agent, answer(agent, "c4", confirmed=False))) == [
        "TOOL_RESULT_START c4",
        "TOOL_RESULT_END c4 denied",
        "TOOL_RESULT_START c5",
        "TOOL_RESULT_END c5 success",
        "REPLY_END completed",
    ]


ANSWERS = ["c2", "c3", "c4"]


@settings(max_examples=40, deadline=None)
@given(st.permutations(ANSWERS), st.lists(st.booleans(), min_size=3, max_size=3))
async def test_any_order_of_answers_over_any_restarts_comes_to_the_same(
    order: list[str], restarts: list[bool]
) -> None:
    """Each tool runs at most once, and the results are the same whatever the order."""
    kit = tools()
    agent = await parked(kit, DONE)
    for call_id, restart in zip(order, restarts, strict=True):
        if restart:
            agent = reloaded(agent, kit, DONE)
        given_answer = executed(agent, call_id) if call_id == "c3" else answer(agent, call_id)
        await events_of(agent, given_answer)
    assert {i: text_of(r) for i, r in sorted(results_of(agent).items())} == {
        "c1": "Ok:hi",
        "c2": "Ask:hi",
        "c3": "done",
        "c4": "Ask:hi",
        "c5": "Seq:hi",
    }
    assert [len(tool.runs) for tool in kit] == [1, 2, 0, 1]
    assert agent.state.context[-1].get_text_content() == "All done."


async def test_resuming_without_an_answer_asks_again() -> None:
    """None, in this process and in a new one, approves nothing and shows what waits."""
    kit = tools()
    agent = await parked(kit)
    for _ in range(2):
        agent = reloaded(agent, kit)
        assert outline(await events_of(agent)) == [
            "REQUIRE_USER_CONFIRM c2",
            "REQUIRE_EXTERNAL_EXECUTION c3",
            "REQUIRE_USER_CONFIRM c4",
        ]
    assert kit[1].runs == []
    reply = await agent.reply()
    assert reply.get_text_content() == (
        "I'm waiting for your permission or the external execution to finish."
    )


async def test_a_message_does_not_pass_for_an_answer() -> None:
    """While calls wait, a new message is refused, and nothing changes."""
    agent = await parked(tools())
    before = agent.state.model_dump_json()
    with pytest.raises(ResumeError, match="'c2', 'c3', 'c4'"):
        await events_of(agent, "yes, go ahead")
    with pytest.raises(ResumeError):
        await agent.observe(UserMsg("user", "yes"))
    assert agent.state.model_dump_json() == before


def wrong_answers(agent: Agent) -> list[tuple[Any, str]]:
    """Return answers that do not fit what the agent waits for, and what each is told."""
    calls, reply_id = calls_of(agent), agent.state.reply_id

    def confirm(*results: ConfirmResult, reply: str = reply_id) -> UserConfirmResultEvent:
        return UserConfirmResultEvent(reply_id=reply, confirm_results=list(results))

    def result(call_id: str, **changes: Any) -> ExternalExecutionResultEvent:
        fields = {"name": "Ext", "output": "x", "state": ToolResultState.SUCCESS} | changes
        block = ToolResultBlock(id=call_id, **fields)
        return ExternalExecutionResultEvent(reply_id=reply_id, execution_results=[block])

    def answer_to_c4(confirmed: bool = True, **changes: Any) -> ConfirmResult:
        rules = changes.pop("rules", None)
        edited = calls["c4"].model_copy(update=changes)
        return ConfirmResult(confirmed=confirmed, tool_call=edited, rules=rules)

    good = ConfirmResult(confirmed=True, tool_call=calls["c2"])
    bad_rule = PermissionRule(tool_name="Nope", behavior=PermissionBehavior.ALLOW)
    return [
        (confirm(good, reply="other"), "the agent is in"),
        (confirm(good, good), "answered twice"),
        (confirm(good, ConfirmResult(confirmed=True, tool_call=calls["c1"])), "no call 'c1'"),
        (confirm(good, ConfirmResult(confirmed=True, tool_call=calls["c3"])), "no call 'c3'"),
        (confirm(good, answer_to_c4(name="Ok")), "cannot change which tool"),
        (confirm(good, answer_to_c4(input="{nonsense")), "'c4' cannot run.*not valid JSON"),
        (confirm(good, answer_to_c4(input='{"count": 0}')), "'c4' cannot run.*minimum of 1"),
        (confirm(good, answer_to_c4(rules=[bad_rule])), "not a tool"),
        (confirm(good, answer_to_c4(confirmed=False, rules=[remember()])), "none that allows"),
        (result("c2"), "no call 'c2'"),
        (result("c3", state=ToolResultState.RUNNING), "still `running`"),
        (result("c3", name="Ok"), "is of 'Ext'"),
        (UserInterruptEvent(reply_id="other"), "the agent is in"),
    ]


@pytest.mark.parametrize("position", range(13))
async def test_an_answer_that_does_not_fit_does_nothing(position: int) -> None:
    """All answers are checked before any is acted on: the good one beside the bad runs nothing."""
    kit = tools()
    agent = await parked(kit)
    wrong, told = wrong_answers(agent)[position]
    before = agent.state.model_dump_json()
    with pytest.raises((ResumeError, RuleError), match=told):
        await events_of(agent, wrong)
    assert agent.state.model_dump_json() == before
    assert kit[1].runs == []


async def test_an_answered_call_is_not_answered_again() -> None:
    """The same answer a second time is refused, and nothing runs twice."""
    kit = tools()
    agent = await parked(kit)
    yes = answer(agent, "c2")
    await events_of(agent, yes)
    with pytest.raises(ResumeError):
        await events_of(agent, yes)
    assert kit[1].runs == ["hi"]


def remember(content: str | None = None) -> PermissionRule:
    """Return a rule that a person would remember."""
    return PermissionRule(tool_name="Ask", rule_content=content, behavior=PermissionBehavior.ALLOW)


async def test_a_remembered_rule_spares_the_siblings_that_it_covers() -> None:
    """Waiting calls that the rule allows run at once, and the next call is not asked."""
    probe = Probe("Ask", "ask")
    batch = [call_of("Ask", f'{{"text": "{t}"}}', call_id=t) for t in ("a", "b", "dangerous")]
    agent = agent_of([probe], batch, [call_of("Ask", '{"text": "later"}', call_id="l")], DONE)
    await events_of(agent, "go")
    await events_of(agent, answer(agent, "a", rules=[remember()]))
    assert sorted(probe.runs) == ["a", "b"]
    assert calls_of(agent)["dangerous"].state is ToolCallState.ASKING
    await events_of(agent, answer(agent, "dangerous", confirmed=False))
    assert sorted(probe.runs) == ["a", "b", "later"]


async def test_a_rule_that_covers_one_call_leaves_the_others_waiting() -> None:
    """Only what the rule allows is spared."""
    probe = Probe("Ask", "ask")
    batch = [call_of("Ask", f'{{"text": "{t}"}}', call_id=t) for t in ("a", "b")]
    agent = agent_of([probe], batch, DONE)
    await events_of(agent, "go")
    await events_of(agent, answer(agent, "a", rules=[remember("a")]))
    assert probe.runs == ["a"]
    assert calls_of(agent)["b"].state is ToolCallState.ASKING


async def test_edited_arguments_run_and_the_model_is_told() -> None:
    """The edited call runs with what the person wrote; its result says that it was edited."""
    probe = Probe("Ask", "ask")
    agent = agent_of([probe], [call_of("Ask")], DONE)
    await events_of(agent, "go")
    await events_of(agent, answer(agent, "c1", arguments='{"text": "better"}'))
    assert probe.runs == ["better"]
    assert "The user edited the arguments" in text_of(results_of(agent)["c1"])
    assert calls_of(agent)["c1"].input == '{"text": "better"}'


async def test_an_edit_into_danger_is_asked_again() -> None:
    """A safety check that the person was not shown parks the call once more."""
    probe = Probe("Ask", "ask")
    agent = agent_of([probe], [call_of("Ask")], DONE)
    await events_of(agent, "go")
    lines = outline(await events_of(agent, answer(agent, "c1", arguments='{"text": "dangerous"}')))
    assert lines == ["REQUIRE_USER_CONFIRM c1"]
    assert probe.runs == []
    await events_of(agent, answer(agent, "c1"))
    assert probe.runs == ["dangerous"]


def files_in(directory: Path) -> dict[str, str]:
    """Return what is in the files of the directory, by name."""
    return {path.name: path.read_text() for path in directory.iterdir()}


async def test_an_edit_that_leads_to_another_file_is_asked_again(tmp_path: Path) -> None:
    """The person has seen what would become of one file; another is shown before it is written."""
    wanted = json.dumps({"file_path": "a.txt", "content": "1"})
    agent = agent_of([Write(cwd=tmp_path)], [call_of("Write", wanted)], DONE)
    await events_of(agent, "go")
    elsewhere = json.dumps({"file_path": "b.txt", "content": "1"})
    events = await events_of(agent, answer(agent, "c1", arguments=elsewhere))
    assert outline(events) == ["REQUIRE_USER_CONFIRM c1"]
    asked = calls_of(agent)["c1"].decision
    assert asked is not None
    assert "`b.txt`" in asked.message
    assert files_in(tmp_path) == {}
    await events_of(agent, answer(agent, "c1", arguments=elsewhere.replace("1", "2")))
    assert files_in(tmp_path) == {"b.txt": "2"}


async def test_stop_on_reject_refuses_what_comes_after() -> None:
    """With the setting the calls after a rejected one do not run; without it they do."""
    for stops, expected in ((True, 0), (False, 1)):
        asks, after = Probe("Ask", "ask", concurrent=False), Probe("Seq", concurrent=False)
        calls = [call_of("Ask", call_id="c1"), call_of("Seq", call_id="c2")]
        config = ReActConfig(stop_on_reject=stops)
        agent = agent_of([asks, after], calls, DONE, config=config)
        await events_of(agent, "go")
        await events_of(agent, answer(agent, "c1", confirmed=False))
        assert len(after.runs) == expected
        assert agent.state.context[-1].get_text_content() == "All done."


async def test_an_interrupt_ends_what_waits() -> None:
    """Every open call is closed as interrupted, and the next message is answered."""
    kit = tools()
    agent = await parked(kit, DONE)
    interrupt = UserInterruptEvent(reply_id=agent.state.reply_id)
    lines = outline(await events_of(agent, interrupt))
    assert lines[-1] == "REPLY_END interrupted"
    assert {r.state for i, r in results_of(agent).items() if i != "c1"} == {
        ToolResultState.INTERRUPTED
    }
    assert (await agent.reply(UserMsg("user", "again"))).get_text_content() == "All done."
    assert kit[1].runs == []


IN_A_NEW_PROCESS = """
import asyncio, sys
from pathlib import Path
from agentscope_like.state import AgentState
from tests.agent.kit import agent_of, answer, calls_of, events_of, executed
from tests.agent.test_waiting import DONE, tools

async def main(path, call_id):
    state = AgentState.model_validate_json(path.read_text())
    kit = tools()
    agent = agent_of(kit, DONE, state=state)
    given = executed(agent, call_id) if call_id == "c3" else answer(agent, call_id)
    await events_of(agent, given)
    path.write_text(agent.state.model_dump_json())
    print(sum(len(tool.runs) for tool in kit))

asyncio.run(main(Path(sys.argv[1]), sys.argv[2]))
"""


async def test_each_answer_may_be_given_to_a_new_process(tmp_path: Any) -> None:
    """A mixed batch, saved as JSON and taken up by a process for each answer, ends as it should."""
    path = tmp_path / "state.json"
    path.write_text((await parked(tools())).state.model_dump_json())
    runs = []
    for call_id in ("c4", "c3", "c2"):
        done = await asyncio.to_thread(
            subprocess.run,
            [sys.executable, "-c", IN_A_NEW_PROCESS, str(path), call_id],
            capture_output=True,
            text=True,
            check=True,
            timeout=60,
        )
        runs.append(int(done.stdout))
    assert runs == [1, 0, 2]
    state = AgentState.model_validate_json(path.read_text())
    assert state.context[-1].get_text_content() == "All done."


@pytest.mark.parametrize(("first", "second"), list(itertools.permutations(["c2", "c3", "c4"], 2)))
async def test_answers_may_come_in_part(first: str, second: str) -> None:
    """Two of three answers leave the third waiting and the later call pending."""
    kit = tools()
    agent = await parked(kit)
    for call_id in (first, second):
        await events_of(
            agent, executed(agent, call_id) if call_id == "c3" else answer(agent, call_id)
        )
    assert len(agent.state.get_awaiting_tool_calls("robot")) == 1
    assert calls_of(agent)["c5"].state is ToolCallState.PENDING
