"""Defines the base class of trace event handlers."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

__all__ = ["BaseTraceHandler"]


class BaseTraceHandler:
    """Handles trace events of an agent; override the methods you need, the others do nothing.

    Events come in pairs: each start is followed by exactly one end or error of the same kind (seed
    003, 3.2). They are plain functions called in the agent's task, so do slow work elsewhere. An
    exception of a handler is logged, and affects neither the agent nor other handlers.

    Every event has these keyword arguments, and some kinds have more; accept `**kwargs` for the
    rest:

    * `run_id`: The same for the start and the end of one run.
    * `parent_run_id`: On a start, the enclosing run, or None.
    * `links`: On a start, the results of `carrier` for the runs that this one resumes.
    * `is_paused`: On an end, whether the run waits for an answer and has not finished.
    """

    def on_chain_start(self, session_id: str, **kwargs: Any) -> None:
        """A session continues: its outermost agent received an input.

        Args:
            session_id: The session.
            kwargs: See the class.
        """

    def on_chain_end(self, **kwargs: Any) -> None:
        """The session has finished or waits."""

    def on_chain_error(self, error: BaseException, **kwargs: Any) -> None:
        """The session was aborted."""

    def on_agent_start(self, session_id: str, agent_name: str, **kwargs: Any) -> None:
        """An agent begins a reply, or resumes one that waited.

        Args:
            session_id: The session.
            agent_name: The agent.
            kwargs: See the class; also `reply_id`.
        """

    def on_agent_end(self, **kwargs: Any) -> None:
        """The reply has ended or waits; `finished_reason` says why it ended."""

    def on_agent_error(self, error: BaseException, **kwargs: Any) -> None:
        """The reply failed or was aborted."""

    def on_llm_start(
        self,
        session_id: str,
        model_name: str,
        messages: Sequence[Any],
        step_name: str | None = None,
        **kwargs: Any,
    ) -> None:
        """A model is called (signature: seed 003, 5.1).

        Args:
            session_id: The session.
            model_name: The model.
            messages: The messages to the model, each a `Msg`.
            step_name: The purpose of the call, such as `round 2`.
            kwargs: See the class.
        """

    def on_llm_end(self, response: Any, **kwargs: Any) -> None:
        """The model answered.

        Args:
            response: The whole `ChatResponse`.
            kwargs: See the class.
        """

    def on_llm_error(self, error: BaseException, **kwargs: Any) -> None:
        """The model failed, or its answer was cut off."""

    def on_tool_start(
        self,
        session_id: str,
        tool_name: str,
        tool_input: str,
        step_name: str | None = None,
        **kwargs: Any,
    ) -> None:
        """A call runs, is refused, or begins to wait.

        Args:
            session_id: The session.
            tool_name: The tool.
            tool_input: The arguments, as the JSON text that the model wrote.
            step_name: The round of the call.
            kwargs: See the class; also `tool_call_id` and `decision`, a `PermissionDecision` or
                None.
        """

    def on_tool_end(self, output: Any, **kwargs: Any) -> None:
        """The call has ended, or waits; `state` is a `ToolResultState`.

        Args:
            output: The `ToolResponse`; None for a call that did not run here.
            kwargs: See the class.
        """

    def on_tool_error(self, error: BaseException, **kwargs: Any) -> None:
        """The run of the call was aborted."""

    def on_message_start(self, session_id: str, agent_name: str, **kwargs: Any) -> None:
        """An agent begins a message, or continues it.

        Args:
            session_id: The session.
            agent_name: The agent.
            kwargs: See the class; also `message_id`.
        """

    def on_message_end(self, message: Any, **kwargs: Any) -> None:
        """The message has ended, or its reply waits.

        Args:
            message: The `Msg`, or None.
            kwargs: See the class.
        """

    def activate(self, run_id: str) -> AbstractContextManager[object]:
        """Return a context for one step of the run.

        It is entered and left for each step of a stream, each time within one task.
        """
        del run_id
        return nullcontext()

    def carrier(self, run_id: str) -> dict[str, str]:
        """Return the data with which a later run, perhaps in another process, links to this one."""
        del run_id
        return {}
