"""Connects the agent's middlewares to decisions and to the system prompt."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any

from agentscope_like.exception import ConfigurationError
from agentscope_like.message import ToolCallBlock
from agentscope_like.middleware import MiddlewareBase, hook_onion
from agentscope_like.permission import PermissionDecision
from agentscope_like.tool import CallRequest, DecisionLayer, ToolBase
from agentscope_like.tool.arguments import copied

__all__ = ["checked_middlewares", "decision_layers"]


def checked_middlewares(middlewares: Iterable[MiddlewareBase] | None) -> tuple[MiddlewareBase, ...]:
    """Return the middlewares.

    Raises:
        ConfigurationError: One is not an agent middleware.
    """
    checked = tuple(middlewares or ())
    for one in checked:
        if not isinstance(one, MiddlewareBase):
            hint = ""
            if hasattr(one, "on_tool_call"):
                hint = "; a layer around one tool is given to that tool: `Bash(middlewares=[...])`"
            raise ConfigurationError(
                f"{one!r} is not an agent middleware: subclass MiddlewareBase{hint}"
            )
    return checked


def decision_layers(middlewares: Sequence[MiddlewareBase], agent: Any) -> tuple[DecisionLayer, ...]:
    """Return the `on_check_permission` hooks as layers of a decision, the first outermost."""
    return tuple(
        _decision_layer(one, agent)
        for one in middlewares
        if one.is_implemented("on_check_permission")
    )


def _decision_layer(middleware: MiddlewareBase, agent: Any) -> DecisionLayer:
    async def layer(
        request: CallRequest, go_on: Callable[[CallRequest], Awaitable[PermissionDecision]]
    ) -> PermissionDecision:
        async def core(
            tool_call: ToolCallBlock, tool: ToolBase, tool_input: dict[str, Any]
        ) -> PermissionDecision:
            call = request.call
            same = (tool_call.id, tool_call.name, tool_call.input) == (
                call.id,
                call.name,
                call.input,
            )
            if not same or tool is not request.tool:
                raise ConfigurationError(
                    f"{type(middleware).__name__}.on_check_permission changes the call or its "
                    "tool: a decision is about the call as it is; change `tool_input` instead"
                )
            return await go_on(request.with_arguments(tool_input))

        decide = hook_onion([middleware], "on_check_permission", agent, core)
        decision: PermissionDecision = await decide(
            tool_call=request.call.model_copy(deep=True),
            tool=request.tool,
            tool_input=copied(request.arguments),
        )
        return decision

    layer.__qualname__ = f"{type(middleware).__qualname__}.on_check_permission"
    return layer
