"""Children run beside their parent, within what it may do, and never outlive it."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from agentscope_like.agent import Agent
from agentscope_like.event import (
    AgentEvent,
    EventType,
    RequireUserConfirmEvent,
    UserInterruptEvent,
)
from agentscope_like.exception import ConfigurationError, ResumeError
from agentscope_like.message import Msg, ToolChunk, ToolResultState, UserMsg
from agentscope_like.permission import PermissionContext, PermissionMode, PermissionRule
from agentscope_like.state import AgentState
from agentscope_like.tool import FunctionTool
from tests.agent.kit import events_of, model_of, text_of
from tests.delegation.kit import (
    Team,
    allowing,
    answering,
    call,
    delegate,
    profile,
    results,
    returning,
    saying,
    told,
)


class Work:
    """A tool `work` that notes who ran it with what, and waits where it is told to."""

    def __init__(self) -> None:
        self.ran: list[str] = []
        self.is_running = 0
        self.began = asyncio.Event()
        self.may_end = asyncio.Event()

    def tool(self) -> FunctionTool:
        """Return a tool."""

        async def work(what: str, waits: bool = False) -> ToolChunk:
            """Do something."""
            self.is_running += 1
            try:
                self.began.set()
                if waits:
                    await self.may_end.wait()
                self.ran.append(what)
            finally:
                self.is_running -= 1
            return ToolChunk(content=[], state=ToolResultState.SUCCESS)

        return FunctionTool(work)


def asked(events: list[AgentEvent]) -> list[RequireUserConfirmEvent]:
    """Return the questions among events."""
    return [event for event in events if isinstance(event, RequireUserConfirmEvent)]


def team_of(work: Work, *names: str, **contexts: PermissionContext) -> Team:
    """Return agents which all may work, and by default are asked about it."""
    team = Team(*(profile(name, max_depth=5) for name in names))
    team.tools = {name: [work.tool()] for name in names}
    team.contexts = {name: contexts.get(name, allowing()) for name in names}
    return team


MAY_WORK = allowing(allow=["agent.delegate", "work"])


# Whose question it is


async def test_a_childs_question_is_asked_in_the_parents_stream() -> None:
    """It names the child; the parent waits, and goes on with the result after the answer."""
    work = Work()
    team = team_of(work, "lead", "child", lead=MAY_WORK)
    team.dictate("lead", [delegate("d", "child")], [call("w", "agent.await")], saying("done"))
    team.dictate("child", [call("k", "work", what="it")], returning("ok"))
    agent = team.top("lead")
    events = await events_of(agent, "go")
    (question,) = asked(events)
    task = agent.state.children.tasks[0]
    assert question.metadata["child_tasks"] == [{"taskId": task.id, "agentId": "child"}]
    assert question.tool_calls[0].name == "work"
    assert task.status == "waiting"
    assert events[-1].type is not EventType.REPLY_END
    assert not any(event.type is EventType.REQUIRE_EXTERNAL_EXECUTION for event in events)
    after = await events_of(agent, answering(question))
    assert work.ran == ["it"]
    assert after[-1].type is EventType.REPLY_END
    assert told(agent, "w")["tasks"][0]["result"]["summary"] == "ok"


async def test_a_no_reaches_the_child() -> None:
    """The call does not run, and the child is told so and goes on."""
    work = Work()
    team = team_of(work, "lead", "child", lead=MAY_WORK)
    team.dictate("lead", [delegate("d", "child")], [call("w", "agent.await")], saying("done"))
    team.dictate("child", [call("k", "work", what="it")], returning("could not"))
    agent = team.top("lead")
    (question,) = asked(await events_of(agent, "go"))
    await events_of(agent, answering(question, confirmed=False))
    assert work.ran == []
    assert told(agent, "w")["tasks"][0]["result"]["summary"] == "could not"


async def test_a_waiting_child_survives_a_restart() -> None:
    """From the saved JSON the question is asked again, answered, and the parent goes on."""
    work = Work()
    team = team_of(work, "lead", "middle", "child", lead=MAY_WORK, middle=MAY_WORK)
    for name, below in (("lead", "middle"), ("middle", "child")):
        team.dictate(name, [delegate(f"d-{name}", below)], [call(f"w-{name}", "agent.await")])
    team.dictate("lead", saying("done"))
    team.dictate("middle", returning("passed on"))
    team.dictate("child", [call("k", "work", what="it")], returning("ok"))
    await events_of(first := team.top("lead"), "go")
    state = AgentState.model_validate_json(first.state.model_dump_json())
    agent = team.top("lead", state)
    (question,) = asked(await events_of(agent))
    assert [one["agentId"] for one in question.metadata["child_tasks"]] == ["middle", "child"]
    state = AgentState.model_validate_json(agent.state.model_dump_json())
    agent = team.top("lead", state)
    events = await events_of(agent, answering(question))
    assert work.ran == ["it"]
    assert events[-1].type is EventType.REPLY_END
    assert told(agent, "w-lead")["tasks"][0]["result"]["summary"] == "passed on"
    assert agent.state.children.tasks[0].state is None


async def test_a_child_at_work_goes_on_after_a_crash() -> None:
    """Its state as saved in the middle of its work is taken up; the begun call is not repeated."""
    work = Work()
    team = team_of(work, "lead", "child", lead=MAY_WORK, child=MAY_WORK)
    team.dictate("lead", [delegate("d", "child")], [call("w", "agent.await")])
    team.dictate("child", [call("k", "work", what="slow", waits=True)])
    agent = team.top("lead")
    running = asyncio.create_task(events_of(agent, "go"))
    await work.began.wait()
    await asyncio.sleep(0.02)  # for the parent to wait
    saved = agent.state.model_dump_json()
    running.cancel()
    await running
    team.turns["lead"], team.turns["child"] = [saying("done")], [returning("went on")]
    agent = team.top("lead", AgentState.model_validate_json(saved))
    events = await events_of(agent)
    assert events[-1].type is EventType.REPLY_END
    assert told(agent, "w")["tasks"][0]["result"]["summary"] == "went on"
    assert work.ran == []


async def test_results_survive_a_restart() -> None:
    """What a child returned before is told by an `agent.await` after."""
    work = Work()
    team = team_of(work, "lead", "quick", "child", lead=MAY_WORK)
    team.dictate(
        "lead",
        [delegate("d1", "quick"), delegate("d2", "child")],
        [call("w", "agent.await", mode="allCompleted")],
        saying("done"),
    )
    team.dictate("quick", returning("was quick"))
    team.dictate("child", [call("k", "work", what="it")], returning("ok"))
    agent = team.top("lead")
    (question,) = asked(await events_of(agent, "go"))
    agent = team.top("lead", AgentState.model_validate_json(agent.state.model_dump_json()))
    await events_of(agent, answering(question))
    summaries = [task["result"]["summary"] for task in told(agent, "w")["tasks"]]
    assert summaries == ["was quick", "ok"]
    assert team.made.count("quick") == 1


async def test_a_wrong_answer_is_refused_and_nothing_done() -> None:
    """An answer to no call of the child, or to a reply that nobody is in; the right one holds."""
    work = Work()
    team = team_of(work, "lead", "child", lead=MAY_WORK)
    team.dictate("lead", [delegate("d", "child")], [call("w", "agent.await")], saying("done"))
    team.dictate("child", [call("k", "work", what="it")], returning("ok"))
    agent = team.top("lead")
    (question,) = asked(await events_of(agent, "go"))
    before = agent.state.model_dump_json()
    other = question.tool_calls[0].model_copy(update={"id": "other"})
    wrong = question.model_copy(update={"tool_calls": [other]})
    with pytest.raises(ResumeError, match="'other'"):
        await events_of(agent, answering(wrong))
    with pytest.raises(ResumeError, match="nobody"):
        await events_of(agent, answering(question.model_copy(update={"reply_id": "nobody"})))
    assert agent.state.model_dump_json() == before
    await events_of(agent, answering(question))
    assert work.ran == ["it"]


async def test_two_children_ask_and_are_answered_one_by_one() -> None:
    """The parent waits until the second is answered too."""
    work = Work()
    team = team_of(work, "lead", "a", "b", lead=MAY_WORK)
    wait = call("w", "agent.await", mode="allCompleted")
    team.dictate("lead", [delegate("d1", "a"), delegate("d2", "b")], [wait], saying("done"))
    for name in "ab":
        team.dictate(name, [call("k", "work", what=name)], returning("ok"))
    agent = team.top("lead")
    first, second = asked(await events_of(agent, "go"))
    between = await events_of(agent, answering(second))
    assert between == []
    assert work.ran == ["b"]
    assert (await events_of(agent, answering(first)))[-1].type is EventType.REPLY_END
    assert work.ran == ["b", "a"]


async def test_a_reply_that_waits_for_a_child_says_so() -> None:
    """`reply` returns a message, and not an empty one."""
    work = Work()
    team = team_of(work, "lead", "child", lead=MAY_WORK)
    team.dictate("lead", [delegate("d", "child")], [call("w", "agent.await")], saying("done"))
    team.dictate("child", [call("k", "work", what="a")], [call("l", "work", what="b")])
    agent = team.top("lead")
    (question,) = asked(await events_of(agent, "go"))
    message = await agent.reply(answering(question))
    assert "waiting" in str(message.get_text_content())


# What it may do


@pytest.mark.parametrize(
    ("parent", "child", "expected"),
    [
        ({"allow": ["work"]}, {"allow": ["work"]}, "success"),
        ({"allow": ["work"]}, {}, "asks"),
        ({}, {"allow": ["work"]}, "asks"),
        ({"ask": ["work"]}, {"allow": ["work"]}, "asks"),
        ({"deny": ["work"]}, {"allow": ["work"]}, "denied"),
        ({"allow": ["work"]}, {"deny": ["work"]}, "denied"),
        ({"deny": ["work"]}, {}, "denied"),
        ({"mode": PermissionMode.DONT_ASK}, {"allow": ["work"]}, "denied"),
        ({"allow": ["work"]}, {"mode": PermissionMode.EXPLORE}, "denied"),
        ({"mode": PermissionMode.BYPASS}, {"mode": PermissionMode.BYPASS}, "success"),
    ],
)
async def test_the_stricter_of_two_contexts_counts(
    parent: dict[str, Any], child: dict[str, Any], expected: str
) -> None:
    """DENY before ASK before ALLOW, whichever of the two says so."""
    work = Work()
    start = {**parent, "allow": ["agent.delegate", *parent.get("allow", [])]}
    team = team_of(work, "lead", "child", lead=PermissionContext.from_rules(**start))
    team.contexts["child"] = PermissionContext.from_rules(**child)
    team.dictate("lead", [delegate("d", "child")], [call("w", "agent.await")], saying("done"))
    team.dictate("child", [call("k", "work", what="it")], returning("ok"))
    agent = team.top("lead")
    events = await events_of(agent, "go")
    assert (work.ran == ["it"]) == (expected == "success")
    assert bool(asked(events)) == (expected == "asks")
    assert team.made == ["child"]


async def test_the_top_of_three_levels_forbids() -> None:
    """What the first agent denies, the third cannot do though the two below allow it."""
    work = Work()
    top = allowing(allow=["agent.delegate"], deny=["work"])
    team = team_of(work, "lead", "middle", "child", lead=top, middle=MAY_WORK, child=MAY_WORK)
    team.dictate("lead", [delegate("d1", "middle")], [call("w", "agent.await")], saying("done"))
    team.dictate("middle", [delegate("d2", "child")], [call("v", "agent.await")], returning("ok"))
    team.dictate("child", [call("k", "work", what="it")], returning("was refused"))
    await events_of(team.top("lead"), "go")
    assert work.ran == []
    assert "denies this" in str(team.models["child"].seen[1])


async def test_a_rule_remembered_for_a_child_widens_nobody_else() -> None:
    """It is added to the child's context alone: the parent's own call still asks."""
    work = Work()
    team = team_of(work, "lead", "child")
    team.dictate(
        "lead",
        [delegate("d", "child")],
        [call("w", "agent.await")],
        [call("own", "work", what="own")],
    )
    team.dictate("child", [call("k", "work", what="it")], returning("ok"))
    agent = team.top("lead")
    (question,) = asked(await events_of(agent, "go"))
    answer = answering(question)
    answer.confirm_results[0].rules = [PermissionRule.parse("allow work")]
    (second,) = asked(await events_of(agent, answer))
    assert second.tool_calls[0].id == "own"
    assert work.ran == ["it"]
    assert not agent.state.permission_context.allow_rules.get("work")


async def test_a_deny_rule_added_between_decision_and_run_holds() -> None:
    """A child's call that waits for a resource does not run under the parent's older policy."""
    work = Work()
    team = team_of(work, "lead", "child", lead=MAY_WORK, child=MAY_WORK)
    team.dictate("lead", [delegate("d", "child")], [call("w", "agent.await")], saying("done"))
    team.dictate("child", [call("k", "work", what="it")], returning("ok"))
    agent = team.top("lead")

    async def deny(request: Any, go_on: Any) -> Any:
        decision = await go_on(request)
        agent.state.permission_context.deny_rules = {"work": [PermissionRule.parse("deny work")]}
        return decision

    def prepare(child: Agent) -> None:
        child.toolkit = child.toolkit.limited(decision_layers=[deny])

    team.prepare = prepare
    await events_of(agent, "go")
    assert work.ran == []
    assert "a parent has changed" in str(team.models["child"].seen[1])


async def test_working_directories_are_those_of_both(tmp_path: Any) -> None:
    """A child keeps of its directories what lies in its parent's."""
    (tmp_path / "a/inner").mkdir(parents=True)
    (tmp_path / "b").mkdir()
    directory = str(tmp_path / "a")
    team = Team(profile("lead"), profile("child"))
    team.contexts = {
        "lead": allowing(working_directories=[directory]),
        "child": allowing(working_directories=[tmp_path / "a/inner", tmp_path / "b"]),
    }
    team.dictate("lead", [delegate("d", "child")], [call("w", "agent.await")], saying("done"))
    team.dictate("child", saying("ok"))
    made: list[Agent] = []
    team.prepare = made.append
    await events_of(team.top("lead"), "go")
    kept = made[0].state.permission_context.working_directories
    assert list(kept) == [str(tmp_path / "a/inner")]


async def test_depth_ends_where_the_top_says() -> None:
    """With the default of two levels, a grandchild delegates no further."""
    team = Team(*(profile(name) for name in ("lead", "a", "b", "c")))
    for name, below in (("lead", "a"), ("a", "b"), ("b", "c")):
        team.dictate(name, [delegate("d", below)], [call("w", "agent.await")], saying("ok"))
    agent = team.top("lead")
    await events_of(agent, "go")
    assert team.made == ["a", "b"]
    assert "no further level" in str(team.models["b"].seen[1])


# How it ends


async def test_a_reply_that_ends_cancels_what_it_left() -> None:
    """A child that nobody waited for is cancelled with its call."""
    work = Work()
    team = team_of(work, "lead", "child", lead=MAY_WORK, child=MAY_WORK)
    team.dictate("lead", [delegate("d", "child")], [call("own", "work", what="own")], saying("bye"))
    team.dictate("child", [call("k", "work", what="slow", waits=True)])
    agent = team.top("lead")
    before = asyncio.all_tasks()
    await events_of(agent, "go")
    assert asyncio.all_tasks() == before
    assert work.is_running == 0
    (task,) = agent.state.children.tasks
    assert (task.status, task.state) == ("cancelled", None)
    assert work.ran == ["own"]


async def test_an_interrupt_of_the_parent_ends_waiting_children() -> None:
    """Parent and child have ended, and the parent takes the next message."""
    work = Work()
    team = team_of(work, "lead", "child", lead=MAY_WORK)
    team.dictate("lead", [delegate("d", "child")], [call("w", "agent.await")], saying("hello"))
    team.dictate("child", [call("k", "work", what="it")])
    agent = team.top("lead")
    await events_of(agent, "go")
    await events_of(agent, UserInterruptEvent(reply_id=agent.state.reply_id))
    assert [task.status for task in agent.state.children.tasks] == ["cancelled"]
    assert (await events_of(agent, "next"))[-1].type is EventType.REPLY_END
    assert work.ran == []


async def test_an_interrupt_of_a_child_ends_that_child_alone() -> None:
    """The parent is told that it was cancelled, and goes on."""
    work = Work()
    team = team_of(work, "lead", "child", lead=MAY_WORK)
    team.dictate("lead", [delegate("d", "child")], [call("w", "agent.await")], saying("hello"))
    team.dictate("child", [call("k", "work", what="it")])
    agent = team.top("lead")
    (question,) = asked(await events_of(agent, "go"))
    events = await events_of(agent, UserInterruptEvent(reply_id=question.reply_id))
    assert events[-1].type is EventType.REPLY_END
    assert told(agent, "w")["tasks"][0]["status"] == "cancelled"


async def test_closing_the_stream_leaves_nothing_running() -> None:
    """Who stops listening ends the children too."""
    work = Work()
    team = team_of(work, "lead", "child", lead=MAY_WORK, child=MAY_WORK)
    team.dictate("lead", [delegate("d", "child")], [call("w", "agent.await")])
    team.dictate("child", [call("k", "work", what="slow", waits=True)])
    agent = team.top("lead")
    before = asyncio.all_tasks()
    stream = agent.reply_stream(UserMsg("user", "go"))
    async for event in stream:
        if not isinstance(event, Msg) and event.type is EventType.TOOL_RESULT_END:
            break
    await work.began.wait()
    await stream.aclose()
    assert asyncio.all_tasks() == before
    assert work.is_running == 0


async def test_start_outside_of_a_reply_is_refused() -> None:
    """A child without a stream of its parent would belong to nobody."""
    team = Team(profile("lead"), profile("child"))
    agent = team.top("lead")
    (children,) = agent.middlewares
    tools = {tool.name: tool for tool in await children.list_tools()}
    with pytest.raises(ConfigurationError, match="while it replies"):
        await tools["agent.delegate"].call(
            agentId="child", task={"objective": "x"}, _agent_state=agent.state
        )
    assert not agent.state.children.tasks


async def test_a_question_ends_the_wait_and_not_the_work_of_others() -> None:
    """The stream ends once the child that works has ended as well."""
    work = Work()
    team = team_of(work, "lead", "asks", "works", lead=MAY_WORK, works=MAY_WORK)
    wait = call("w", "agent.await", mode="allCompleted", timeoutMs=300_000)
    team.dictate("lead", [delegate("d1", "asks"), delegate("d2", "works")], [wait], saying("done"))
    team.dictate("asks", [call("k", "work", what="asked")], returning("ok"))
    team.dictate("works", [call("k", "work", what="slow", waits=True)], returning("ok"))
    agent = team.top("lead")
    events = []
    async for event in agent.reply_stream(UserMsg("user", "go")):
        if isinstance(event, Msg):
            continue
        events.append(event)
        if isinstance(event, RequireUserConfirmEvent):
            work.may_end.set()
    assert [task.status for task in agent.state.children.tasks] == ["waiting", "completed"]
    assert work.ran == ["slow"]
    await events_of(agent, answering(asked(events)[0]))
    assert [task["status"] for task in told(agent, "w")["tasks"]] == ["completed", "completed"]


async def test_the_parents_own_question_waits_beside_a_child() -> None:
    """The own answer is taken first or last; both calls run once."""
    work = Work()
    team = team_of(work, "lead", "child", child=MAY_WORK)
    team.dictate(
        "lead",
        [delegate("d", "child")],
        [call("w", "agent.await"), call("own", "work", what="own")],
        saying("done"),
    )
    team.dictate("child", [call("k", "work", what="it")], returning("ok"))
    agent = team.top("lead")
    questions = asked(await events_of(agent, "go"))
    assert len(questions) >= 1
    for _ in range(3):
        if not questions:
            break
        questions = [
            *questions[1:],
            *asked(await events_of(agent, answering(questions[0]))),
        ]
    assert sorted(work.ran) == ["it", "own"]
    assert text_of(results(agent)["w"])
    assert model_of(agent).turns == []
