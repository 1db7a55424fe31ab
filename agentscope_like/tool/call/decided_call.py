"""Defines a call with its decision, and the interface of decision layers."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Literal, TypeAlias

from msgspec import Struct, field
from msgspec.structs import replace

from agentscope_like.message import (
    DataBlock,
    TextBlock,
    ToolCallBlock,
    ToolResponse,
    ToolResultState,
)
from agentscope_like.permission import PermissionBehavior, PermissionDecision, PreparedCall
from agentscope_like.state import AgentState
from agentscope_like.tool.base import ToolBase
from agentscope_like.tool.call.grant import Grant

__all__ = ["CallRequest", "DecidedCall", "DecisionLayer", "refused", "stricter"]


class CallRequest(Struct, frozen=True):
    """A validated call that is being decided.

    Attributes:
        call: The model's call.
        tool: The tool.
        arguments: The parsed arguments; changed ones are validated again.
        state: The agent's state.
    """

    call: ToolCallBlock
    tool: ToolBase
    arguments: dict[str, Any]
    state: AgentState

    def with_arguments(self, arguments: dict[str, Any]) -> CallRequest:
        """Return this request with other arguments."""
        return replace(self, arguments=arguments)


DecisionLayer: TypeAlias = Callable[
    [CallRequest, Callable[[CallRequest], Awaitable[PermissionDecision]]],
    Awaitable[PermissionDecision],
]
"""`async (request, next) -> decision`: may change the arguments and make the decision stricter."""


class DecidedCall(Struct, frozen=True):
    """One call with its decision.

    It has either a `grant` (it may run, or run held) or a `refusal` (its final result), or neither
    if it waits; `call.state` then says for whom.

    Attributes:
        call: The call; its state, decision and digest are up to date.
        tool: The tool, or None if the name is unknown.
        decision: The decision, or None if the call could not be parsed.
        arguments: The decided arguments.
        grant: The right to run it.
        refusal: The result that tells the model why it did not run.
        note: A note to the model before the result.
        policy_key: The key of the policy before the decision began.
        prepared: The call as prepared for the decision; None if it could not be prepared.
    """

    call: ToolCallBlock
    tool: ToolBase | None = None
    decision: PermissionDecision | None = None
    arguments: dict[str, Any] = field(default_factory=dict)
    grant: Grant | None = None
    refusal: ToolResponse | None = None
    note: str | None = None
    policy_key: tuple[Any, ...] = ()
    prepared: PreparedCall | None = None

    @property
    def behavior(self) -> PermissionBehavior:
        """Return what was decided; a call that could not be read is denied."""
        return PermissionBehavior.DENY if self.decision is None else self.decision.behavior

    @property
    def message(self) -> str:
        """Return the reason for the decision, or what is wrong with a call that is refused."""
        if self.decision is not None:
            return self.decision.message
        blocks = () if self.refusal is None else self.refusal.content
        return "\n".join(block.text for block in blocks if isinstance(block, TextBlock))


def refused(
    call_id: str,
    message: str,
    state: Literal[ToolResultState.ERROR, ToolResultState.DENIED],
    metadata: Mapping[str, Any] | None = None,
) -> ToolResponse:
    """Return the result of a call that did not run, with the reason."""
    content: list[TextBlock | DataBlock] = [TextBlock(text=message)]
    return ToolResponse(content=content, state=state, id=call_id, metadata=dict(metadata or {}))


def _severity(decision: PermissionDecision) -> float:
    if decision.can_be_held:
        return 0.5  # a layer that asks, or denies, keeps it from running held
    if decision.behavior is PermissionBehavior.DENY:
        return 3
    if decision.behavior is PermissionBehavior.ASK:
        return 2 if decision.bypass_immune else 1
    return 0


def stricter(first: PermissionDecision, second: PermissionDecision) -> PermissionDecision:
    """Return the stricter of two decisions, the first if they are equal."""
    return second if _severity(second) > _severity(first) else first
