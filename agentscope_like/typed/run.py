"""Runs an executor: its observation, or what it raised, becomes what the model reads."""

from __future__ import annotations

import asyncio
import inspect
import logging
from functools import partial
from typing import Any

from agentscope_like.bridge import call_in_thread
from agentscope_like.exception import (
    AgentOrientedException,
    DeveloperOrientedException,
    ToolInterruptedError,
)
from agentscope_like.message import TextBlock, ToolChunk, ToolResultState
from agentscope_like.typed.action import Action
from agentscope_like.typed.executor import ToolConversation, ToolExecutor
from agentscope_like.typed.observation import OBSERVATION, ErrorObservation, Observation
from agentscope_like.typed.secret_fields import without_values

__all__ = ["ExecutorRun"]

_MOST_KEPT = 20_000
"""Characters of content that the metadata of a result repeats; more is only in the result."""

_log = logging.getLogger(__name__)


class ExecutorRun:
    """Runs the executor of one tool, and closes it.

    Args:
        tool_name: The tool's name, for messages.
        executor: The executor.
        observation_type: The class of its results; None for any observation.
    """

    def __init__(
        self,
        tool_name: str,
        executor: ToolExecutor[Any, Any],
        observation_type: type[Observation] | None,
    ) -> None:
        self.executor = executor
        self._tool_name = tool_name
        self._expected = observation_type or Observation
        work = type(executor).__call__
        self._is_async = inspect.iscoroutinefunction(work)
        self._takes_conversation = _takes_two(work)
        self._is_closed = False

    async def run(self, action: Action, conversation: ToolConversation) -> ToolChunk:
        """Return the observation of the action as a result, its JSON in the metadata.

        Raises:
            DeveloperOrientedException: From the executor.
        """
        try:
            observation = await self._observed(action, conversation)
        except DeveloperOrientedException:
            raise
        except ToolInterruptedError as error:
            hidden = action.__secrets__()
            raise ToolInterruptedError(without_values(error.message, hidden)) from None
        except Exception as error:
            observation = self._failure(error, is_secret=bool(action.__secrets__()))
        if observation.is_error and (hidden := action.__secrets__()):
            observation = _without_secrets(observation, hidden)
        state = ToolResultState.ERROR if observation.is_error else ToolResultState.SUCCESS
        return ToolChunk(
            content=observation.to_llm_content,
            state=state,
            metadata={OBSERVATION: _dumped(observation)},
        )

    async def _observed(self, action: Action, conversation: ToolConversation) -> Observation:
        if self._is_closed:
            raise AgentOrientedException(f"{self._tool_name} was closed: it runs no more calls.")
        given = (action, conversation) if self._takes_conversation else (action,)
        work = partial(self.executor, *given)
        try:
            if self._is_async or self.executor.inline:
                result: Any = work()
            else:
                result = await call_in_thread(work)
            if inspect.isawaitable(result):
                result = await result
        except asyncio.CancelledError:
            self._interrupt()
            raise
        if not isinstance(result, self._expected):
            raise TypeError(
                f"its executor returned {type(result).__name__}, not {self._expected.__name__}"
            )
        observed: Observation = result
        return observed

    def _interrupt(self) -> None:
        try:
            self.executor.interrupt()
        except Exception:
            _log.warning("%s could not be interrupted", self._tool_name, exc_info=True)

    def _failure(self, error: Exception, *, is_secret: bool) -> Observation:
        if isinstance(error, AgentOrientedException):
            text = error.message
        else:
            text = f"{self._tool_name} failed: {type(error).__name__}: {error}".rstrip(": ")
            shown = None if is_secret else error  # a traceback may show their values
            _log.warning("the executor of %s failed", self._tool_name, exc_info=shown)
        return ErrorObservation.from_text(text, is_error=True, tool_name=self._tool_name)

    async def aclose(self) -> None:
        """Close the executor, once, in a thread where that may block."""
        if type(self.executor).close is ToolExecutor.close:
            self._is_closed = True
        else:
            await call_in_thread(self.close)

    def close(self) -> None:
        """Close the executor, once."""
        if not self._is_closed:
            self._is_closed = True
            self.executor.close()


def _dumped(observation: Observation) -> dict[str, Any]:
    """Return the observation as JSON, without content that is too long to be kept twice."""
    size = sum(
        len(block.text if isinstance(block, TextBlock) else getattr(block.source, "data", ""))
        for block in observation.content
    )
    left_out = {"content"} if size > _MOST_KEPT else None
    return observation.model_dump(mode="json", exclude=left_out)


def _takes_two(work: Any) -> bool:
    """Return whether `__call__` takes a conversation besides the action."""
    parameters = list(inspect.signature(work).parameters.values())[1:]
    places = [
        one for one in parameters if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)
    ]
    return len(places) > 1 or any(one.kind is one.VAR_POSITIONAL for one in parameters)


def _without_secrets(observation: Observation, secrets: list[str]) -> Observation:
    content = tuple(
        block.model_copy(update={"text": without_values(block.text, secrets)})
        if isinstance(block, TextBlock)
        else block
        for block in observation.content
    )
    return observation.model_copy(update={"content": content})
