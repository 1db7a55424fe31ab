"""Runs child tasks in the background, and collects what they say."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Iterator

from agentscope_like.agent import AgentInput
from agentscope_like.event import AgentEvent
from agentscope_like.exception import DeveloperOrientedException
from agentscope_like.state import ChildTask

__all__ = ["BackgroundTasks"]


class BackgroundTasks:
    """The child tasks at work during one stream of their parent; none outlives it.

    Args:
        work: Works on a task until it ends or waits.
    """

    def __init__(self, work: Callable[[ChildTask, AgentInput], Awaitable[None]]) -> None:
        self._work = work
        self._running: dict[asyncio.Task[None], ChildTask] = {}
        self._said: deque[AgentEvent] = deque()
        self._news = asyncio.Event()
        self._errors: list[BaseException] = []

    @property
    def is_idle(self) -> bool:
        """Return whether no task is at work."""
        return not self._running

    def has(self, task: ChildTask) -> bool:
        """Return whether the task is at work."""
        return any(one is task for one in self._running.values())

    def begin(self, task: ChildTask, inputs: AgentInput) -> None:
        """Begin or resume a task."""
        running = asyncio.create_task(self._through(task, inputs))
        self._running[running] = task
        running.add_done_callback(self._ended)

    async def _through(self, task: ChildTask, inputs: AgentInput) -> None:
        try:
            await self._work(task, inputs)
        except DeveloperOrientedException as error:  # the caller's to see, such as a wrong answer
            self._errors.append(error)

    def _ended(self, running: asyncio.Task[None]) -> None:
        self._running.pop(running, None)
        if not running.cancelled() and (error := running.exception()) is not None:
            self._errors.append(error)
        self._news.set()

    def tell(self, event: AgentEvent) -> None:
        """Pass on an event of a child to the parent's stream."""
        self._said.append(event)
        self._news.set()

    def said(self) -> Iterator[AgentEvent]:
        """Yield the events that were not yielded yet.

        Raises:
            BaseException: What a task failed with that is the caller's to see.
        """
        while self._said:
            yield self._said.popleft()
        if self._errors:
            raise self._errors.pop(0)

    async def news(self, seconds: float | None) -> None:
        """Wait until a task says something or ends, at most so long."""
        self._news.clear()
        if self._said or self._errors or not self._running:
            return
        try:
            await asyncio.wait_for(self._news.wait(), seconds)
        except TimeoutError:
            return

    async def stop(self) -> None:
        """Cancel all tasks, and wait until they have ended, even if this is cancelled as well."""
        cancelled: asyncio.CancelledError | None = None
        for running in self._running:
            running.cancel()
        while self._running:
            try:
                await asyncio.wait(list(self._running))
                await asyncio.sleep(0)  # for the callbacks of what has ended
            except asyncio.CancelledError as error:
                cancelled = error
        if cancelled is not None:
            raise cancelled
