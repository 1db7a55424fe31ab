"""What a run does stands in its journal, each call before it has any effect."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from contextlib import aclosing
from pathlib import Path

import pytest

from agentscope_like.event import (
    ConfirmResult,
    EventBase,
    ExternalExecutionResultEvent,
    ToolCallStartEvent,
    ToolResultEndEvent,
    UserConfirmResultEvent,
)
from agentscope_like.journal import CallOutcome, Journal, RecordedRun
from agentscope_like.message import TextBlock, ToolCallBlock, ToolResultBlock, ToolResultState
from agentscope_like.permission import PermissionBehavior
from agentscope_like.runs import RunState
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


async def test_tt_01_a_call_is_an_event_of_the_run_and_no_message(tmp_path: Path) -> None:
    """The stream and the journal tell of it; the chat of the run is a sink that hears commits."""
    chat: list[str] = []
    control = Control()
    tools = [Stub(READ), Stub(COMMIT, chat.append), *workspace_tools(control)[3:]]
    turns = ([call(READ, call_id="read")], [call(COMMIT, "page")], [call(FINISH)])
    with Journal(tmp_path) as journal:
        profile = profile_of(READ, COMMIT, FINISH)
        run, _ = run_of(profile, tools, *turns, control=control, journal=journal)
        heard: list[EventBase] = [event async for event in run.stream(TASK)]
    started = [one.tool_call_name for one in heard if isinstance(one, ToolCallStartEvent)]
    assert started == [READ, COMMIT, FINISH]
    assert sum(isinstance(one, ToolResultEndEvent) for one in heard) == 3
    assert [one.tool for one in RecordedRun.read(tmp_path).calls] == started
    assert chat == ["page"]


async def test_tt_02_and_12_the_chat_keeps_only_what_was_committed(tmp_path: Path) -> None:
    """Neither what the model says, nor calls and their results, add anything to it."""
    chat: list[str] = []
    control = Control()
    tools = [Stub(READ), Stub(COMMIT, chat.append), *workspace_tools(control)[3:]]
    turns: list[Turn] = [
        SAID,
        [call(READ), TextBlock(text="I read.")],
        [call(COMMIT, "page")],
        [call(FINISH)],
    ]
    run, _ = run_of(profile_of(READ, COMMIT, FINISH), tools, *turns, control=control)
    assert await run.run(TASK) is RunState.COMPLETED
    assert chat == ["page"]


async def test_tt_10_arguments_and_results_are_recorded_with_the_run(tmp_path: Path) -> None:
    """Of each call, also of one that is refused; and so are the answers of the model."""
    tools = [Stub(WRITE), Stub(READ, opinion=PermissionBehavior.DENY)]
    turns = (
        [call(WRITE, "one")],
        [call(WRITE, "two"), call(READ, call_id="denied")],
        [ToolCallBlock(id="bad", name="workspace_write_file", input="{")],
        SAID,
    )
    with Journal(tmp_path) as journal:
        run, _ = run_of(profile_of(WRITE, READ), tools, *turns, journal=journal)
        assert await run.run(TASK) is RunState.COMPLETED
    recorded = RecordedRun.read(tmp_path)
    told = [(one.tool, one.arguments, one.outcome.value) for one in recorded.calls]
    assert told == [
        (WRITE, {"text": "one"}, "done"),
        (WRITE, {"text": "two"}, "done"),
        (READ, {"text": ""}, "not_done"),
        (WRITE, "{", "not_done"),
    ]
    results = [one.result or {} for one in recorded.calls]
    assert [result["state"] for result in results] == ["success", "success", "denied", "error"]
    assert results[1]["text"] == "workspace.write_file did 'two'."
    assert len({one.n for one in recorded.calls}) == 4
    responses = [one.data["response"] for one in recorded.entries if one.type == "model_response"]
    assert len(responses) == 4
    assert responses[0]["calls"][0]["tool"] == WRITE
    assert responses[3]["text"] == "I am done."
    assert recorded.state == "completed"


async def test_a_call_is_recorded_before_it_has_an_effect(tmp_path: Path) -> None:
    """While it runs, the journal says that it began; before it was allowed, that it did not."""
    seen: list[CallOutcome] = []

    def look(text: str) -> str:
        seen.extend(one.outcome for one in RecordedRun.read(tmp_path).calls)
        return text

    with Journal(tmp_path) as journal:
        tools = [Stub(WRITE, look)]
        run, _ = run_of(profile_of(WRITE), tools, [call(WRITE)], SAID, journal=journal)
        await run.run(TASK)
    assert seen == [CallOutcome.UNKNOWN]
    assert [one.outcome for one in RecordedRun.read(tmp_path).calls] == [CallOutcome.DONE]


async def test_a_call_that_waits_is_not_done(tmp_path: Path) -> None:
    """It goes on under the number that it was requested with."""
    tools = [Stub(WRITE, opinion=PermissionBehavior.ASK)]
    with Journal(tmp_path) as journal:
        run, _ = run_of(profile_of(WRITE), tools, [call(WRITE)], journal=journal)
        assert await run.run(TASK) is RunState.WAITING
        assert [one.outcome for one in RecordedRun.read(tmp_path).calls] == [CallOutcome.NOT_DONE]
        await run.cancel()
    recorded = RecordedRun.read(tmp_path)
    assert recorded.state == "cancelled"
    assert [one.outcome for one in recorded.calls] == [CallOutcome.NOT_DONE]


@pytest.mark.parametrize("is_external", [False, True])
async def test_a_call_that_waits_goes_on_under_its_number_after_a_restart(
    is_external: bool, tmp_path: Path
) -> None:
    """Another process runs it, or takes its result: it is one call, and done."""

    def tools() -> list[Stub]:
        tool = Stub(WRITE, opinion=PermissionBehavior.ASK)
        if is_external:
            tool = Stub(WRITE)
            tool.is_external_tool = True
        return [tool]

    with Journal(tmp_path) as journal:
        run, _ = run_of(profile_of(WRITE), tools(), [call(WRITE)], journal=journal)
        assert await run.run(TASK) is RunState.WAITING
    state = AgentState.model_validate_json(run.agent.state.model_dump_json())
    (waiting,) = state.get_awaiting_tool_calls("writer")
    answer: UserConfirmResultEvent | ExternalExecutionResultEvent
    if is_external:
        done = ToolResultBlock(
            id=waiting.id, name=WRITE, output="done", state=ToolResultState.SUCCESS
        )
        answer = ExternalExecutionResultEvent(reply_id=state.reply_id, execution_results=[done])
    else:
        yes = ConfirmResult(confirmed=True, tool_call=waiting)
        answer = UserConfirmResultEvent(reply_id=state.reply_id, confirm_results=[yes])
    with Journal(tmp_path) as journal:
        again, _ = run_of(profile_of(WRITE), tools(), SAID, journal=journal, state=state)
        assert await again.run(answer) is RunState.COMPLETED
    recorded = RecordedRun.read(tmp_path)
    assert [(one.n, one.outcome, one.succeeded) for one in recorded.calls] == [
        (3, CallOutcome.DONE, True)
    ]


async def test_a_run_that_nobody_listens_to_is_cancelled(tmp_path: Path) -> None:
    """The journal says so."""
    with Journal(tmp_path) as journal:
        run, _ = run_of(profile_of(WRITE), [Stub(WRITE)], [call(WRITE)], SAID, journal=journal)
        async with aclosing(run.stream(TASK)) as events:
            async for event in events:
                if isinstance(event, ToolCallStartEvent):
                    break
        assert run.state is RunState.CANCELLED
    assert RecordedRun.read(tmp_path).state == "cancelled"


async def test_tt_11_a_large_result_is_cut_and_refers_to_the_whole() -> None:
    """The model gets a beginning and where the rest is; the chat gets nothing."""
    large = "\n".join(f"line {number}" for number in range(200_000))
    run, model = run_of(profile_of(READ), [Stub(READ, lambda _: large)], [call(READ)], SAID)
    assert await run.run(TASK) is RunState.COMPLETED
    told = str(model.seen[1][-1].content[-1])
    assert len(told) < len(large) / 10
    kept = [word.strip("'\"`.,)") for word in told.split() if "/" in word and "tmp" in word]
    assert any(map(_is_whole, kept))


def _is_whole(path: str) -> bool:
    return Path(path).is_file() and "line 199999" in Path(path).read_text()


_KILLED = """
import asyncio, sys, time
from pathlib import Path
from agentscope_like.journal import Journal
from tests.runs.kit import *

def work(text):
    Path(sys.argv[2]).write_text("done")
    print("ready", flush=True)
    time.sleep(60)

async def main():
    tools = [Stub(COMMIT, work)]
    turns = ([call(COMMIT, "page")],)
    run, _ = run_of(profile_of(COMMIT), tools, *turns, journal=Journal(sys.argv[1]))
    await run.run(TASK)

asyncio.run(main())
"""


def test_a_commit_during_which_the_process_is_killed_is_unknown(tmp_path: Path) -> None:
    """The effect may have happened: the journal does not claim that it did not."""
    arguments = [sys.executable, "-c", _KILLED, str(tmp_path / "run"), str(tmp_path / "effect")]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        process.send_signal(signal.SIGKILL)
    recorded = RecordedRun.read(tmp_path / "run")
    assert [one.outcome for one in recorded.commits] == [CallOutcome.UNKNOWN]
    assert recorded.commits[0].arguments == {"text": "page"}
    assert recorded.state is None
    assert (tmp_path / "effect").read_text() == "done"
    assert json.loads((tmp_path / "run" / "events.jsonl").read_text().splitlines()[0])["n"] == 1
