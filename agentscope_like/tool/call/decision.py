"""Decides one validated call with the permission engine and the decision layers."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Any

from agentscope_like.exception import (
    AgentOrientedException,
    ConfigurationError,
    DeveloperOrientedException,
)
from agentscope_like.middleware import wrap_call
from agentscope_like.permission import (
    CallDecision,
    PermissionBehavior,
    PermissionDecision,
    PermissionEngine,
    PermissionMode,
)
from agentscope_like.state import AgentState
from agentscope_like.tool.arguments import copied, same_json
from agentscope_like.tool.call.decided_call import (
    CallRequest,
    DecidedCall,
    DecisionLayer,
    stricter,
)
from agentscope_like.tool.risk_label import is_high

__all__ = ["decided_within", "failure_before_asking", "within_label"]

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
        DeveloperOrientedException: From a layer, or because it called `next` twice.
    """
    if not layers:
        return request.arguments, await _engine_says(request, request.arguments)
    arguments = copied(request.arguments)
    reached: list[tuple[dict[str, Any], CallDecision]] = []

    async def core(inner: CallRequest) -> PermissionDecision:
        passed = copied(inner.arguments)
        if not same_json(passed, arguments):
            validate(passed)
        said = await _engine_says(request, passed)
        reached.append((passed, said))
        return said.decision

    layered = await wrap_call([_tightening(one) for one in layers], core)(request)
    if not reached:
        await core(request.with_arguments(arguments))
    final, said = reached[-1]
    decision = stricter(said.decision, _as_the_mode_has_it(request, layered))
    changed = None if same_json(final, arguments) else copied(final)
    if decision.updated_input != changed:
        decision = replace(decision, updated_input=changed)
    return final, CallDecision(decision, said.call)


def within_label(request: CallRequest, said: CallDecision, label: Any) -> CallDecision:
    """Return the decision, an ASK at least if the model labels the call as of high risk.

    The person is shown the arguments without the label, which are what runs.

    Args:
        request: The call, with its arguments without the label.
        said: What was decided without it.
        label: The label.
    """
    decision = said.decision
    if is_high(label):
        message = f"The model itself says that this call is of high risk. {decision.message}"
        ask = PermissionDecision(PermissionBehavior.ASK, message, decision_reason="a high risk")
        decision = stricter(decision, _as_the_mode_has_it(request, ask))
    if decision.updated_input is None:
        decision = replace(decision, updated_input=copied(request.arguments))
    return CallDecision(decision, said.call)


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
    """Wrap the layer so that it cannot skip or loosen the decision of the layers inside it."""

    async def tightened(
        request: CallRequest, go_on: Callable[[CallRequest], Awaitable[PermissionDecision]]
    ) -> PermissionDecision:
        way = _Way(layer, request, go_on)
        try:
            said = await _said_by(layer, request, way)
        finally:
            way.is_over = True
        if said.behavior is PermissionBehavior.DENY:
            return said
        return stricter(await way.inner_decision(), said)

    return tightened


async def _said_by(layer: DecisionLayer, request: CallRequest, way: _Way) -> PermissionDecision:
    """Return what the layer says; a safety ASK where it fails or says nothing."""
    try:
        said: object = await layer(request.with_arguments(copied(request.arguments)), way.next)
    except (AgentOrientedException, DeveloperOrientedException):
        raise
    except Exception as error:
        if error is way.error:  # of a layer inside, not of this one
            raise
        _log.warning("A decision layer failed at %s", request.tool.name, exc_info=error)
        return _safety_ask(request, f"A decision layer failed: {type(error).__name__}: {error}")
    if not isinstance(said, PermissionDecision):
        return _safety_ask(request, f"A decision layer returned {said!r}, which is not a decision.")
    return said


class _Way:
    """The way from one layer to those inside it and the decision: it is taken once."""

    def __init__(
        self,
        layer: DecisionLayer,
        request: CallRequest,
        go_on: Callable[[CallRequest], Awaitable[PermissionDecision]],
    ) -> None:
        self._layer = layer
        self._request = request
        self._go_on = go_on
        self._is_taken = False
        self._heard: PermissionDecision | None = None
        self.is_over = False
        self.error: Exception | None = None

    def next(self, inner: CallRequest) -> Awaitable[PermissionDecision]:
        """Go on with the arguments of `inner`; what else it says of the call does not count.

        Raises:
            ConfigurationError: The layer went on before, or has returned.
        """
        if self.is_over:
            raise self._misused("after it had returned")
        if self._is_taken:
            self.error = self.error or self._misused("a second time")
            raise self.error
        self._is_taken = True
        return self._hear(self._request.with_arguments(copied(inner.arguments)))

    async def _hear(self, inner: CallRequest) -> PermissionDecision:
        try:
            self._heard = await self._go_on(inner)
        except Exception as error:
            self.error = self.error or error
            raise
        return self._heard

    async def inner_decision(self) -> PermissionDecision:
        """Return what those inside said, who are asked now if the layer did not ask them.

        Raises:
            ConfigurationError: The layer called `next` twice, or did not wait for it.
            Exception: What those inside failed with.
        """
        if self.error is not None:
            raise self.error
        if self._heard is not None:
            return self._heard
        if self._is_taken:
            raise self._misused("and did not await it")
        return await self._go_on(self._request)

    def _misused(self, how: str) -> ConfigurationError:
        named = getattr(self._layer, "__qualname__", repr(self._layer))
        return ConfigurationError(
            f"the decision layer {named} called `next` {how}: a decision is made once, on one way. "
            "Call `next` once, await it, and return what it gave or something stricter"
        )


async def _engine_says(request: CallRequest, arguments: dict[str, Any]) -> CallDecision:
    shown = copied(arguments)
    engine = PermissionEngine(request.state.permission_context, request.state)
    said = await engine.decide(request.tool, shown)
    if same_json(shown, arguments):
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
