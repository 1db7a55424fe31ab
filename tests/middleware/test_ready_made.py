"""Logging, retrying and stopping tools."""

from __future__ import annotations

import asyncio
import contextvars
import logging
import time
from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress
from pathlib import Path
from typing import Any

import pytest

from agentscope_like.exception import ConfigurationError, ToolArgumentError
from agentscope_like.message import TextBlock, ToolChunk, ToolResultState
from agentscope_like.middleware import LoggingMiddleware, RetryMiddleware, TimeoutMiddleware
from agentscope_like.tool import Bash, FunctionTool
from tests.middleware.kit import Scripted, heard, result_of, text_of
from tests.sandbox.kit import is_running

VARIABLE: contextvars.ContextVar[str] = contextvars.ContextVar("VARIABLE", default="unset")


# Logging


def _clock() -> Any:
    times = iter([10.0, 12.5])
    return lambda: next(times)


@pytest.mark.parametrize(
    ("script", "line", "level"),
    [
        (["x"], "Scripted ended: success, after 2.500 s", logging.INFO),
        (
            [ToolChunk(content=[], state=ToolResultState.ERROR)],
            "Scripted ended: error, after 2.500 s",
            logging.INFO,
        ),
        ([ValueError("boom")], "failed: ValueError: boom, after 2.500 s", logging.WARNING),
    ],
)
async def test_start_and_end_of_a_run_are_logged(
    script: list[Any], line: str, level: int, caplog: pytest.LogCaptureFixture
) -> None:
    """How a run ended and how long it took; arguments by name only, the state never."""
    caplog.set_level(logging.INFO)
    tool = Scripted(script, middlewares=[LoggingMiddleware(clock=_clock())])
    with suppress(ValueError):
        await heard(tool, password="secret", b=1, _agent_state="state")
    first, last = caplog.records
    assert first.getMessage() == "Scripted starts (password, b)"
    assert line in last.getMessage()
    assert last.levelno == level
    assert "secret" not in caplog.text


async def test_an_early_close_and_a_cancellation_are_told_apart(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """What ends a run from outside is no failure."""
    caplog.set_level(logging.INFO)
    tool = Scripted(["x", 60], middlewares=[LoggingMiddleware()])
    async with aclosing(tool()) as stream:
        await anext(stream)
    task = asyncio.create_task(heard(tool))
    await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    ends = [record.getMessage().split(",")[0] for record in caplog.records[1::2]]
    assert ends == ["Scripted was closed early", "Scripted was cancelled"]


async def test_values_and_another_logger_can_be_chosen(caplog: pytest.LogCaptureFixture) -> None:
    """A program that knows its arguments to be harmless may see them."""
    caplog.set_level(logging.DEBUG, "mine")
    middleware = LoggingMiddleware(logging.getLogger("mine"), logging.DEBUG, shows_values=True)
    await heard(Scripted(["x"], middlewares=[middleware]), a="v")
    assert caplog.records[0].getMessage() == "Scripted starts (a='v')"
    assert {record.name for record in caplog.records} == {"mine"}


# Retrying


class Sleeps(list[float]):
    """Remembers what it was asked to sleep, and does not."""

    async def __call__(self, seconds: float) -> None:
        self.append(seconds)


@pytest.mark.parametrize("trait", ["is_idempotent", "is_read_only"])
async def test_a_harmless_tool_is_run_again(trait: str) -> None:
    """Each failed run is closed before the next; waits grow by the backoff."""
    sleeps = Sleeps()
    retry = RetryMiddleware(4, delay=1, backoff=3, sleep=sleeps)
    tool = Scripted(
        [OSError()], [OSError()], [OSError()], ["done"], middlewares=[retry], **{trait: True}
    )
    assert text_of(await result_of(tool)) == "done"
    assert (tool.runs, tool.closed, sleeps) == (4, 4, [1, 3, 9])


@pytest.mark.parametrize(
    ("script", "options", "runs"),
    [
        ([OSError()], {}, 3),
        ([OSError()], {"max_attempts": 1}, 1),
        ([OSError()], {"retry_on": (ValueError,)}, 1),
        ([ToolArgumentError("told to the model")], {}, 1),
        ([ConfigurationError("told to the developer")], {}, 1),
        ([asyncio.CancelledError()], {}, 1),
        (["passed on", OSError()], {}, 1),
        (["held back", OSError()], {"buffered": True}, 3),
    ],
)
async def test_only_what_can_be_repeated_is(
    script: list[Any], options: dict[str, Any], runs: int
) -> None:
    """Not after a chunk was passed on, not what the model or developer mends, not a cancel."""
    tool = Scripted(
        script, middlewares=[RetryMiddleware(**options, sleep=Sleeps())], is_idempotent=True
    )
    error = next(step for step in script if isinstance(step, BaseException))
    with pytest.raises(type(error)):
        await heard(tool)
    assert (tool.runs, tool.closed) == (runs, runs)


@pytest.mark.parametrize(("forced", "runs"), [(False, 1), (True, 3)])
async def test_a_tool_that_may_do_harm_runs_once_unless_it_is_said(forced: bool, runs: int) -> None:
    """Neither idempotent nor read-only: the developer has to say that it may be repeated."""
    retry = RetryMiddleware(even_if_not_idempotent=forced, sleep=Sleeps())
    tool = Scripted([OSError()], middlewares=[retry])
    with pytest.raises(OSError):  # noqa: PT011
        await heard(tool)
    assert tool.runs == runs


async def test_buffered_chunks_come_once() -> None:
    """What a failed attempt yielded is thrown away."""
    retry = RetryMiddleware(buffered=True, sleep=Sleeps())
    tool = Scripted(["a", OSError()], ["b", "c"], middlewares=[retry], is_idempotent=True)
    assert text_of(await result_of(tool)) == "bc"


@pytest.mark.parametrize(
    "options",
    [
        {"max_attempts": 0},
        {"delay": -1},
        {"backoff": 0.5},
        {"retry_on": (asyncio.CancelledError,)},
        {"retry_on": (BaseException,)},
    ],
)
def test_a_retry_that_cannot_work_is_refused(options: dict[str, Any]) -> None:
    """Numbers out of range, and exceptions that are no failures."""
    with pytest.raises(ConfigurationError):
        RetryMiddleware(**options)


# Timeouts


async def test_a_tool_in_time_is_left_alone() -> None:
    """A run that ends within its limit yields what it yields."""
    tool = Scripted(["a", 0.01, "b"], middlewares=[TimeoutMiddleware(30)])
    response = await result_of(tool)
    assert (text_of(response), response.state) == ("ab", ToolResultState.SUCCESS)


async def test_a_tool_out_of_time_is_stopped_and_closed() -> None:
    """What came in time stays; the end says what happened; the tool has cleaned up."""
    tool = Scripted(["a", 60, "b"], middlewares=[TimeoutMiddleware(0.05)])
    response = await result_of(tool)
    assert text_of(response).startswith("a\nScripted was stopped")
    assert "0.05 s" in text_of(response)
    assert response.state is ToolResultState.ERROR
    assert tool.closed == 1


async def test_a_command_out_of_time_leaves_no_process(tmp_path: Path) -> None:
    """Bash's own cleanup ends what the command started, in the background too."""
    await result_of(Bash(cwd=tmp_path), command="true")  # the first one looks for bubblewrap
    tool = Bash(cwd=tmp_path, middlewares=[TimeoutMiddleware(1.5)])
    ended = await result_of(tool, command="sleep 64.501 & sleep 64.502 & echo begun; wait")
    assert ended.state is ToolResultState.ERROR
    assert text_of(ended).startswith("begun")
    assert not await asyncio.to_thread(is_running, "sleep 64.50")


async def test_a_tool_that_never_waits_is_stopped_as_well() -> None:
    """An endless stream without any waiting ends at the limit."""

    async def endless() -> AsyncGenerator[str, None]:
        while True:
            yield ""

    tool = FunctionTool(endless, middlewares=[TimeoutMiddleware(0.05)])
    assert (await heard(tool))[-1].state is ToolResultState.ERROR


async def test_a_blocked_function_is_no_longer_waited_for() -> None:
    """A thread cannot be stopped, but the call ends."""
    tool = FunctionTool(lambda: time.sleep(1), name="f", middlewares=[TimeoutMiddleware(0.05)])
    begun = time.monotonic()
    assert (await result_of(tool)).state is ToolResultState.ERROR
    assert time.monotonic() - begun < 1


async def test_a_tool_that_swallows_its_cancellation_is_out_of_time() -> None:
    """What it says after the limit is passed on, and the result is an error all the same."""

    async def stubborn() -> AsyncGenerator[str, None]:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            yield "late"
        yield "never"

    async def silent() -> AsyncGenerator[str, None]:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            return
        yield ""

    for func, text in ((stubborn, "late\n"), (silent, "")):
        response = await result_of(FunctionTool(func, middlewares=[TimeoutMiddleware(0.05)]))
        assert text_of(response).startswith(f"{text}{func.__name__} was stopped")
        assert response.state is ToolResultState.ERROR


async def test_a_tool_s_own_timeout_is_its_own() -> None:
    """A TimeoutError that the tool raises is not taken for the limit."""
    tool = Scripted([TimeoutError("mine")], middlewares=[TimeoutMiddleware(30)])
    with pytest.raises(TimeoutError, match="mine"):
        await heard(tool)


async def test_the_consumer_is_never_cancelled() -> None:
    """The limit may pass while the consumer is busy; only the tool's next step notices."""
    tool = Scripted(["a", "b"], middlewares=[TimeoutMiddleware(0.02)])
    states = []
    async with aclosing(tool()) as stream:
        async for chunk in stream:
            await asyncio.sleep(0.05)
            states.append(chunk.state)
    assert states == [ToolResultState.RUNNING, ToolResultState.ERROR]
    assert tool.closed == 1


async def test_a_cancellation_from_outside_is_passed_on() -> None:
    """It is not mistaken for the limit."""
    tool = Scripted([60], middlewares=[TimeoutMiddleware(30)])
    task = asyncio.create_task(heard(tool))
    await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert tool.closed == 1


async def test_steps_share_the_caller_s_context() -> None:
    """A context variable that one step sets is there in the next."""

    async def steps() -> AsyncGenerator[str, None]:
        VARIABLE.set("mine")
        yield "-"
        yield VARIABLE.get()

    response = await result_of(FunctionTool(steps, middlewares=[TimeoutMiddleware(30)]))
    assert response.content[0] == TextBlock(
        text="-mine", id=response.content[0].id, created_at=response.content[0].created_at
    )


@pytest.mark.parametrize("seconds", [0, -1, float("nan")])
def test_a_limit_of_nothing_is_refused(seconds: float) -> None:
    """A tool needs some time."""
    with pytest.raises(ConfigurationError):
        TimeoutMiddleware(seconds)
