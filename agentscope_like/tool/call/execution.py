"""Runs a granted call: yields its chunks, then one response, even if the tool raises."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from typing import Any

from agentscope_like.exception import (
    AgentOrientedException,
    DeveloperOrientedException,
    GrantError,
    ToolInterruptedError,
)
from agentscope_like.message import DataBlock, TextBlock, ToolChunk, ToolResponse, ToolResultState
from agentscope_like.middleware.truncate import LimitedOutput
from agentscope_like.permission import PreparedCall
from agentscope_like.progress import reported
from agentscope_like.state import AgentState
from agentscope_like.tool.arguments import copied
from agentscope_like.tool.call.grant import Grant

__all__ = ["run_granted", "says_something"]

_log = logging.getLogger(__name__)

NOTHING = "The tool ended without any output."


async def run_granted(
    grant: Grant,
    state: AgentState,
    *,
    redeem: Callable[[], Awaitable[str | None]],
    check_changed: Callable[[dict[str, Any]], Awaitable[tuple[str | None, PreparedCall | None]]],
    output: LimitedOutput | None = None,
) -> AsyncGenerator[ToolChunk | ToolResponse, None]:
    """Run the tool and yield its chunks, then one complete response.

    Args:
        grant: The grant, already used up by the toolkit.
        state: The agent's state, passed to tools that need it.
        redeem: Awaited as the run begins; returns the decision's basis, and raises an exception if
            the grant is no longer valid.
        check_changed: Awaited if middlewares changed the arguments; returns the basis of a new
            decision and the prepared call, and raises an exception to stop the call.
        output: Truncates the output to a number of tokens.

    Raises:
        GrantError: The grant is not valid.
        asyncio.CancelledError: The run was cancelled; the tool has been closed.
        DeveloperOrientedException: Raised by the tool.
    """
    basis = await redeem()
    response = ToolResponse()
    stream: AsyncGenerator[ToolChunk, None] | None = None
    failed: ToolChunk | None = None
    begun = _cancellations()
    guard = _Guard(grant, basis, check_changed) if grant.tool.middlewares else None
    try:
        stream = reported(_open(grant, state, basis, guard), grant.call_id)
        async for chunk in stream:
            _refuse_after_cancellation(begun)
            if not isinstance(chunk, ToolChunk):
                raise TypeError(f"it yielded a {type(chunk).__name__} instead of a ToolChunk")
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
        if guard is not None:
            guard.is_over = True
        if stream is not None:
            await _close(grant.tool.name, stream)
    rest = await output.rest() if output is not None and output.holds_back else None
    for chunk in filter(None, (rest, failed)):
        response.append_chunk(chunk)
        yield chunk
    if not says_something(response.content):
        response.content.append(TextBlock(text=NOTHING))
    yield response


def says_something(content: Sequence[TextBlock | DataBlock]) -> bool:
    """Return whether these blocks have any text or data."""
    return any(not isinstance(block, TextBlock) or block.text for block in content)


class _Guard:
    """Checks, after the middlewares, that the tool gets the decided arguments within its run."""

    __slots__ = ("_basis", "_check_changed", "_decided", "_prepared", "_tool", "is_over")

    def __init__(
        self,
        grant: Grant,
        basis: str | None,
        check_changed: Callable[
            [dict[str, Any]], Awaitable[tuple[str | None, PreparedCall | None]]
        ],
    ) -> None:
        self._tool = grant.tool
        self._basis = basis
        self._prepared = grant.prepared
        self._decided = copied(grant.arguments)
        self._check_changed = check_changed
        self.is_over = False

    async def check(self, reached: dict[str, Any]) -> None:
        if self.is_over:
            raise GrantError(
                f"the run of {self._tool.name} is over and its grant is spent: a middleware calls "
                "`next_handler` while the call runs, never later"
            )
        tool = self._tool
        injected = {
            *(("_agent_state",) if tool.is_state_injected else ()),
            *(("_permission_context",) if tool.is_policy_injected else ()),
            *(("_decision_basis",) if tool.is_basis_injected else ()),
            *(("_prepared_call",) if tool.is_call_injected else ()),
        }
        arguments = {key: value for key, value in reached.items() if key not in injected}
        basis, prepared = self._basis, self._prepared
        if arguments != self._decided:
            basis, prepared = await self._check_changed(arguments)
        if tool.is_basis_injected:
            reached["_decision_basis"] = basis
        if tool.is_call_injected:
            reached["_prepared_call"] = prepared


def _open(
    grant: Grant, state: AgentState, basis: str | None, guard: _Guard | None
) -> AsyncGenerator[ToolChunk, None]:
    given = copied(grant.arguments)
    if grant.tool.is_state_injected:
        given["_agent_state"] = state
    if grant.tool.is_policy_injected:
        given["_permission_context"] = state.permission_context
    if grant.tool.is_basis_injected:
        given["_decision_basis"] = basis
    if grant.tool.is_call_injected:
        given["_prepared_call"] = grant.prepared
    return grant.tool.stream(given, guard=guard.check if guard is not None else None)


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
    if isinstance(error, asyncio.CancelledError):
        state, text = ToolResultState.INTERRUPTED, f"{tool_name} cancelled itself: it did not end."
    elif isinstance(error, ToolInterruptedError):
        state, text = ToolResultState.INTERRUPTED, error.message
    elif isinstance(error, AgentOrientedException):
        state, text = ToolResultState.ERROR, error.message
    else:
        _log.warning("tool %s failed", tool_name, exc_info=error)
        state = ToolResultState.ERROR
        text = f"{tool_name} failed: {type(error).__name__}: {error}".rstrip(": ")
    return ToolChunk(content=[TextBlock(text=text)], state=state)


async def _close(tool_name: str, stream: AsyncGenerator[ToolChunk, None]) -> None:
    try:
        await stream.aclose()
    except (Exception, asyncio.CancelledError) as error:
        if _is_cancellation(error):
            raise
        # "async generator ignored GeneratorExit" and the like: the result stands without it.
        _log.warning("tool %s did not close cleanly", tool_name, exc_info=True)
