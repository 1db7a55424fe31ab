"""Runs an agent under a profile, until it is finished, fails, or waits."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing
from functools import partial
from typing import Any

from agentscope_like.agent import Agent, AgentInput
from agentscope_like.event import AgentEvent, ReplyEndEvent, UserInterruptEvent
from agentscope_like.exception import (
    ConfigurationError,
    DeveloperOrientedException,
    RecoverableToolError,
    ResumeError,
)
from agentscope_like.journal import Journal
from agentscope_like.message import ToolChunk, ToolResponse, UserMsg
from agentscope_like.message.block import new_id
from agentscope_like.permission import PermissionDecision
from agentscope_like.profile import (
    REFERENCE_TOOLS,
    Account,
    Profile,
    add_deny_rules,
    limited_toolkit,
)
from agentscope_like.runs.call_records import CallRecords
from agentscope_like.runs.outcome import RunError, RunState
from agentscope_like.runs.run_record import RunRecord
from agentscope_like.state import AgentState
from agentscope_like.tool import CallRequest, Grant, Toolkit, shown_name
from agentscope_like.types import ReplyFinishedReason
from agentscope_like.workspace import RunControl

__all__ = ["AgentRun"]

_log = logging.getLogger(__name__)

Items = AsyncGenerator[ToolChunk | ToolResponse, None]

FINISH = "workspace.finish"
FINISHED = "The run is finished."
REMINDER = (
    "<system-reminder>The run is not finished, and nobody reads what you say. Go on with the work; "
    f"when it is done, call {shown_name(FINISH)}.</system-reminder>"
)
_KEY = "agentscope_like.runs"


class AgentRun:
    """One run of an agent: what its profile shows, within its budget, recorded in a journal.

    Errors of calls are results that the model can act on. A failure of the journal, of a
    checkpoint, of a commit or of the model ends the run as failed.

    Args:
        agent: The agent; it belongs to the run from now on, which replaces its toolkit by one that
            is held to the profile.
        profile: What the agent sees, may use and may spend.
        account: What the run spends from; by default one of its own, as the profile has it.
        journal: Records the run; None for no record.
        control: Says whether the run was finished, and how often it committed. With it, the run is
            not over before it was finished; without it, when the agent has replied.
        at_success: Awaited in order when the run was finished, before it is completed; if one
            fails, so does the run.
        run_id: The id of the run; by default that of the control, or a new one.

    Attributes:
        id: The id of the run.
        state: Where it stands.
        error: Why it failed; None if it did not.
        account: What it spends from. What was spent is kept in the agent's state with the rounds,
            by the id of the run, for a run that goes on in another process.

    Raises:
        ConfigurationError: The profile is for a foreground run and the control is not, or the
            reverse.
    """

    def __init__(
        self,
        agent: Agent,
        profile: Profile,
        *,
        account: Account | None = None,
        journal: Journal | None = None,
        control: RunControl | None = None,
        at_success: Sequence[Callable[[], Awaitable[None]]] = (),
        run_id: str | None = None,
    ) -> None:
        if control is not None and control.foreground != (profile.runs == "foreground"):
            raise ConfigurationError(
                f"profile {profile.id!r} is for {profile.runs} runs, and the control of the run is "
                "not: give both the same"
            )
        self.id = run_id or (new_id() if control is None else control.run_id)
        self.state = RunState.RUNNING
        self.error: RunError | None = None
        self.account = account or Account.of(
            profile.tools, most_characters=profile.skills.max_read_chars_per_run
        )
        self._agent = agent
        self._profile = profile
        self._control = control
        self._at_success = tuple(at_success)
        self._toolkit = agent.toolkit
        self._calls = None if journal is None else CallRecords(journal)
        self._record = RunRecord(journal, self._calls, agent)
        self._has_begun = False
        self._task: asyncio.Task[Any] | None = None
        self._is_idle = asyncio.Event()
        self._is_idle.set()

    @property
    def agent(self) -> Agent:
        """Return the agent."""
        return self._agent

    async def run(self, inputs: AgentInput = None) -> RunState:
        """Go on with the run until it is over or waits, and return its state."""
        async with aclosing(self.stream(inputs)) as events:
            async for _ in events:
                pass
        return self.state

    async def stream(self, inputs: AgentInput = None) -> AsyncGenerator[AgentEvent, None]:
        """Go on with the run, and yield the events of its agent, until it is over or waits.

        A failure ends the stream, and `state` and `error` tell of it.

        Args:
            inputs: As for `Agent.reply_stream`.

        Raises:
            ResumeError: The run is over or under way, or the input is not what the agent waits for.
            ProfileError: The profile names what does not exist, or lacks what it needs.
        """
        if self.state.is_final or self._task is not None:
            what = f"is {self.state.value}" if self.state.is_final else "is under way"
            raise ResumeError(f"the run {self.id!r} {what}: begin another one")
        before, is_refused = self.state, False
        self._task = asyncio.current_task()
        self._is_idle.clear()
        try:
            await self._begin()
            self.state = RunState.RUNNING
            async with aclosing(self._worked(inputs)) as events:
                async for event in events:
                    yield event
        except ResumeError:
            self.state, is_refused = before, True
            raise
        except Exception as error:
            if not self._has_begun:
                raise
            await self._end(RunState.FAILED, _error_of(error))
        finally:
            is_left = self.state is RunState.RUNNING and self._has_begun
            if is_left and not is_refused:  # nobody listens any more
                await self._end(RunState.CANCELLED)
            self._task = None
            self._is_idle.set()

    async def cancel(self) -> None:
        """Cancel the run, and wait until it has ended; a run that is over stays as it is."""
        if self._task is not None:
            self._task.cancel()
            await self._is_idle.wait()
        elif self.state is RunState.WAITING:
            await self.run(UserInterruptEvent(reply_id=self._agent.state.reply_id))
        elif not self.state.is_final:
            await self._end(RunState.CANCELLED)

    # The course of a run

    async def _begin(self) -> None:
        """Hold the agent to the profile, once.

        Raises:
            ProfileError: The profile does not fit.
        """
        if self._has_begun:
            return
        kept = self._kept()
        self.account.resume(kept.get("calls", {}), kept.get("characters", 0))
        agent = self._agent
        names = await self._toolkit.tool_names()
        for middleware in agent.middlewares:
            if middleware.is_implemented("list_tools"):
                names += [tool.name for tool in await middleware.list_tools()]
        self._profile.check(dict.fromkeys([*names, *REFERENCE_TOOLS]))
        add_deny_rules(self._profile, agent.state.permission_context, names)
        agent.toolkit = self._limited()
        if self._calls is not None:
            await self._calls.resume()
        await self._record.begun(self.id, self._profile.id)
        self._has_begun = True

    async def _worked(self, inputs: AgentInput) -> AsyncGenerator[AgentEvent, None]:
        """Let the agent reply until the run is over or waits."""
        agent = self._agent
        while True:
            rounds = self._profile.tools.max_rounds - self._rounds()
            agent.react_config = agent.react_config.model_copy(update={"max_iters": rounds})
            end: ReplyEndEvent | None = None
            async with aclosing(agent.reply_stream(inputs)) as events:
                async for event in events:
                    self._keep(self._rounds())
                    await self._record.heard(event)
                    if isinstance(event, ReplyEndEvent):
                        end = event
                    elif not hasattr(event, "type"):
                        continue
                    yield event  # type: ignore[misc]
            if end is None:
                self.state = RunState.WAITING
                await self._record.waits()
                return
            self._keep(self._rounds() + agent.state.cur_iter)
            if not self._is_to_go_on(end):
                await self._end(*self._outcome(end))
                return
            inputs = UserMsg("runtime", REMINDER)

    def _is_to_go_on(self, end: ReplyEndEvent) -> bool:
        has_rounds = self._rounds() < self._profile.tools.max_rounds
        is_done = self._control is None or self._control.finished
        return end.finished_reason is ReplyFinishedReason.COMPLETED and not is_done and has_rounds

    def _outcome(self, end: ReplyEndEvent) -> tuple[RunState, RunError | None]:
        is_done = self._control is None or self._control.finished
        if end.finished_reason is ReplyFinishedReason.INTERRUPTED:
            return RunState.CANCELLED, None
        if is_done and end.finished_reason is ReplyFinishedReason.COMPLETED:
            return RunState.COMPLETED, None
        if end.error is not None:
            return RunState.FAILED, RunError("agent.model_failed", end.error.message)
        most = self._profile.tools.max_rounds
        return RunState.FAILED, RunError(
            "agent.max_rounds_exceeded", f"the run was not finished within {most} rounds"
        )

    async def _end(self, state: RunState, error: RunError | None = None) -> None:
        """End the run; what was committed makes a failure a partial success."""
        try:
            if state is RunState.COMPLETED:
                for callback in self._at_success:
                    await callback()
        except Exception as failure:
            _log.warning("the end of the run %s failed", self.id, exc_info=failure)
            state, error = RunState.FAILED, _error_of(failure)
        try:
            await self._record.ended(self._as_committed(state), error)
        except DeveloperOrientedException as failure:
            _log.warning("the end of the run %s was not recorded", self.id, exc_info=failure)
            state = RunState.FAILED if state is RunState.COMPLETED else state
            error = error or _error_of(failure)
        self.state, self.error = self._as_committed(state), error

    def _as_committed(self, state: RunState) -> RunState:
        """Return the state; a failure after a commit is a partial success."""
        if state is RunState.FAILED and self._control is not None and self._control.committed:
            return RunState.PARTIAL_SUCCESS
        return state

    def _rounds(self) -> int:
        """Return the rounds of the replies that have ended."""
        return int(self._kept().get("rounds", 0))

    def _kept(self) -> dict[str, Any]:
        """Return what the agent's state keeps of this run, for it to go on in another process."""
        kept = self._agent.state.middle_context.get(_KEY)
        own = kept.get(self.id) if isinstance(kept, dict) else None
        return own if isinstance(own, dict) else {}

    def _keep(self, rounds: int) -> None:
        kept = {
            "rounds": rounds,
            "calls": self.account.spent,
            "characters": self.account.characters,
        }
        self._agent.state.middle_context[_KEY] = {self.id: kept}

    # Its calls

    def _limited(self) -> Toolkit:
        toolkit = self._toolkit
        if self._calls is not None:
            toolkit = toolkit.limited(run_layers=[self._calls.run])
        toolkit = limited_toolkit(toolkit, self._profile, self.account)
        layers = [] if self._calls is None else [self._calls.decided]
        return toolkit.limited(
            decision_layers=[*layers, partial(_refused_when_finished, self._control)],
            run_layers=[partial(_noting_the_end, self._control)],
        )


async def _refused_when_finished(
    control: RunControl | None,
    request: CallRequest,
    go_on: Callable[[CallRequest], Awaitable[PermissionDecision]],
) -> PermissionDecision:
    if control is not None and control.finished:
        raise RecoverableToolError(
            "agent.run_finished", "the run was finished by a call before this one: it did not run"
        )
    return await go_on(request)


async def _noting_the_end(
    control: RunControl | None, grant: Grant, state: AgentState, run: Items
) -> Items:
    """End the reply after the call that finished the run."""
    del grant
    async with aclosing(run) as items:
        async for item in items:
            if isinstance(item, ToolResponse) and control is not None and control.finished:
                state.reply_context.final_answer = FINISHED
            yield item


def _error_of(error: Exception) -> RunError:
    if isinstance(error, DeveloperOrientedException):
        return RunError(f"runtime.{type(error).__name__}", error.message)
    return RunError("runtime.failure", f"{type(error).__name__}: {error}")
