"""The kit: the one way by which a model's call becomes a run.

`decide` reads, validates and decides a call without running anything; `run` takes only the `Grant`
that came of it; `call_tool` is both in one. `confirm` turns a person's answer into a grant.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import Any
from weakref import WeakSet

from agentscope_like.event.answer import ConfirmResult
from agentscope_like.exception import (
    AgentOrientedException,
    GrantError,
    ResumeError,
    ToolArgumentError,
)
from agentscope_like.message import (
    ToolCallBlock,
    ToolCallState,
    ToolChunk,
    ToolResponse,
    ToolResultState,
)
from agentscope_like.middleware.onion import wrap_call
from agentscope_like.permission import (
    PermissionBehavior,
    PermissionContext,
    PermissionDecision,
    PermissionEngine,
    PermissionRule,
    check_rules,
)
from agentscope_like.state import AgentState
from agentscope_like.tool.arguments import parse_arguments
from agentscope_like.tool.base import ToolBase
from agentscope_like.tool.decided import (
    CallRequest,
    DecidedCall,
    DecisionLayer,
    refused,
    stricter,
)
from agentscope_like.tool.grant import Grant, call_digest, same_arguments, same_subject
from agentscope_like.tool.registry import ToolRegistry
from agentscope_like.tool.running import run_granted

__all__ = ["Toolkit"]

EDITED = "(The user edited the arguments before approving this call.)\n"
REJECTED = "The user rejected this call. Do not repeat it; ask what they want instead."


class Toolkit:
    """Tools, and the guarded path of their calls (DESIGN.md, "The way of one call").

    Args:
        tools: The tools, in the order in which the model is told of them.
        decision_layers: Layers around each decision, the first outermost. A layer may change the
            arguments before the decision and may tighten the decision; it can never loosen it.

    Raises:
        ConfigurationError: Two tools have one name, or one cannot be told to a model.
    """

    def __init__(
        self,
        tools: Sequence[ToolBase] | None = None,
        *,
        decision_layers: Sequence[DecisionLayer] = (),
    ) -> None:
        self._registry = ToolRegistry()
        for tool in tools or ():
            self._registry.add(tool)
        self._layers = tuple(decision_layers)
        self._issued: WeakSet[Grant] = WeakSet()
        self._checked_rules: tuple[Any, ...] | None = None
        self._schemas: tuple[int, list[dict[str, Any]]] | None = None

    # What there is

    async def get_tool(self, name: str) -> ToolBase | None:
        """Return the tool of this name, or None."""
        return self._registry.get(name)

    async def add_tool(self, tool: ToolBase | list[ToolBase]) -> None:
        """Add one tool or several.

        Raises:
            ConfigurationError: A name is taken, or cannot be told to a model.
        """
        for one in tool if isinstance(tool, list) else [tool]:
            self._registry.add(one)

    async def remove_tool(self, tool_name: str | list[str]) -> None:
        """Remove one tool or several, by name.

        Raises:
            ConfigurationError: There is no tool of that name.
        """
        for name in tool_name if isinstance(tool_name, list) else [tool_name]:
            self._registry.remove(name)

    def clear(self) -> None:
        """Remove every tool."""
        self._registry.clear()

    async def get_tool_schemas(self) -> list[dict[str, Any]]:
        """Return what the model is told of the tools, in the chat-completions form."""
        version = self._registry.version
        if self._schemas is None or self._schemas[0] != version:
            self._schemas = version, [entry.schema for entry in self._registry.all()]
        return list(self._schemas[1])

    async def check_tool_available(self, tool_name: str) -> ToolBase:
        """Return the tool that a model may call by this name.

        Raises:
            ToolNotFoundError: There is none; the message lists what there is.
        """
        return self._registry.registered(tool_name).tool

    def is_concurrency_safe(self, tool_name: str) -> bool:
        """Return whether calls by this name may run beside others; unknown ones only fail."""
        tool = self._registry.get(tool_name)
        return tool is None or tool.is_concurrency_safe

    # Deciding

    async def decide(
        self,
        call: ToolCallBlock,
        state: AgentState,
        *,
        layers: Sequence[DecisionLayer] = (),
    ) -> DecidedCall:
        """Read, validate and decide the call; run nothing.

        The call's `state`, `decision`, `digest` and `suggested_rules` are set to what came of it.

        Args:
            call: The model's call.
            state: The agent's state; its `permission_context` is what is permitted.
            layers: Further decision layers, outside the toolkit's own.

        Returns:
            A grant, a refusal, or neither where somebody has to answer first.

        Raises:
            RuleError: A rule is for a tool that does not exist, or cannot be read by its tool.
        """
        self._check_rules(state)
        try:
            request = self._read(call, state)
            request, decision = await self._decided(request, (*layers, *self._layers))
        except AgentOrientedException as error:
            call.state = ToolCallState.FINISHED
            tool = self._registry.get(call.name)
            return DecidedCall(call, tool, refusal=refused(error.message, ToolResultState.ERROR))
        return self._settled(request, decision)

    async def confirm(
        self,
        call: ToolCallBlock,
        answer: ConfirmResult,
        state: AgentState,
        *,
        layers: Sequence[DecisionLayer] = (),
    ) -> DecidedCall:
        """Take a person's answer to a call that asks.

        A yes holds for what was asked: the same tool, arguments and basis. It can turn ASK into
        ALLOW, never DENY into ALLOW. Edited arguments are validated and decided anew; what then
        turns out to need a safety check that the person was not shown is asked again.

        Args:
            call: The call as it was stored when it asked.
            answer: The answer; only its `confirmed`, `message` and the input of its call are used.
            state: The agent's state.
            layers: Further decision layers, outside the toolkit's own.

        Returns:
            As `decide`.

        Raises:
            ResumeError: The call does not ask, or the answer is about another one.
        """
        asked = call.decision
        if call.state is not ToolCallState.ASKING or asked is None:
            raise ResumeError(f"call {call.id!r} does not wait for an answer: it is {call.state}")
        if answer.tool_call.id != call.id or answer.tool_call.name != call.name:
            raise ResumeError(
                f"the answer is about {answer.tool_call.name} {answer.tool_call.id!r}, the call is "
                f"{call.name} {call.id!r}: an answer cannot change which tool is called"
            )
        if not answer.confirmed:
            call.state = ToolCallState.FINISHED
            message = f"{REJECTED} They said: {answer.message}" if answer.message else REJECTED
            tool = self._registry.get(call.name)
            refusal = refused(message, ToolResultState.DENIED)
            return DecidedCall(call, tool, asked, refusal=refusal)
        before = call.digest
        call.input = answer.tool_call.input
        decided = await self.decide(call, state, layers=layers)
        edited = not same_arguments(before, call.digest)
        if edited:
            decided = replace(decided, note=EDITED)
        now = decided.decision
        if now is None or now.behavior is not PermissionBehavior.ASK:
            return decided
        was_shown = not now.bypass_immune or (asked.bypass_immune and not edited)
        if was_shown and same_subject(before, call.digest):
            return self._granted(decided, state=state)
        return decided

    def check_new_rules(self, rules: Sequence[PermissionRule]) -> None:
        """Refuse rules to be remembered that could never do what they say.

        Raises:
            RuleError: One is for a tool that does not exist, or cannot be read by its tool.
        """
        context = PermissionContext()
        for rule in rules:
            context.table(rule.behavior).add(rule)
        check_rules(context, self._registry)

    def _check_rules(self, state: AgentState) -> None:
        context = state.permission_context
        key = (self._registry.version, context.policy_key)
        if key != self._checked_rules:
            check_rules(context, self._registry)
            self._checked_rules = key

    def _read(self, call: ToolCallBlock, state: AgentState) -> CallRequest:
        entry = self._registry.registered(call.name)
        arguments = parse_arguments(call.name, call.input)
        entry.validator.check(arguments)
        return CallRequest(call, entry.tool, arguments, state)

    async def _decided(
        self, request: CallRequest, layers: Sequence[DecisionLayer]
    ) -> tuple[CallRequest, PermissionDecision]:
        if not layers:
            return request, await self._engine_says(request)
        reached: list[tuple[CallRequest, PermissionDecision]] = []

        async def core(inner: CallRequest) -> PermissionDecision:
            inner = replace(request, arguments=inner.arguments)
            if inner.arguments is not request.arguments:
                self._registry.registered(inner.call.name).validator.check(inner.arguments)
            reached.append((inner, await self._engine_says(inner)))
            return reached[-1][1]

        layered = await wrap_call(layers, core)(request)
        if not reached:
            await core(request)
        final, decision = reached[-1]
        return final, stricter(decision, layered)

    async def _engine_says(self, request: CallRequest) -> PermissionDecision:
        engine = PermissionEngine(request.state.permission_context)
        return await engine.check_permission(request.tool, request.arguments)

    def _settled(self, request: CallRequest, decision: PermissionDecision) -> DecidedCall:
        call, tool = request.call, request.tool
        call.decision = decision
        call.suggested_rules = list(decision.suggested_rules or ())
        call.digest = self._digest(tool, request.arguments)
        decided = DecidedCall(call, tool, decision, request.arguments)
        if decision.behavior is PermissionBehavior.ALLOW:
            return self._granted(decided, state=request.state)
        if decision.behavior is PermissionBehavior.DENY:
            call.state = ToolCallState.FINISHED
            refusal = refused(f"Denied: {decision.message}", ToolResultState.DENIED)
            return replace(decided, refusal=refusal)
        call.state = ToolCallState.ASKING
        return decided

    def _granted(self, decided: DecidedCall, *, state: AgentState) -> DecidedCall:
        call, tool = decided.call, decided.tool
        if tool is None or call.digest is None:
            raise GrantError(f"call {call.id!r} was not decided: call `decide` first")
        if tool.is_external_tool:
            call.state = ToolCallState.SUBMITTED
            return decided
        call.state = ToolCallState.ALLOWED
        policy = state.permission_context.policy_key
        grant = Grant(call.id, tool, decided.arguments, call.digest, policy)
        self._issued.add(grant)
        return DecidedCall(
            call, tool, decided.decision, decided.arguments, grant=grant, note=decided.note
        )

    def _digest(self, tool: ToolBase, arguments: dict[str, Any]) -> str:
        definition = self._registry.registered(tool.name).definition
        return call_digest(definition, arguments, tool.decision_basis(arguments))

    # Running

    def run(
        self, grant: Grant, state: AgentState
    ) -> AsyncGenerator[ToolChunk | ToolResponse, None]:
        """Run the call that the grant is for; the grant is spent, whatever comes of it.

        Args:
            grant: From `decide` or `confirm` of this very toolkit.
            state: The agent's state.

        Returns:
            A stream of the tool's chunks as they come, then of one `ToolResponse` with the whole.
            It raises a `DeveloperOrientedException` that the tool raises; any other failure is a
            response.

        Raises:
            GrantError: The grant is spent, was not issued here, or what it rested on has changed.
        """
        self._redeem(grant, state)
        tool = grant.tool

        async def decide_again(arguments: dict[str, Any]) -> None:
            if arguments == grant.arguments:
                return
            changed = ToolCallBlock(id=grant.call_id, name=tool.name, input="")
            again = CallRequest(changed, tool, arguments, state)
            decision = await self._engine_says(again)
            if decision.behavior is not PermissionBehavior.ALLOW:
                raise ToolArgumentError(
                    f"A middleware of {tool.name} changed the arguments to ones that may not run: "
                    f"{decision.message}"
                )

        return run_granted(grant, state, decide_again)

    async def call_tool(
        self, tool_call: ToolCallBlock, state: AgentState
    ) -> AsyncGenerator[ToolChunk | ToolResponse, None]:
        """Decide the call and run it where it is allowed.

        Args:
            tool_call: The model's call; its `state` says afterwards how far it came.
            state: The agent's state.

        Yields:
            Chunks and then one `ToolResponse`; only the response where the call is refused; nothing
            where it waits: its state is then `asking` or `submitted`.
        """
        decided = await self.decide(tool_call, state)
        if decided.refusal is not None:
            yield decided.refusal
        elif decided.grant is not None:
            async with aclosing(self.run(decided.grant, state)) as stream:
                async for item in stream:
                    yield item
            tool_call.state = ToolCallState.FINISHED

    def _redeem(self, grant: Grant, state: AgentState) -> None:
        if grant not in self._issued:
            raise GrantError(
                f"this grant for call {grant.call_id!r} is spent or was not issued by this "
                "toolkit: decide the call again"
            )
        self._issued.discard(grant)
        if self._registry.get(grant.tool.name) is not grant.tool:
            raise GrantError(
                f"the tool {grant.tool.name!r} was removed or replaced since: decide again"
            )
        if grant.policy_key != state.permission_context.policy_key:
            raise GrantError("the permission context has changed since: decide the call again")
        if grant.digest != self._digest(grant.tool, grant.arguments):
            raise GrantError(
                f"what the decision about {grant.tool.name} rested on, or its arguments, has "
                "changed since: decide the call again"
            )
