"""What a handler of trace events is."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

__all__ = ["BaseTraceHandler"]


class BaseTraceHandler:
    """Hears what an agent does; override the events that matter, the others do nothing.

    Events come in pairs: each start is followed by one end or one error of the same kind, whatever
    ends the work (seed 003, 3.2). They are plain functions, called where the agent works: hand on
    what takes long. What a handler raises is logged, and neither the agent nor another handler
    notices.

    Every event carries these keywords, some kinds more; take `**kwargs` for those that you have no
    use for:

    * `run_id`: The same for the start and the end of one run.
    * `parent_run_id`: On a start, the run that it is part of, or None.
    * `links`: On a start, what `carrier` returned for runs that this one takes up.
    * `is_paused`: On an end, whether the run waits for somebody rather than being done.
    """

    def on_chain_start(self, session_id: str, **kwargs: Any) -> None:
        """A session goes on: somebody said something to its outermost agent.

        Args:
            session_id: The session.
            kwargs: See the class.
        """

    def on_chain_end(self, **kwargs: Any) -> None:
        """The session stands still, for it is done or waits."""

    def on_chain_error(self, error: BaseException, **kwargs: Any) -> None:
        """The session was broken off."""

    def on_agent_start(self, session_id: str, agent_name: str, **kwargs: Any) -> None:
        """An agent begins to reply, or goes on with a reply that waited.

        Args:
            session_id: The session.
            agent_name: The agent.
            kwargs: See the class; `reply_id` besides.
        """

    def on_agent_end(self, **kwargs: Any) -> None:
        """The agent ended its reply, or parked it; `finished_reason` says why it ended."""

    def on_agent_error(self, error: BaseException, **kwargs: Any) -> None:
        """The reply failed, or was broken off."""

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
            messages: What it is shown, a `Msg` each.
            step_name: What for, such as `round 2`.
            kwargs: See the class.
        """

    def on_llm_end(self, response: Any, **kwargs: Any) -> None:
        """The model answered.

        Args:
            response: The whole `ChatResponse`.
            kwargs: See the class.
        """

    def on_llm_error(self, error: BaseException, **kwargs: Any) -> None:
        """The model failed, or its answer broke off."""

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
            step_name: Of which round the call is.
            kwargs: See the class; `tool_call_id` and `decision`, a `PermissionDecision` or None,
                besides.
        """

    def on_tool_end(self, output: Any, **kwargs: Any) -> None:
        """The call has ended, or waits; `state` is a `ToolResultState`.

        Args:
            output: The `ToolResponse`; None for a call that did not run here.
            kwargs: See the class.
        """

    def on_tool_error(self, error: BaseException, **kwargs: Any) -> None:
        """The run of the call was broken off."""

    def on_message_start(self, session_id: str, agent_name: str, **kwargs: Any) -> None:
        """An agent begins to write a message, or goes on with it.

        Args:
            session_id: The session.
            agent_name: The agent.
            kwargs: See the class; `message_id` besides.
        """

    def on_message_end(self, message: Any, **kwargs: Any) -> None:
        """The message is written as far as it will be for now.

        Args:
            message: The `Msg`; None where there is none.
            kwargs: See the class.
        """

    def activate(self, run_id: str) -> AbstractContextManager[object]:
        """Return a context in which one step of the run is taken.

        It is entered and left for each step of a stream, in one task each time.
        """
        del run_id
        return nullcontext()

    def carrier(self, run_id: str) -> dict[str, str]:
        """Return what a later run, perhaps in another process, needs to refer to this one."""
        del run_id
        return {}
