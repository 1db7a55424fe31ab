"""Decides calls in tests, without running anything."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Coroutine, Mapping
from typing import Any, TypeVar

from agentscope_like.message import ToolCallBlock
from agentscope_like.permission import PermissionBehavior, PermissionContext
from agentscope_like.state import AgentState
from agentscope_like.tool import DecidedCall, ToolBase, Toolkit

__all__ = ["assert_decision", "decide", "run_now"]

_T = TypeVar("_T")


async def decide(
    tools: Toolkit | ToolBase,
    name: str,
    arguments: Mapping[str, Any],
    policy: PermissionContext | None = None,
) -> DecidedCall:
    """Return what would be decided about a call of a model; nothing is run.

    Args:
        tools: The toolkit, or the one tool.
        name: The name by which the model calls the tool.
        arguments: The arguments.
        policy: The mode, the rules and the working directories; the default ones by default.
    """
    toolkit = tools if isinstance(tools, Toolkit) else Toolkit([tools])
    state = AgentState(permission_context=policy if policy is not None else PermissionContext())
    call = ToolCallBlock(id="test", name=name, input=json.dumps(dict(arguments)))
    return await toolkit.decide(call, state)


def assert_decision(
    tools: Toolkit | ToolBase,
    name: str,
    arguments: Mapping[str, Any],
    expected: PermissionBehavior | str,
    *,
    policy: PermissionContext | None = None,
    because: str | None = None,
) -> DecidedCall:
    """Check what would be decided about a call, in a synchronous or an asynchronous test.

    Args:
        tools: The toolkit, or the one tool.
        name: The name by which the model calls the tool.
        arguments: The arguments.
        expected: `allow`, `deny` or `ask`.
        policy: As in `decide`.
        because: A text that the decision's message has to contain.

    Returns:
        What was decided, for further checks.

    Raises:
        AssertionError: It is decided otherwise; the message gives the reason that was found.
    """
    decided = run_now(decide(tools, name, arguments, policy))
    wanted = PermissionBehavior(expected)
    shown = f"{name}({json.dumps(dict(arguments), ensure_ascii=False)})"
    if decided.behavior is not wanted:
        raise AssertionError(
            f"{shown}: expected {wanted.value}, decided {decided.behavior.value}: {decided.message}"
        )
    if because is not None and because not in decided.message:
        raise AssertionError(f"{shown}: {because!r} is not in the reason: {decided.message}")
    return decided


def run_now(work: Coroutine[Any, Any, _T]) -> _T:
    """Return what the coroutine returns, from a loop of its own; in a thread inside another loop.

    A test may thus be synchronous or not. Code of a program awaits instead.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    results: list[_T] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            results.append(asyncio.run(work))
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=run, name="agentscope-like-test")
    thread.start()
    thread.join()
    if errors:
        raise errors[0]
    return results[0]
