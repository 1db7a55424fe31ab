"""Runs a granted call: yields its chunks, then one response, even if the tool raises."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing
from functools import partial
from typing import Any, TypeAlias

from msgspec.structs import replace

from agentscope_like.exception import (
    AgentOrientedException,
    DeveloperOrientedException,
    ToolInterruptedError,
)
from agentscope_like.message import DataBlock, TextBlock, ToolChunk, ToolResponse, ToolResultState
from agentscope_like.middleware.truncate import LimitedOutput
from agentscope_like.permission import PreparedCall
from agentscope_like.progress import reported
from agentscope_like.state import AgentState
from agentscope_like.tool.arguments import copied
from agentscope_like.tool.call.decided_call import refused
from agentscope_like.tool.call.grant import Grant
from agentscope_like.tool.call.run_guard import RunGuard, injected_arguments

__all__ = ["RunLayer", "run_granted", "says_something"]

Items: TypeAlias = AsyncGenerator[ToolChunk | ToolResponse, None]

RunLayer: TypeAlias = Callable[[Grant, AgentState, Items], Items]
"""`(grant, state, run) -> run`: around a call whose grant holds, and that has not begun.

It refuses the call by an `AgentOrientedException`, raised before it iterates `run`; it closes `run`
where it does not iterate it to its end.
"""

_log = logging.getLogger(__name__)

NOTHING = "The tool ended without any output."
LEFT_RUNNING = (
    "The tool was stopped: a middleware ended while it ran the tool in another task. A middleware "
    "iterates `next_handler` itself, or waits for the task that does, before it ends."
)


async def run_granted(
    grant: Grant,
    state: AgentState,
    *,
    redeem: Callable[[Grant], Awaitable[str | None]],
    check_changed: Callable[[dict[str, Any]], Awaitable[tuple[str | None, PreparedCall | None]]],
    output: LimitedOutput | None = None,
    layers: Sequence[RunLayer] = (),
) -> Items:
    """Run the tool and yield its chunks, then one complete response.

    Args:
        grant: The grant, already used up by the toolkit.
        state: The agent's state, passed to tools that need it.
        redeem: Awaited as the run begins, and again after the middlewares; returns the decision's
            basis, and raises an exception if the grant is no longer valid.
        check_changed: Awaited if middlewares changed the arguments; returns the basis of a new
            decision and the prepared call, and raises an exception to stop the call.
        output: Truncates the output to a number of tokens.
        layers: Layers around the run, the first outermost.

    Raises:
        GrantError: The grant is not valid.
        asyncio.CancelledError: The run was cancelled; the tool has been closed.
        DeveloperOrientedException: Raised by the tool, or by a layer.
    """
    grant = replace(grant, arguments=copied(grant.arguments))
    injected = injected_arguments(grant, state, await redeem(grant))
    guard = RunGuard(grant, injected, redeem=partial(redeem, grant), check_changed=check_changed)
    run = _run(grant, injected, guard, output)
    for layer in reversed(layers):
        run = layer(grant, state, run)
    try:
        async with aclosing(run) as items:
            async for item in items:
                yield item
    except AgentOrientedException as error:
        yield refused(grant.call_id, error.told, ToolResultState.ERROR, error.metadata)


async def _run(
    grant: Grant, injected: dict[str, Any], guard: RunGuard, output: LimitedOutput | None
) -> Items:
    response = ToolResponse(id=grant.call_id)
    stream: AsyncGenerator[ToolChunk, None] | None = None
    failed: ToolChunk | None = None
    begun = _cancellations()
    try:
        given = {**copied(grant.arguments), **injected}
        stream = reported(grant.tool.stream(given, guard=guard.around), grant.call_id)
        async for chunk in stream:
            _refuse_after_cancellation(begun)
            if not isinstance(chunk, ToolChunk):
                raise TypeError(f"it yielded a {type(chunk).__name__} instead of a ToolChunk")
            guard.has_output = True
            is_short = output is None or output.is_short(chunk)
            passed = chunk if is_short or output is None else await output.feed(chunk)
            if passed is not None:
                response.append_chunk(passed)
                yield passed
        _refuse_after_cancellation(begun)
    except DeveloperOrientedException:
        raise
    except (Exception, asyncio.CancelledError) as error:
        if _is_cancellation(error):
            raise
        failed = _failure(grant.tool.name, error)
    finally:
        if await guard.turn.end():
            failed = _failure(grant.tool.name, ToolInterruptedError(LEFT_RUNNING))
        if stream is not None:
            await _close(grant.tool.name, stream)
    rest = await output.rest() if output is not None and output.holds_back else None
    for chunk in filter(None, (rest, failed)):
        response.append_chunk(chunk)
        yield chunk
    if failed is None and grant.held_call is not None:
        response.question = grant.held_call.question
    if response.question is None and not says_something(response.content):
        response.content.append(TextBlock(text=NOTHING))
    yield response


def says_something(content: Sequence[TextBlock | DataBlock]) -> bool:
    """Return whether these blocks have any text or data."""
    return any(not isinstance(block, TextBlock) or block.text for block in content)


def _cancellations() -> tuple[asyncio.Task[Any] | None, int]:
    """Return the current task, and the number of its cancellation requests."""
    task = asyncio.current_task()
    return task, task.cancelling() if task is not None else 0


def _refuse_after_cancellation(begun: tuple[asyncio.Task[Any] | None, int]) -> None:
    """Stop a tool that ignored its cancellation.

    Cancellation requests from before the run do not count.
    """
    task, asked = _cancellations()
    if asked > (begun[1] if task is begun[0] else 0):
        raise asyncio.CancelledError


def _is_cancellation(error: BaseException) -> bool:
    """Return whether the run was cancelled; a tool may raise `CancelledError` on its own."""
    task, asked = _cancellations()
    return isinstance(error, asyncio.CancelledError) and (task is None or asked > 0)


def _failure(tool_name: str, error: BaseException) -> ToolChunk:
    metadata: dict[str, str] = {}
    if isinstance(error, asyncio.CancelledError):
        state, text = ToolResultState.INTERRUPTED, f"{tool_name} cancelled itself: it did not end."
    elif isinstance(error, ToolInterruptedError):
        state, text = ToolResultState.INTERRUPTED, error.message
    elif isinstance(error, AgentOrientedException):
        state, text, metadata = ToolResultState.ERROR, error.told, error.metadata
    else:
        _log.warning("tool %s failed", tool_name, exc_info=error)
        state = ToolResultState.ERROR
        text = f"{tool_name} failed: {type(error).__name__}: {error}".rstrip(": ")
    return ToolChunk(content=[TextBlock(text=text)], state=state, metadata=metadata)


async def _close(tool_name: str, stream: AsyncGenerator[ToolChunk, None]) -> None:
    try:
        await stream.aclose()
    except (Exception, asyncio.CancelledError) as error:
        if _is_cancellation(error):
            raise
        # "async generator ignored GeneratorExit" and the like: the result stands without it.
        _log.warning("tool %s did not close cleanly", tool_name, exc_info=True)
