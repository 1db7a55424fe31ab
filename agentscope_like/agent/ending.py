"""How a reply ends, and what is said then."""

from __future__ import annotations

from collections.abc import Iterator

from agentscope_like.agent.recorder import ReplyRecorder
from agentscope_like.event import (
    AgentEvent,
    ExceedMaxItersEvent,
    HintBlockEvent,
    ReplyEndEvent,
    TextBlockDeltaEvent,
    TextBlockEndEvent,
    TextBlockStartEvent,
)
from agentscope_like.exception import ModelError
from agentscope_like.message import TextBlock
from agentscope_like.message.block import new_id
from agentscope_like.permission.text import printable
from agentscope_like.types import ErrorInfo, ErrorType, ReplyFinishedReason

__all__ = ["BROKEN_OFF", "NEVER_RAN", "ReplyEnding"]

BROKEN_OFF = "Interrupted: this call did not finish, or not in sight. Check before repeating it."
NEVER_RAN = "Interrupted: this call did not run."
NOT_RUN = "The response broke off before this call was complete: it did not run."
EMPTY = "Your last response was empty. Answer the user, or call a tool."
EMPTY_AGAIN = "the model answered with nothing, twice in a row: try again, or take another model"
MAX_EMPTY_RESPONSES = 2


class ReplyEnding:
    """Ends the reply of a recorder.

    Args:
        recorder: The reply.
    """

    def __init__(self, recorder: ReplyRecorder) -> None:
        self._recorder = recorder

    def after_round(self, has_calls: bool, empty_responses: int) -> Iterator[AgentEvent]:
        """End the reply where the model called nothing; one empty response is pointed out first."""
        if empty_responses >= MAX_EMPTY_RESPONSES:
            yield from self.failed(ModelError(EMPTY_AGAIN, type=ErrorType.UPSTREAM))
        elif empty_responses:
            yield self._hint(EMPTY)
        elif not has_calls:
            yield self._end(ReplyFinishedReason.COMPLETED)

    def exceeded(self, rounds: int) -> Iterator[AgentEvent]:
        """End the reply that took all its rounds."""
        recorder = self._recorder
        yield recorder.take(ExceedMaxItersEvent(reply_id=recorder.reply_id, name=recorder.name))
        yield from self._say(f"I stopped after {rounds} rounds, before the work was done.")
        yield self._end(ReplyFinishedReason.EXCEED_MAX_ITERS)

    def failed(self, error: ModelError) -> Iterator[AgentEvent]:
        """End the reply whose model failed; calls that it left unfinished never ran."""
        yield from self._recorder.interrupt_open_calls(BROKEN_OFF, NOT_RUN)
        info = ErrorInfo(type=error.type, message=printable(error.message))
        yield self._end(ReplyFinishedReason.ERROR, info)

    def interrupted(self, message: str) -> Iterator[AgentEvent]:
        """End the reply that was interrupted, with its open calls, and say `message`."""
        yield from self._recorder.interrupt_open_calls(BROKEN_OFF, NEVER_RAN)
        yield from self._say(message)
        yield self._end(ReplyFinishedReason.INTERRUPTED)

    def _end(self, reason: ReplyFinishedReason, error: ErrorInfo | None = None) -> ReplyEndEvent:
        return self._recorder.take(
            ReplyEndEvent(
                session_id=self._recorder.state.session_id,
                reply_id=self._recorder.reply_id,
                finished_reason=reason,
                error=error,
            )
        )

    def _say(self, text: str) -> Iterator[AgentEvent]:
        reply_id, block_id, take = self._recorder.reply_id, new_id(), self._recorder.take
        yield take(TextBlockStartEvent(reply_id=reply_id, block_id=block_id))
        yield take(TextBlockDeltaEvent(reply_id=reply_id, block_id=block_id, delta=text))
        yield take(TextBlockEndEvent(reply_id=reply_id, block_id=block_id))

    def _hint(self, text: str) -> AgentEvent:
        return self._recorder.take(
            HintBlockEvent(
                reply_id=self._recorder.reply_id,
                block_id=new_id(),
                source="agentscope_like",
                hint=[TextBlock(text=text)],
            )
        )
