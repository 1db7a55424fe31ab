"""Running a granted call: a stream of chunks, then one response, whatever the tool does."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import Any

from agentscope_like.exception import (
    AgentOrientedException,
    DeveloperOrientedException,
    ToolInterruptedError,
)
from agentscope_like.message import TextBlock, ToolChunk, ToolResponse, ToolResultState
from agentscope_like.state import AgentState
from agentscope_like.tool.grant import Grant

__all__ = ["run_granted"]

_log = logging.getLogger(__name__)

NOTHING = "The tool ended without any output."


async def run_granted(
    grant: Grant, state: AgentState, check_arguments: Callable[[dict[str, Any]], Awaitable[None]]
) -> AsyncGenerator[ToolChunk | ToolResponse, None]:
    """Run the tool and yield its chunks, then the whole as one response.

    Args:
        grant: Redeemed by the toolkit.
        state: The agent's state, handed to tools that want it.
        check_arguments: Awaited with the arguments that reach the tool behind its middlewares;
            raises to stop the call.

    Raises:
        asyncio.CancelledError: The run was cancelled; the tool has been closed.
        DeveloperOrientedException: The tool raised one.
    """
    response = ToolResponse()
    stream = _open(grant, state, check_arguments)
    try:
        async for chunk in stream:
            _refuse_after_cancellation()
            if not isinstance(chunk, ToolChunk):
                raise TypeError(f"it yielded a {type(chunk).__name__} instead of a ToolChunk")
            response.append_chunk(chunk)
            yield chunk
        _refuse_after_cancellation()
    except DeveloperOrientedException:
        raise
    except Exception as error:
        failure = _failure(grant.tool.name, error)
        response.append_chunk(failure)
        yield failure
    finally:
        await _close(grant.tool.name, stream)
    if not response.content:
        response.content.append(TextBlock(text=NOTHING))
    yield response


def _open(
    grant: Grant, state: AgentState, check_arguments: Callable[[dict[str, Any]], Awaitable[None]]
) -> AsyncGenerator[ToolChunk, None]:
    kwargs = _copied(grant.arguments)
    if not grant.tool.is_state_injected:
        return grant.tool.stream(kwargs, guard=check_arguments)

    async def check_without_state(reached: dict[str, Any]) -> None:
        given = {key: value for key, value in reached.items() if key != "_agent_state"}
        await check_arguments(given)

    return grant.tool.stream({**kwargs, "_agent_state": state}, guard=check_without_state)


def _copied(value: Any) -> Any:
    """Return a copy of what came from JSON, sharing no list and no dictionary with it."""
    if isinstance(value, dict):
        return {key: _copied(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_copied(item) for item in value]
    return value


def _refuse_after_cancellation() -> None:
    """Stop a tool that swallowed its cancellation and went on."""
    task = asyncio.current_task()
    if task is not None and task.cancelling():
        raise asyncio.CancelledError


def _failure(tool_name: str, error: Exception) -> ToolChunk:
    if isinstance(error, ToolInterruptedError):
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
    except Exception:
        # "async generator ignored GeneratorExit" and the like: the result stands without it.
        _log.warning("tool %s did not close cleanly", tool_name, exc_info=True)
