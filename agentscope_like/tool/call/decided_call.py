"""A call with its decision, and the interface of the layers that a decision passes through."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Literal, TypeAlias

from msgspec import Struct, field
from msgspec.structs import replace

from agentscope_like.message import TextBlock, ToolCallBlock, ToolResponse, ToolResultState
from agentscope_like.permission import PermissionBehavior, PermissionDecision, PreparedCall
from agentscope_like.state import AgentState
from agentscope_like.tool.base import ToolBase
from agentscope_like.tool.call.grant import Grant

__all__ = ["CallRequest", "DecidedCall", "DecisionLayer", "refused", "stricter"]


class CallRequest(Struct, frozen=True):
    """A validated call on its way to the decision.

    Attributes:
        call: The call as the model made it.
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
"""`async (request, next) -> decision`: may change the arguments before, and tighten the answer."""


class DecidedCall(Struct, frozen=True):
    """What was decided about one call.

    Exactly one holds: there is a `grant` (it may run), a `refusal` (its result is settled), or
    neither: it waits, and `call.state` says for whom.

    Attributes:
        call: The call; its state, decision and digest are up to date.
        tool: The tool, or None where there is none of that name.
        decision: The decision, or None where the call could not be read.
        arguments: The arguments that were decided upon.
        grant: The right to run it.
        refusal: The result that tells the model why it did not run.
        note: What the model is told in front of the result.
        policy_key: The policy as it was before the decision began.
        prepared: The call as the decision read it; None where it could not be read.
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
    message: str, state: Literal[ToolResultState.ERROR, ToolResultState.DENIED]
) -> ToolResponse:
    """Return the result of a call that never ran: one text that says why."""
    return ToolResponse(content=[TextBlock(text=message)], state=state)


def _severity(decision: PermissionDecision) -> int:
    if decision.behavior is PermissionBehavior.DENY:
        return 3
    if decision.behavior is PermissionBehavior.ASK:
        return 2 if decision.bypass_immune else 1
    return 0


def stricter(first: PermissionDecision, second: PermissionDecision) -> PermissionDecision:
    """Return the stricter of two decisions, the first where they are alike."""
    return second if _severity(second) > _severity(first) else first
