"""A run is held to its profile, and its state says how it ended."""

from __future__ import annotations

from agentscope_like.runs import RunState
from tests.runs.kit import (
    COMMIT,
    FINISH,
    READ,
    TASK,
    WRITE,
    Control,
    call,
    profile_of,
    run_of,
    workspace_tools,
)


async def test_a_run_is_completed_by_finishing_it() -> None:
    """The model commits and finishes; what it called is shown to it by aliases."""
    control = Control(foreground=True)
    profile = profile_of(READ, COMMIT, FINISH, runs="foreground")
    run, model = run_of(
        profile,
        workspace_tools(control),
        [call(FINISH)],
        [call(COMMIT)],
        [call(FINISH), call(READ, call_id="call_1")],
        control=control,
    )
    assert await run.run(TASK) is RunState.COMPLETED
    assert run.error is None
    assert control.finished
    assert model.shown_tools[0] == [name.replace(".", "_") for name in (READ, COMMIT, FINISH)]
    assert not model.turns


async def test_a_run_of_a_model_that_only_talks_is_reminded_and_fails() -> None:
    """It is told to finish, and fails when its rounds are over."""
    control = Control()
    profile = profile_of(WRITE, FINISH, tools={"maxRounds": 3})
    from agentscope_like.message import TextBlock

    turns = [[TextBlock(text="I am done.")] for _ in range(3)]
    run, model = run_of(profile, workspace_tools(control), *turns, control=control)
    assert await run.run(TASK) is RunState.FAILED
    assert run.error is not None
    assert run.error.code == "agent.max_rounds_exceeded"
    assert len(model.seen) == 3
    assert "workspace_finish" in str(model.seen[1][-1].content)
