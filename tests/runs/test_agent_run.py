"""A run is held to its profile, and its state says how it ended."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from agentscope_like.event import ConfirmResult, ToolResultEndEvent, UserConfirmResultEvent
from agentscope_like.exception import (
    ConfigurationError,
    DeveloperOrientedException,
    ModelError,
    ResumeError,
)
from agentscope_like.journal import Journal, RecordedRun
from agentscope_like.message import TextBlock, ToolCallBlock, ToolResultState
from agentscope_like.permission import PermissionBehavior
from agentscope_like.profile import ProfileError
from agentscope_like.runs import AgentRun, RunState
from agentscope_like.state import AgentState
from tests.agent.kit import Turn
from tests.runs.kit import (
    COMMIT,
    FINISH,
    READ,
    TASK,
    WRITE,
    Control,
    Stub,
    call,
    profile_of,
    run_of,
    workspace_tools,
)

SAID = [TextBlock(text="I am done.")]


async def _results(run: AgentRun) -> dict[str, tuple[ToolResultState, object]]:
    """Return how the calls of a run ended, and the codes of their errors."""
    return {
        event.tool_call_id: (event.state, event.metadata.get("error_code"))
        async for event in run.stream(TASK)
        if isinstance(event, ToolResultEndEvent)
    }


def _code(run: AgentRun) -> str | None:
    return None if run.error is None else run.error.code


async def test_a_run_is_completed_by_finishing_it() -> None:
    """In the foreground, it commits first; calls behind the one that finishes do not run."""
    control = Control(foreground=True)
    tools = workspace_tools(control)
    run, model = run_of(
        profile_of(READ, COMMIT, FINISH, runs="foreground"),
        tools,
        [call(FINISH, call_id="early")],
        [call(COMMIT, call_id="commit")],
        [call(FINISH, call_id="finish"), call(READ, call_id="late")],
        control=control,
    )
    assert await _results(run) == {
        "early": (ToolResultState.ERROR, "agent.foreground_commit_required"),
        "commit": (ToolResultState.SUCCESS, None),
        "finish": (ToolResultState.SUCCESS, None),
        "late": (ToolResultState.ERROR, "agent.run_finished"),
    }
    assert run.state is RunState.COMPLETED
    assert model.shown_tools[0] == [name.replace(".", "_") for name in (READ, COMMIT, FINISH)]
    assert not tools[0].runs
    with pytest.raises(ResumeError, match="is completed"):
        await run.run(TASK)


async def test_without_a_control_a_run_is_over_when_its_agent_has_replied() -> None:
    """What the agent says is its end."""
    run, _ = run_of(profile_of(READ), [Stub(READ)], [call(READ)], SAID)
    assert await run.run(TASK) is RunState.COMPLETED


async def test_a_model_that_only_talks_is_reminded() -> None:
    """It is told to finish, and may do so."""
    control = Control()
    turns = (SAID, [call(FINISH)])
    run, model = run_of(profile_of(FINISH), workspace_tools(control), *turns, control=control)
    assert await run.run(TASK) is RunState.COMPLETED
    assert "workspace_finish" in str(model.seen[1][-1].content)


@pytest.mark.parametrize("turn", [SAID, [call(WRITE)]])
async def test_tt_141_max_rounds_limits_the_rounds_of_one_invocation(turn: Any) -> None:
    """A run that is not finished within them fails, and the next one has all of them again."""
    for _ in range(2):
        control = Control()
        profile = profile_of(WRITE, FINISH, tools={"maxRounds": 3})
        run, model = run_of(profile, workspace_tools(control), *[turn] * 4, control=control)
        assert await run.run(TASK) is RunState.FAILED
        assert _code(run) == "agent.max_rounds_exceeded"
        assert len(model.seen) == 3


async def test_rounds_are_counted_across_an_answer_and_a_restart() -> None:
    """A run that goes on in another process has the rounds that were left."""
    control = Control()
    profile = profile_of(WRITE, FINISH, tools={"maxRounds": 3})
    tools = [Stub(WRITE, opinion=PermissionBehavior.ASK), *workspace_tools(control)[3:]]
    run, _ = run_of(profile, tools, SAID, [call(WRITE)], control=control, run_id="r")
    assert await run.run(TASK) is RunState.WAITING
    state = AgentState.model_validate_json(run.agent.state.model_dump_json())
    again, model = run_of(
        profile, tools, [call(WRITE)], SAID, control=control, state=state, run_id="r"
    )
    asked = state.get_awaiting_tool_calls("writer")
    answer = UserConfirmResultEvent(
        reply_id=state.reply_id,
        confirm_results=[ConfirmResult(confirmed=True, tool_call=one) for one in asked],
    )
    await again.run(answer)
    assert len(model.seen) == 1


async def test_tt_14_a_recoverable_error_is_a_result_that_the_model_can_act_on() -> None:
    """An unknown tool, a hidden one, bad arguments and an exhausted budget leave the run alive."""
    control = Control()
    turns = (
        [call("nothing", call_id="unknown")],
        [call(READ, call_id="hidden")],
        [ToolCallBlock(id="bad", name="workspace_write_file", input='{"texts": 1}')],
        [call(WRITE, call_id="first")],
        [call(WRITE, call_id="second")],
        [call(FINISH, call_id="finish")],
    )
    profile = profile_of(WRITE, FINISH, tools={"maxCallsPerTool": {WRITE: 1}})
    run, model = run_of(profile, workspace_tools(control), *turns, control=control)
    assert await _results(run) == {
        "unknown": (ToolResultState.ERROR, None),
        "hidden": (ToolResultState.ERROR, "agent.tool_policy_denied"),
        "bad": (ToolResultState.ERROR, None),
        "first": (ToolResultState.SUCCESS, None),
        "second": (ToolResultState.ERROR, "agent.tool_budget_exhausted"),
        "finish": (ToolResultState.SUCCESS, None),
    }
    assert run.state is RunState.COMPLETED
    assert "did you mean 'text'" in str(model.seen[3][-1].content)


@pytest.mark.parametrize("commits", [False, True])
@pytest.mark.parametrize("what", ["tool", "model", "journal", "end", "rounds"])
async def test_tt_15_a_runtime_failure_ends_the_run_as_failed(
    what: str, commits: bool, tmp_path: Path
) -> None:
    """A partial success if something had been committed; the error says what failed."""
    control = Control()
    journal = Journal(tmp_path)

    def fail(text: str) -> str:
        if what == "tool":
            raise DeveloperOrientedException("the checkpoints cannot be stored")
        journal.close()
        return "The disk is full."

    async def fail_at_the_end() -> None:
        raise OSError("persist/ cannot be stored")

    turns: dict[str, Turn] = {
        "model": ModelError("it answers with nothing that is an answer"),
        "end": [call(FINISH)],
        "rounds": SAID,
    }
    tools = workspace_tools(control)
    tools[1] = Stub(WRITE, fail)
    run, _ = run_of(
        profile_of(WRITE, COMMIT, FINISH, tools={"maxRounds": 1 + commits}),
        tools,
        *([[call(COMMIT)]] if commits else []),
        turns.get(what, [call(WRITE)]),
        control=control,
        journal=journal,
        at_success=[fail_at_the_end],
    )
    assert await run.run(TASK) is (RunState.PARTIAL_SUCCESS if commits else RunState.FAILED)
    assert (
        _code(run)
        == {
            "tool": "runtime.DeveloperOrientedException",
            "model": "agent.model_failed",
            "journal": "runtime.JournalError",
            "end": "runtime.failure",
            "rounds": "agent.max_rounds_exceeded",
        }[what]
    )
    if what != "journal":
        assert RecordedRun.read(tmp_path).state == run.state
    journal.close()


async def test_a_commit_that_fails_fails_the_run() -> None:
    """The chat does not answer: nothing was committed, so the run failed."""
    control = Control()
    profile = profile_of(COMMIT, FINISH)
    turns = ([call(COMMIT, "broken")],)
    run, _ = run_of(profile, workspace_tools(control), *turns, control=control)
    assert await run.run(TASK) is RunState.FAILED
    assert run.error is not None
    assert run.error.message == "the chat does not answer"


@pytest.mark.parametrize("waits", [False, True])
async def test_a_run_is_cancelled(waits: bool) -> None:
    """While it works, or waits: nothing runs on, and what follows a success does not happen."""
    ended: list[str] = []
    begun = asyncio.Event()

    class Slow(Stub):
        async def call(self, text: str = "") -> Any:
            begun.set()
            await asyncio.sleep(30)

    async def promote() -> None:
        ended.append("promoted")

    opinion = PermissionBehavior.ASK if waits else PermissionBehavior.ALLOW
    run, _ = run_of(
        profile_of(WRITE), [Slow(WRITE, opinion=opinion)], [call(WRITE)], at_success=[promote]
    )
    working = asyncio.create_task(run.run(TASK))
    if waits:
        assert await working is RunState.WAITING
    else:
        await begun.wait()
    await run.cancel()
    assert run.state is RunState.CANCELLED
    assert not run.agent.state.get_awaiting_tool_calls("writer")
    await run.cancel()
    assert run.state is RunState.CANCELLED
    assert not ended
    await asyncio.wait([working])


async def test_a_waiting_run_goes_on_with_an_answer() -> None:
    """An answer to another reply is refused, and the run waits on."""
    tool = Stub(WRITE, opinion=PermissionBehavior.ASK)
    run, _ = run_of(profile_of(WRITE), [tool], [call(WRITE, "page")], SAID)
    assert await run.run(TASK) is RunState.WAITING
    asked = run.agent.state.get_awaiting_tool_calls("writer")
    confirmed = [ConfirmResult(confirmed=True, tool_call=one) for one in asked]
    with pytest.raises(ResumeError):
        await run.run(UserConfirmResultEvent(reply_id="other", confirm_results=confirmed))
    assert run.state is RunState.WAITING
    reply_id = run.agent.state.reply_id
    answer = UserConfirmResultEvent(reply_id=reply_id, confirm_results=confirmed)
    assert await run.run(answer) is RunState.COMPLETED
    assert tool.runs == ["page"]


async def test_an_input_that_does_not_fit_leaves_the_run_as_it_is() -> None:
    """An answer where nothing waits is refused, and the run begins with the next input."""
    run, _ = run_of(profile_of(READ), [Stub(READ)], [call(READ)], SAID)
    with pytest.raises(ResumeError):
        await run.run(UserConfirmResultEvent(reply_id="other", confirm_results=[]))
    assert run.state is RunState.RUNNING
    assert await run.run(TASK) is RunState.COMPLETED


async def test_a_profile_that_does_not_fit_does_not_run() -> None:
    """The model is not called; nor is a run begun whose control is of another kind."""
    run, model = run_of(profile_of("chat.serch"), [Stub(READ)], SAID)
    with pytest.raises(ProfileError, match=r"did you mean 'chat\.search'"):
        await run.run(TASK)
    assert not model.seen
    with pytest.raises(ConfigurationError, match="background"):
        run_of(profile_of(FINISH), [], control=Control(foreground=True))
