"""Checks that a grant is still valid when its call runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from agentscope_like.exception import GrantError, ToolArgumentError
from agentscope_like.message import ToolCallBlock
from agentscope_like.permission import PermissionBehavior, PreparedCall
from agentscope_like.state import AgentState
from agentscope_like.tool.arguments import copied, same_json
from agentscope_like.tool.call.decided_call import CallRequest, DecisionLayer
from agentscope_like.tool.call.decision import decided_within
from agentscope_like.tool.call.grant import Grant, call_digest
from agentscope_like.tool.call.registered_tool import RegisteredTool
from agentscope_like.tool.group import BASIC

__all__ = ["check_changed", "check_holds", "digest_of"]


def digest_of(
    entry: RegisteredTool, arguments: dict[str, Any], prepared: PreparedCall | None
) -> str:
    """Return the digest of a call of the tool with these arguments.

    Args:
        entry: The tool.
        arguments: The arguments.
        prepared: The call as prepared for the decision; None if it could not be prepared.
    """
    if prepared is None:
        return _digest(entry, arguments, entry.tool.decision_basis(copied(arguments)), ())
    return _digest(entry, arguments, prepared.basis(), prepared.places())


def _digest(
    entry: RegisteredTool, arguments: dict[str, Any], basis: str | None, places: tuple[str, ...]
) -> str:
    is_external = entry.tool.is_external_tool
    return call_digest(entry.definition, arguments, basis, is_external=is_external, places=places)


async def check_holds(
    grant: Grant, *, state: AgentState, find: Callable[[str], RegisteredTool | None]
) -> str | None:
    """Refuse a grant if its tool, policy, arguments or basis have changed.

    Args:
        grant: The grant.
        state: The state of the agent that calls.
        find: Returns the current tool with a name.

    Returns:
        The decision's basis.

    Raises:
        GrantError: The tool, its group, the policy, the arguments or the decision's basis has
            changed.
    """
    if grant.tool.is_external_tool:
        raise GrantError(f"the tool {grant.tool.name!r} has become external: decide again")
    entry = find(grant.tool.name)
    if entry is None or entry.tool is not grant.tool:
        raise GrantError(
            f"the tool {grant.tool.name!r} was removed or replaced since, or renamed: decide again"
        )
    if entry.group not in (BASIC, *state.tool_context.activated_groups):
        raise GrantError(
            f"the group {entry.group!r} of the tool {grant.tool.name!r} was switched off since: "
            "activate it, and decide the call again"
        )
    if grant.policy_key != state.permission_context.policy_key:
        raise GrantError("the permission context has changed since: decide the call again")
    if grant.apply is not None:  # it has run; where it ran is checked as its changes are applied
        return None
    prepare = grant.tool.prepare_decision
    if prepare is not None:
        await prepare(copied(grant.arguments), state.permission_context, state)
    prepared = grant.prepared
    places = () if prepared is None else prepared.places(now=True)
    own = grant.tool.decision_basis
    basis = own(copied(grant.arguments)) if prepared is None else prepared.basis(now=True)
    if grant.digest != _digest(entry, grant.arguments, basis, places):
        raise GrantError(
            f"what the decision about {grant.tool.name} rested on (its definition, arguments, or "
            "where paths lead) has changed since: decide the call again"
        )
    return basis


async def check_changed(
    grant: Grant,
    arguments: dict[str, Any],
    state: AgentState,
    *,
    find: Callable[[str], RegisteredTool],
    layers: Sequence[DecisionLayer],
) -> tuple[str | None, PreparedCall | None]:
    """Refuse arguments that a middleware changed, unless they would have been allowed.

    Args:
        grant: The grant.
        arguments: The changed arguments.
        state: The state of the agent that calls.
        find: Returns the current tool with a name.
        layers: The layers of the decision.

    Returns:
        The basis of the new decision, and the prepared call.

    Raises:
        ToolArgumentError: They are invalid, or would not have been allowed.
    """
    tool = grant.tool
    validate = find(tool.name).validator.check
    validate(arguments)
    changed = ToolCallBlock(id=grant.call_id, name=tool.name, input="")
    request = CallRequest(changed, tool, arguments, state)
    final, (decision, prepared) = await decided_within(layers, request, validate)
    is_held = grant.held_call is not None and decision.can_be_held
    is_allowed = is_held or decision.behavior is PermissionBehavior.ALLOW
    if not (same_json(final, arguments) and is_allowed):
        raise ToolArgumentError(
            f"A middleware of {tool.name} changed the arguments to ones that may not run: "
            f"{decision.message}"
        )
    basis = tool.decision_basis(copied(arguments)) if prepared is None else prepared.basis()
    return basis, prepared
