"""Guards a run behind its middlewares: what reaches the tool was decided, in this run, once."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from typing import Any

from agentscope_like.exception import AgentOrientedException, GrantError, ToolArgumentError
from agentscope_like.message import ToolChunk
from agentscope_like.middleware import Turn
from agentscope_like.middleware.onion import StreamHandler
from agentscope_like.permission import PreparedCall
from agentscope_like.state import AgentState
from agentscope_like.tool.arguments import copied, same_json
from agentscope_like.tool.call.grant import Grant
from agentscope_like.tool.call.resource_run import declared_resources, declares
from agentscope_like.tool.resources import while_held

__all__ = ["RunGuard", "injected_arguments"]


def injected_arguments(grant: Grant, state: AgentState, basis: str | None) -> dict[str, Any]:
    """Return what the tool gets besides the arguments of the model.

    Args:
        grant: The grant.
        state: The agent's state.
        basis: What the decision rests on besides the arguments.
    """
    tool = grant.tool
    injected: dict[str, Any] = {}
    if tool.is_state_injected:
        injected["_agent_state"] = state
    if tool.is_policy_injected:
        injected["_permission_context"] = state.permission_context
    if tool.is_basis_injected:
        injected["_decision_basis"] = basis
    if tool.is_call_injected:
        injected["_prepared_call"] = grant.prepared
    if tool.is_held_call_injected:
        injected["_held_call"] = grant.held_call
    return injected


class RunGuard:
    """Stands between the middlewares of a tool and its `call`, in one run of one grant.

    Args:
        grant: The grant.
        injected: What the tool gets besides the arguments of the model.
        redeem: Raises where the grant no longer holds.
        check_changed: As for `run_granted`.

    Attributes:
        has_output: Whether anything was passed on, outside of all middlewares.
        turn: The run; nothing of it runs on when it is over.
    """

    def __init__(
        self,
        grant: Grant,
        injected: dict[str, Any],
        *,
        redeem: Callable[[], Awaitable[str | None]],
        check_changed: Callable[
            [dict[str, Any]], Awaitable[tuple[str | None, PreparedCall | None]]
        ],
    ) -> None:
        self._tool = grant.tool
        self._decided = copied(grant.arguments)
        self._injected = injected
        self._redeem = redeem
        self._check_changed = check_changed
        self._has_run = self._is_running = self._has_ended_well = False
        self.has_output = False
        self.turn = Turn()

    def around(self, core: StreamHandler[ToolChunk]) -> StreamHandler[ToolChunk]:
        """Return the handler that runs `core` where it may run."""

        async def run(**input_kwargs: Any) -> AsyncGenerator[ToolChunk, None]:
            self._begin()
            try:
                given = await self._checked(copied(input_kwargs))
                stream_of_call = self._within_resources(core, given, input_kwargs)
                async with aclosing(self.turn.through(stream_of_call)) as stream:
                    async for chunk in stream:
                        self._has_ended_well = True  # unless it fails later
                        yield chunk
            except Exception:
                self._has_ended_well = False
                raise
            finally:
                self._is_running = False

        return run

    def _begin(self) -> None:
        """Begin an attempt.

        Raises:
            GrantError: The run is over.
            AgentOrientedException: The tool may not be run again.
        """
        self._refuse_if_over()
        objection = self._repetition_objection() if self._has_run else None
        if objection is not None:
            raise AgentOrientedException(
                f"{self._tool.name} was not run again: a middleware called `next_handler` once "
                f"more, {objection}"
            )
        self._has_run = self._is_running = True

    def _repetition_objection(self) -> str | None:
        tool = self._tool
        if self._is_running:
            return "while the attempt before it was still running. Await that one first."
        if self.has_output or self._has_ended_well:
            return "after the attempt before it had given output. Return that output."
        may_repeat = any(layer.may_repeat for layer in tool.middlewares)
        if not (tool.is_read_only or tool.is_idempotent or may_repeat):
            return (
                "but running this tool twice may do harm. If it does none, set `is_idempotent` on "
                "the tool, or `may_repeat` on the middleware."
            )
        return None

    def _refuse_if_over(self) -> None:
        if self.turn.is_over:
            raise GrantError(
                f"the run of {self._tool.name} is over and its grant is spent: a middleware calls "
                "`next_handler` while the call runs, never later"
            )

    async def _checked(self, reached: dict[str, Any]) -> dict[str, Any]:
        """Return what the tool gets, once it is certain that it was decided.

        Raises:
            GrantError: The grant no longer holds, or the run is over.
            ToolArgumentError: A middleware changed what is not its to change.
        """
        arguments = {key: value for key, value in reached.items() if key not in self._injected}
        self._refuse_replaced(reached)
        injected = dict(self._injected)
        basis = await self._redeem()
        if not same_json(arguments, self._decided):
            basis, prepared = await self._check_changed(arguments)
            if "_prepared_call" in injected:
                injected["_prepared_call"] = prepared
        if "_decision_basis" in injected:
            injected["_decision_basis"] = basis
        self._refuse_if_over()
        return {**arguments, **injected}

    def _within_resources(
        self, core: StreamHandler[ToolChunk], given: dict[str, Any], reached: dict[str, Any]
    ) -> AsyncGenerator[ToolChunk, None]:
        """Return the run of the tool; with changed arguments, within what these touch."""
        if not declares(self._tool):
            return core(**given)
        changed = {key: value for key, value in given.items() if key not in self._injected}
        if same_json(changed, self._decided):
            return core(**given)
        declared = declared_resources(self._tool, changed)
        if declared is None:
            return core(**given)
        return while_held(declared, self._checked_again(core, reached))

    async def _checked_again(
        self, core: StreamHandler[ToolChunk], reached: dict[str, Any]
    ) -> AsyncGenerator[ToolChunk, None]:
        """Run the tool once more checked: it may have waited for what it touches."""
        given = await self._checked(copied(reached))
        async with aclosing(core(**given)) as stream:
            async for chunk in stream:
                yield chunk

    def _refuse_replaced(self, reached: dict[str, Any]) -> None:
        for name, value in self._injected.items():
            if name in reached and reached[name] is not value and reached[name] != value:
                raise ToolArgumentError(
                    f"A middleware of {self._tool.name} replaced `{name}`, which is injected and "
                    "not its to change: pass it on as it came."
                )
