"""Sends trace events to several handlers."""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from contextvars import ContextVar, Token
from types import TracebackType
from typing import Any

from typing_extensions import override

from agentscope_like.exception import ConfigurationError
from agentscope_like.observability.handler import BaseTraceHandler

__all__ = ["ObservabilityManager"]

_log = logging.getLogger(__name__)

_current_runs: ContextVar[Mapping[int, str]] = ContextVar("agentscope_like.current_runs")
"""The current run of the task, by the `id` of the manager."""

# Events are told in plain calls, so a cancellation that comes out of one is the handler's own.
_FAILURES = (Exception, asyncio.CancelledError, GeneratorExit)


class ObservabilityManager(BaseTraceHandler):
    """Sends each event to every handler, in the order in which they were added.

    An exception of a handler, even a cancellation, is logged; the other handlers still get the
    event, and the agent continues (seed 003, 3.3).

    Args:
        handlers: The first handlers.

    Raises:
        ConfigurationError: One is not a handler.
    """

    def __init__(self, handlers: Iterable[BaseTraceHandler] = ()) -> None:
        self._handlers: tuple[BaseTraceHandler, ...] = ()
        for handler in handlers:
            self.add_handler(handler)

    @property
    def handlers(self) -> tuple[BaseTraceHandler, ...]:
        """Return the handlers."""
        return self._handlers

    def add_handler(self, handler: BaseTraceHandler) -> None:
        """Send events to this handler too, from the next one on.

        Raises:
            ConfigurationError: It is not a handler, or is this manager itself.
        """
        is_handler = isinstance(handler, BaseTraceHandler)
        if not is_handler or handler is self:
            raise ConfigurationError(f"{handler!r} is not a handler: give a BaseTraceHandler")
        self._handlers = (*self._handlers, handler)

    def remove_handler(self, handler: BaseTraceHandler) -> None:
        """Remove the handler, if it is there."""
        self._handlers = tuple(one for one in self._handlers if one is not handler)

    def current_run_id(self) -> str | None:
        """Return this manager's current run in the current task, or None."""
        return _current_runs.get({}).get(id(self))

    @override
    def on_chain_start(self, session_id: str, **kwargs: Any) -> None:
        self._tell("on_chain_start", session_id, **kwargs)

    @override
    def on_chain_end(self, **kwargs: Any) -> None:
        self._tell("on_chain_end", **kwargs)

    @override
    def on_chain_error(self, error: BaseException, **kwargs: Any) -> None:
        self._tell("on_chain_error", error, **kwargs)

    @override
    def on_agent_start(self, session_id: str, agent_name: str, **kwargs: Any) -> None:
        self._tell("on_agent_start", session_id, agent_name, **kwargs)

    @override
    def on_agent_end(self, **kwargs: Any) -> None:
        self._tell("on_agent_end", **kwargs)

    @override
    def on_agent_error(self, error: BaseException, **kwargs: Any) -> None:
        self._tell("on_agent_error", error, **kwargs)

    @override
    def on_llm_start(
        self,
        session_id: str,
        model_name: str,
        messages: Sequence[Any],
        step_name: str | None = None,
        **kwargs: Any,
    ) -> None:
        self._tell("on_llm_start", session_id, model_name, messages, step_name=step_name, **kwargs)

    @override
    def on_llm_end(self, response: Any, **kwargs: Any) -> None:
        self._tell("on_llm_end", response, **kwargs)

    @override
    def on_llm_error(self, error: BaseException, **kwargs: Any) -> None:
        self._tell("on_llm_error", error, **kwargs)

    @override
    def on_tool_start(
        self,
        session_id: str,
        tool_name: str,
        tool_input: str,
        step_name: str | None = None,
        **kwargs: Any,
    ) -> None:
        self._tell(
            "on_tool_start", session_id, tool_name, tool_input, step_name=step_name, **kwargs
        )

    @override
    def on_tool_end(self, output: Any, **kwargs: Any) -> None:
        self._tell("on_tool_end", output, **kwargs)

    @override
    def on_tool_error(self, error: BaseException, **kwargs: Any) -> None:
        self._tell("on_tool_error", error, **kwargs)

    @override
    def on_message_start(self, session_id: str, agent_name: str, **kwargs: Any) -> None:
        self._tell("on_message_start", session_id, agent_name, **kwargs)

    @override
    def on_message_end(self, message: Any, **kwargs: Any) -> None:
        self._tell("on_message_end", message, **kwargs)

    @override
    def activate(self, run_id: str) -> AbstractContextManager[object]:
        """Return a context of the handlers, in which `current_run_id` is this run."""
        contexts = [
            context
            for handler in self._handlers
            if (context := _asked(handler, "activate", run_id)) is not None
        ]
        return _Step({**_current_runs.get({}), id(self): run_id}, contexts)

    @override
    def carrier(self, run_id: str) -> dict[str, str]:
        """Return the handlers' data, merged; for a key of several, the first handler's value."""
        merged: dict[str, str] = {}
        for handler in reversed(self._handlers):
            carrier = _asked(handler, "carrier", run_id)
            if isinstance(carrier, dict):
                merged.update({str(name): str(value) for name, value in carrier.items()})
        return merged

    def _tell(self, event: str, *args: Any, **kwargs: Any) -> None:
        for handler in self._handlers:
            result = _asked(handler, event, *args, **kwargs)
            if inspect.iscoroutine(result):
                result.close()
                _log.warning("%r is a coroutine function, so it gets no events: %s", handler, event)


class _Step(AbstractContextManager[None]):
    """One step of a run: leaves every context that a handler entered, even after an error."""

    __slots__ = ("_contexts", "_entered", "_runs", "_token")

    def __init__(
        self, runs: Mapping[int, str], contexts: Sequence[AbstractContextManager[object]]
    ) -> None:
        self._runs = runs
        self._contexts = contexts
        self._entered: list[AbstractContextManager[object]] = []
        self._token: Token[Mapping[int, str]] | None = None

    @override
    def __enter__(self) -> None:
        self._token = _current_runs.set(self._runs)
        for context in self._contexts:
            try:
                context.__enter__()
            except _FAILURES:
                _log.warning("%r failed to begin a step", context, exc_info=True)
            else:
                self._entered.append(context)

    @override
    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        while self._entered:
            context = self._entered.pop()
            try:
                context.__exit__(None, None, None)
            except _FAILURES:
                _log.warning("%r failed to end a step", context, exc_info=True)
        if self._token is not None:
            try:
                _current_runs.reset(self._token)
            except ValueError:  # the step was torn down by another task, which never was inside it
                self._token = None


def _asked(handler: BaseTraceHandler, question: str, *args: Any, **kwargs: Any) -> Any:
    """Return the result of the handler's method of that name, or None if it raises."""
    try:
        return getattr(handler, question)(*args, **kwargs)
    except _FAILURES:
        _log.warning("%r failed, and is skipped for this event", handler, exc_info=True)
        return None
