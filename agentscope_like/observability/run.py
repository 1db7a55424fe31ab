"""Traces one run: a start, and exactly one end."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any, Literal, TypeAlias, TypeVar

from agentscope_like.message.block import new_id
from agentscope_like.observability.handler import BaseTraceHandler

__all__ = ["Run", "RunKind", "in_steps"]

RunKind: TypeAlias = Literal["chain", "agent", "llm", "tool", "message"]

ItemT = TypeVar("ItemT")


class Run:
    """A run that has begun; a second end is ignored.

    Args:
        handler: Gets the start and the end.
        kind: The kind of its events.
        details: The positional arguments of the start.
        parent: The id of the enclosing run.
        links: The link data of earlier runs that this one resumes.
        facts: Further keyword arguments of the start.

    Attributes:
        id: Its `run_id`.
        is_open: Whether it has not ended yet.
    """

    def __init__(
        self,
        handler: BaseTraceHandler,
        kind: RunKind,
        *details: Any,
        parent: str | None,
        links: Sequence[dict[str, str]] = (),
        **facts: Any,
    ) -> None:
        self._handler = handler
        self._kind = kind
        self.id = new_id()
        self.is_open = True
        start = getattr(handler, f"on_{kind}_start")
        start(*details, run_id=self.id, parent_run_id=parent, links=list(links), **facts)

    def end(self, *details: Any, is_paused: bool = False, **facts: Any) -> None:
        """Send the end event.

        Args:
            details: The positional arguments of the event.
            is_paused: Whether it waits for an answer.
            facts: Further keyword arguments of the event.
        """
        if self._closes():
            end = getattr(self._handler, f"on_{self._kind}_end")
            end(*details, run_id=self.id, is_paused=is_paused, **facts)

    def fail(self, error: BaseException) -> None:
        """Send the error event; a message has none, so it gets an end event."""
        if self._kind == "message":
            self.end(None)
        elif self._closes():
            getattr(self._handler, f"on_{self._kind}_error")(error, run_id=self.id)

    def activate(self) -> AbstractContextManager[object]:
        """Return a context for one step of the run."""
        return self._handler.activate(self.id)

    def carrier(self) -> dict[str, str]:
        """Return the link data of this run, while it is open."""
        return self._handler.carrier(self.id)

    def _closes(self) -> bool:
        was_open, self.is_open = self.is_open, False
        return was_open


async def in_steps(
    stream: AsyncGenerator[ItemT, None], activate: Callable[[], AbstractContextManager[object]]
) -> AsyncGenerator[ItemT, None]:
    """Yield the stream; each step of it, and its closing, runs in a new context.

    No context therefore stays active while the consumer works, or if another task takes the next
    step.
    """
    try:
        while True:
            with activate():
                try:
                    item = await anext(stream)
                except StopAsyncIteration:
                    return
            yield item
    finally:
        with activate():
            await stream.aclose()
