"""Decides one validated call with the permission engine and the decision layers."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Any

from agentscope_like.exception import AgentOrientedException, DeveloperOrientedException
from agentscope_like.middleware import wrap_call
from agentscope_like.permission import (
    CallDecision,
    PermissionBehavior,
    PermissionDecision,
    PermissionEngine,
    PermissionMode,
)
from agentscope_like.state import AgentState
from agentscope_like.tool.arguments import copied
from agentscope_like.tool.call.decided_call import (
    CallRequest,
    DecidedCall,
    DecisionLayer,
    stricter,
)

__all__ = ["decided_within", "failure_before_asking"]

_log = logging.getLogger(__name__)


async def decided_within(
    layers: Sequence[DecisionLayer],
    request: CallRequest,
    validate: Callable[[dict[str, Any]], None],
) -> tuple[dict[str, Any], CallDecision]:
    """Return the decided arguments, and the decision with the prepared call.

    Layers and checks get copies of the arguments, so that they cannot change them after the
    decision. A layer that fails is a safety ASK.

    Args:
        layers: The layers, the first outermost.
        request: The call, its arguments validated.
        validate: Raises an exception if arguments from a layer are invalid.

    Raises:
        AgentOrientedException: From a layer, or because its arguments are invalid.
        DeveloperOrientedException: From a layer.
    """
    if not layers:
        return request.arguments, await _engine_says(request, request.arguments)
    arguments = copied(request.arguments)
    reached: list[tuple[dict[str, Any], CallDecision]] = []

    async def core(inner: CallRequest) -> PermissionDecision:
        passed = copied(inner.arguments)
        if passed != arguments:
            validate(passed)
        said = await _engine_says(request, passed)
        reached.append((passed, said))
        return said.decision

    try:
        layered: object = await wrap_call([_tightening(one) for one in layers], core)(request)
    except (AgentOrientedException, DeveloperOrientedException):
        raise
    except Exception as error:
        _log.warning("A decision layer failed at %s", request.tool.name, exc_info=error)
        layered = _safety_ask(request, f"A decision layer failed: {type(error).__name__}: {error}")
    if not isinstance(layered, PermissionDecision):
        layered = _safety_ask(
            request, f"A decision layer returned {layered!r}, which is not a decision."
        )
    if not reached:
        await core(request.with_arguments(arguments))
    final, said = reached[-1]
    decision = stricter(said.decision, _as_the_mode_has_it(request, layered))
    changed = copied(final) if final != arguments else None
    if decision.updated_input != changed:
        decision = replace(decision, updated_input=changed)
    return final, CallDecision(decision, said.call)


async def failure_before_asking(decided: DecidedCall, state: AgentState) -> str | None:
    """Return why a call that asks can only fail, or None where a person is to be asked.

    A check that fails itself says nothing: the person is asked.
    """
    tool, decision = decided.tool, decided.decision
    if tool is None or decision is None or decision.behavior is not PermissionBehavior.ASK:
        return None
    try:
        return await tool.certain_failure(copied(decided.arguments), state)
    except Exception as error:
        _log.warning("Checking a call of %s before asking failed", tool.name, exc_info=error)
        return None


def _tightening(layer: DecisionLayer) -> DecisionLayer:
    """Wrap the layer so that it cannot loosen the decision of the layers inside it."""

    async def tightened(
        request: CallRequest, go_on: Callable[[CallRequest], Awaitable[PermissionDecision]]
    ) -> PermissionDecision:
        heard: list[PermissionDecision] = []

        async def hear(inner: CallRequest) -> PermissionDecision:
            heard.append(await go_on(inner))
            return heard[-1]

        said = await layer(request, hear)
        if heard and isinstance(said, PermissionDecision):
            return stricter(heard[-1], said)
        return said

    return tightened


async def _engine_says(request: CallRequest, arguments: dict[str, Any]) -> CallDecision:
    shown = copied(arguments)
    engine = PermissionEngine(request.state.permission_context)
    said = await engine.decide(request.tool, shown)
    if shown == arguments:
        return said
    found = f"A check of {request.tool.name} changed the arguments that it was shown."
    return CallDecision(stricter(said.decision, _safety_ask(request, found)), None)


def _safety_ask(request: CallRequest, message: str) -> PermissionDecision:
    ask = PermissionDecision(PermissionBehavior.ASK, message, bypass_immune=True)
    return _as_the_mode_has_it(request, ask)


def _as_the_mode_has_it(request: CallRequest, decision: PermissionDecision) -> PermissionDecision:
    """Return the decision; an ASK becomes DENY in the mode without a person."""
    mode = PermissionMode(request.state.permission_context.mode)
    asks = decision.behavior is PermissionBehavior.ASK
    if not asks or mode.properties.otherwise != "deny":
        return decision
    message = f"{decision.message} Nobody can be asked in dont_ask mode, so it is denied."
    return replace(decision, behavior=PermissionBehavior.DENY, message=message)
