"""Runs one granted call inside the agent's `on_acting` hooks."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import Any

from agentscope_like.agent.context import ResultLimit
from agentscope_like.exception import AgentOrientedException, ConfigurationError, GrantError
from agentscope_like.message import (
    ApplyQuestion,
    DataBlock,
    TextBlock,
    ToolCallBlock,
    ToolChunk,
    ToolResponse,
    ToolResultState,
)
from agentscope_like.middleware import MiddlewareBase, Turn, hook_onion
from agentscope_like.state import AgentState
from agentscope_like.tool import DecisionLayer, Grant, Toolkit
from agentscope_like.tool.call import refused, says_something

__all__ = ["CallRunner"]

KEPT_BACK = "A middleware withheld the result of this call."
TOOK_ITS_PLACE = "This call did not run: a middleware took its place and gave no result."
LEFT_RUNNING = (
    "This call was stopped: a middleware ended while it ran the call in another task. Iterate "
    "`next_handler` in `on_acting` itself, or wait there for the task that does."
)
RAN_HELD = "This call ran held and is not run again: what it changed is decided first."
OTHER_CALL = "This call did not run: a middleware changed which call it is."
Items = AsyncGenerator[ToolChunk | ToolResponse, None]


class CallRunner:
    """Runs granted calls; each yields its chunks and then one response.

    Args:
        toolkit: Runs the calls.
        state: The agent's state.
        agent: The agent, passed to the hooks.
        middlewares: The agent's middlewares.
        layers: The agent's decision layers.
        limit: Keeps each result within a number of tokens.
    """

    def __init__(
        self,
        toolkit: Toolkit,
        state: AgentState,
        *,
        agent: Any,
        middlewares: Sequence[MiddlewareBase],
        layers: Sequence[DecisionLayer],
        limit: ResultLimit,
    ) -> None:
        self._toolkit = toolkit
        self._state = state
        self._agent = agent
        self._hooked = tuple(one for one in middlewares if one.is_implemented("on_acting"))
        self._layers = layers
        self._limit = limit

    async def run(self, call: ToolCallBlock, grant: Grant) -> Items:
        """Run the call, and yield its chunks and its response, within the limit.

        Raises:
            ConfigurationError: A middleware yields something other than a chunk or response.
            DeveloperOrientedException: From a middleware or the tool.
        """
        if self._hooked:
            items = self._within_hooks(call, grant)
        else:
            items = _granted_run(self._toolkit, grant, self._state)
            own = self._toolkit.result_limit
            if own is not None and own <= self._limit.limit:
                async with aclosing(items):
                    async for item in items:
                        yield item
                return
        told = _Told()
        output = self._limit.begin(call, lambda: told.response.state)
        async with aclosing(items):
            async for item in items:
                if isinstance(item, ToolChunk):
                    passed = item if output.is_short(item) else await output.feed(item)
                elif output.holds_back:
                    passed = await output.rest()
                else:
                    passed = None
                if passed is not None:
                    told.take(passed)
                    yield passed
                if isinstance(item, ToolResponse):
                    whole = item if told.says_something else await self._limit.cut(call, item)
                    metadata = {**whole.metadata, **told.metadata}
                    changed = {"metadata": metadata, "id": call.id, "question": item.question}
                    yield whole.model_copy(update=changed)

    async def _within_hooks(self, call: ToolCallBlock, grant: Grant) -> Items:
        """Run the call inside the hooks; it always ends with exactly one response."""
        run = _HookedRun(self._toolkit, self._state, self._layers, call, grant)
        onion = hook_onion(self._hooked, "on_acting", self._agent, run.core)
        whole: ToolResponse | None = None
        told = _Told()
        try:
            async with aclosing(onion(tool_call=call.model_copy(deep=True))) as stream:
                async for item in stream:
                    if isinstance(item, ToolResponse):
                        whole = item
                    elif isinstance(item, ToolChunk):
                        told.take(item)
                        yield item
                    else:
                        raise ConfigurationError(
                            f"a middleware's `on_acting` yields {type(item).__name__}: yield "
                            "ToolChunks, then one ToolResponse"
                        )
        except AgentOrientedException as error:
            whole = refused(call.id, error.message, ToolResultState.ERROR)
            yield ToolChunk(content=whole.content, state=whole.state)
        except RuntimeError:  # closing what another task is iterating
            if not await run.turn.end():
                raise
            whole = _left_running()
        finally:
            if await run.turn.end():
                whole = _left_running()
        response = whole if whole is not None else run.stand_in(told)
        yield response.model_copy(update={"question": run.question})


def _left_running() -> ToolResponse:
    content: list[TextBlock | DataBlock] = [TextBlock(text=LEFT_RUNNING)]
    return ToolResponse(content=content, state=ToolResultState.INTERRUPTED)


class _Told:
    """What the chunks of one call add up to, except their text."""

    def __init__(self) -> None:
        self.says_something = False
        self.response = ToolResponse()

    @property
    def metadata(self) -> dict[str, Any]:
        return self.response.metadata

    def take(self, chunk: ToolChunk) -> None:
        self.says_something = self.says_something or says_something(chunk.content)
        if chunk.metadata or chunk.state is not ToolResultState.RUNNING:
            self.response.append_chunk(chunk.model_copy(update={"content": []}))


async def _granted_run(toolkit: Toolkit, grant: Grant, state: AgentState) -> Items:
    try:
        async with aclosing(toolkit.run(grant, state)) as stream:
            async for item in stream:
                yield item
    except GrantError as error:
        text = f"This call did not run: {error.message}. Call again if it is still needed."
        yield refused(grant.call_id, text, ToolResultState.ERROR)


class _HookedRun:
    """The innermost layer of one call's hooks; a call that the hooks changed is decided again."""

    def __init__(
        self,
        toolkit: Toolkit,
        state: AgentState,
        layers: Sequence[DecisionLayer],
        call: ToolCallBlock,
        grant: Grant,
    ) -> None:
        self._toolkit = toolkit
        self._state = state
        self._layers = layers
        self._call = call
        self._input = call.input
        self._grant: Grant | None = grant
        self._has_changes = grant.apply is not None
        self.turn = Turn()
        self.question: ApplyQuestion | None = None
        self._said: ToolResponse | None = None

    async def core(self, tool_call: ToolCallBlock) -> Items:
        """Run the call; the decision covers only its first run with unchanged arguments."""
        granted = await self._granted(tool_call)
        if self.turn.is_over:
            raise GrantError(
                f"the turn of call {self._call.id!r} is over and its result recorded: a middleware "
                "calls `next_handler` while its `on_acting` runs, never later"
            )
        if isinstance(granted, ToolResponse):
            self._said = granted
            yield ToolChunk(content=granted.content, state=granted.state)
            yield granted
            return
        self._said = ToolResponse()
        run = self.turn.through(_granted_run(self._toolkit, granted, self._state))
        async with aclosing(run) as stream:
            async for item in stream:
                if isinstance(item, ToolResponse):
                    self._said = item
                    self.question = item.question
                yield item

    async def _granted(self, wanted: ToolCallBlock) -> Grant | ToolResponse:
        call = self._call
        if (wanted.id, wanted.name) != (call.id, call.name):
            return refused(call.id, OTHER_CALL, ToolResultState.ERROR)
        grant, self._grant = self._grant, None
        if grant is not None and wanted.input == self._input:
            return grant
        if self._has_changes or self.question is not None:
            return refused(call.id, RAN_HELD, ToolResultState.ERROR)
        again = ToolCallBlock(id=call.id, name=call.name, input=wanted.input)
        decided = await self._toolkit.decide(again, self._state, layers=self._layers)
        if decided.grant is not None:
            return decided.grant
        if decided.refusal is not None:
            return decided.refusal
        what = "with changed arguments" if wanted.input != self._input else "once more"
        why = decided.decision.message if decided.decision is not None else ""
        return refused(
            call.id,
            f"A middleware wanted to run this call {what}, which was not allowed: it did not run. "
            f"{why}".rstrip(),
            ToolResultState.DENIED,
        )

    def stand_in(self, told: _Told) -> ToolResponse:
        """Return the response of a call whose hooks yielded none."""
        state = told.response.state if self._said is None else self._said.state
        if told.says_something:
            return ToolResponse(state=state, metadata=told.metadata)
        if self._said is None:
            return refused(self._call.id, TOOK_ITS_PLACE, ToolResultState.ERROR)
        return ToolResponse(content=[TextBlock(text=KEPT_BACK)], state=state)
