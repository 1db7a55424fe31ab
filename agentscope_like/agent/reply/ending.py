"""Ends a reply with a reason and its last events."""

from __future__ import annotations

from collections.abc import Iterator

from agentscope_like.agent.config import ReActConfig
from agentscope_like.agent.reply.structured_output import FINISHING_TOOL
from agentscope_like.agent.reply_recorder import ReplyRecorder
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
from agentscope_like.message import HintBlock, TextBlock
from agentscope_like.message.block import new_id
from agentscope_like.permission.text import printable
from agentscope_like.types import ErrorInfo, ErrorType, ReplyFinishedReason

__all__ = ["BROKEN_OFF", "NEVER_RAN", "ReplyEnding"]

BROKEN_OFF = "Interrupted: this call did not finish, or not in sight. Check before repeating it."
NEVER_RAN = "Interrupted: this call did not run."
NOT_RUN = "The response broke off before this call was complete: it did not run."
EMPTY = "Your last response was empty. Answer the user, or call a tool."
EMPTY_AGAIN = "the model's answer was empty twice in a row: try again, or use another model"
MAX_EMPTY_RESPONSES = 2
URGING = (
    f"The answer has to be given as data: call {FINISHING_TOOL} now, with what you have found out."
)
URGING_SOURCE = "structured_output"
NO_OUTPUT = (
    "the model gave no structured output after repeated requests: simplify the schema, or "
    "take another model"
)


class ReplyEnding:
    """Ends the reply of a recorder.

    Args:
        recorder: The reply.
    """

    def __init__(self, recorder: ReplyRecorder) -> None:
        self._recorder = recorder

    @property
    def is_urged(self) -> bool:
        """Return whether the model was told to give the structured output now."""
        schema = self._recorder.state.reply_context.structured_schema
        return schema is not None and self._urgings() > 0

    def before_round(self, config: ReActConfig) -> Iterator[AgentEvent]:
        """End the reply if it has its answer, or has used all its rounds."""
        reply = self._recorder.state.reply_context
        grace = config.structured_output_grace_iters if reply.structured_schema else 0
        if reply.structured_output is not None:
            yield self._end(ReplyFinishedReason.COMPLETED)
        elif reply.final_answer is not None:
            yield from self._say(reply.final_answer)
            yield self._end(ReplyFinishedReason.COMPLETED)
        elif reply.cur_iter >= config.max_iters + grace:
            yield from self.exceeded(config.max_iters)
        elif reply.cur_iter >= config.max_iters and not self.is_urged:
            yield self._hint(URGING, URGING_SOURCE)

    def after_round(
        self, config: ReActConfig, *, has_calls: bool, empty: int
    ) -> Iterator[AgentEvent]:
        """End the reply if the model called no tool and no structured output is missing.

        Args:
            config: Limits how often the model is reminded.
            has_calls: Whether the model called anything.
            empty: How many responses in a row were empty: the first gets a hint.
        """
        if empty >= MAX_EMPTY_RESPONSES:
            yield from self.failed(ModelError(EMPTY_AGAIN, type=ErrorType.UPSTREAM))
        elif empty:
            yield self._hint(EMPTY, "agentscope_like")
        elif has_calls:
            return
        elif self._recorder.state.reply_context.structured_schema is None:
            yield self._end(ReplyFinishedReason.COMPLETED)
        elif self._urgings() >= config.structured_output_grace_iters:
            yield from self.failed(ModelError(NO_OUTPUT, type=ErrorType.UPSTREAM))
        else:
            yield self._hint(URGING, URGING_SOURCE)

    def _urgings(self) -> int:
        return sum(
            isinstance(block, HintBlock) and block.source == URGING_SOURCE
            for block in self._recorder.message.content
        )

    def exceeded(self, rounds: int) -> Iterator[AgentEvent]:
        """End the reply that has used all its rounds."""
        recorder = self._recorder
        yield recorder.take(ExceedMaxItersEvent(reply_id=recorder.reply_id, name=recorder.name))
        yield from self._say(f"I stopped after {rounds} rounds, before the work was done.")
        yield self._end(ReplyFinishedReason.EXCEED_MAX_ITERS)

    def failed(self, error: ModelError) -> Iterator[AgentEvent]:
        """End the reply whose model failed; its incomplete calls never ran."""
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
                structured_output=self._recorder.state.reply_context.structured_output,
            )
        )

    def _say(self, text: str) -> Iterator[AgentEvent]:
        reply_id, block_id, take = self._recorder.reply_id, new_id(), self._recorder.take
        yield take(TextBlockStartEvent(reply_id=reply_id, block_id=block_id))
        yield take(TextBlockDeltaEvent(reply_id=reply_id, block_id=block_id, delta=text))
        yield take(TextBlockEndEvent(reply_id=reply_id, block_id=block_id))

    def _hint(self, text: str, source: str) -> AgentEvent:
        return self._recorder.take(
            HintBlockEvent(
                reply_id=self._recorder.reply_id,
                block_id=new_id(),
                source=source,
                hint=[TextBlock(text=text)],
            )
        )
