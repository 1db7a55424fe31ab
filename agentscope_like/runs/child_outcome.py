"""Says what became of a child task."""

from __future__ import annotations

from typing import Any

from agentscope_like.message import Msg
from agentscope_like.runs.agent_run import AgentRun
from agentscope_like.runs.outcome import RunState
from agentscope_like.state import ChildTask

__all__ = ["cancelled", "end", "failed", "outcome"]

_MOST_SAID = 8000


def outcome(task: ChildTask, run: AgentRun) -> dict[str, Any] | None:
    """Return the result of a task from its run; None if the run waits."""
    match run.state:
        case RunState.RUNNING | RunState.WAITING:
            return None
        case RunState.CANCELLED:
            return cancelled()
        case RunState.COMPLETED if task.result is not None:
            return task.result
        case RunState.COMPLETED:
            return _unreturned(run.agent.state.reply_message(run.agent.name))
        case _:
            return failed(run.error.message if run.error is not None else "the run failed")


def failed(why: str) -> dict[str, Any]:
    """Return the result of a task that failed."""
    return {"status": "failed", "summary": why[:_MOST_SAID]}


def cancelled() -> dict[str, Any]:
    """Return the result of a task that was cancelled."""
    return {"status": "cancelled", "summary": "The task was cancelled."}


def _unreturned(message: Msg | None) -> dict[str, Any]:
    """Return the result of an agent that answered in a text instead of returning one."""
    text = (message.get_text_content() if message is not None else None) or ""
    warnings = ["The agent did not return this as a result: it is the text that it ended with."]
    if len(text) > _MOST_SAID:
        warnings.append(f"Only the first {_MOST_SAID:,} of {len(text):,} characters are here.")
    return {"status": "completed", "summary": text[:_MOST_SAID], "warnings": warnings}


def end(task: ChildTask, result: dict[str, Any]) -> None:
    """End a task with its result; the state of its agent is dropped."""
    task.result, task.status, task.state = result, result["status"], None
