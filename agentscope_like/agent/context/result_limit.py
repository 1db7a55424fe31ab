"""Cuts tool results to a number of tokens before they enter the context."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from agentscope_like.agent.offloader import Offloader
from agentscope_like.message import (
    DataBlock,
    TextBlock,
    ToolCallBlock,
    ToolChunk,
    ToolResponse,
    ToolResultBlock,
    ToolResultState,
)
from agentscope_like.middleware import OutputStore, TokenEstimator
from agentscope_like.middleware.truncate import LimitedOutput

__all__ = ["ResultLimit"]


class ResultLimit:
    """Truncates results of tools that ran here or elsewhere.

    Args:
        limit: The maximum number of tokens of one result, not counting notices.
        store: Keeps the full text of truncated results.
        offloader: Keeps it instead of the store.
        session_id: The session, for the offloader.
    """

    def __init__(
        self,
        limit: int,
        store: OutputStore,
        offloader: Offloader | None = None,
        session_id: str = "",
    ) -> None:
        self.limit = limit
        self._counter = TokenEstimator()
        self._store = store
        self._offloader = offloader
        self._session_id = session_id

    def begin(
        self, call: ToolCallBlock, ended: Callable[[], ToolResultState] | None = None
    ) -> LimitedOutput:
        """Return the limiter for one call whose output comes in chunks.

        Args:
            call: The call.
            ended: Returns the state of the result once the output is complete.
        """
        if self._offloader is None:
            return LimitedOutput(self.limit, self._counter, self._store)
        store = _OffloadedResult(self._offloader, self._session_id, call, ended)
        return LimitedOutput(self.limit, self._counter, store, saved_at_end=True)

    async def cut(self, call: ToolCallBlock, response: ToolResponse) -> ToolResponse:
        """Return the response, truncated if it exceeds the limit."""
        output = self.begin(call, lambda: response.state)
        shortened = ToolResponse(state=response.state, metadata=response.metadata, id=response.id)
        for part in (await output.feed(ToolChunk(content=response.content)), await output.rest()):
            if part is not None:
                shortened.append_chunk(part)
        return shortened if output.is_changed else response

    async def cut_output(
        self, call: ToolCallBlock, result: ToolResultBlock
    ) -> list[TextBlock | DataBlock]:
        """Return the output of a call that ran elsewhere, truncated if it exceeds the limit."""
        output = result.output
        blocks: Sequence[TextBlock | DataBlock] = (
            [TextBlock(text=output)] if isinstance(output, str) else output
        )
        response = ToolResponse(content=list(blocks))
        if result.state is not ToolResultState.RUNNING:
            response.state = result.state
        return (await self.cut(call, response)).content


class _OffloadedResult:
    """Hands the whole of one call's result to the offloader."""

    def __init__(
        self,
        offloader: Offloader,
        session_id: str,
        call: ToolCallBlock,
        ended: Callable[[], ToolResultState] | None,
    ) -> None:
        self._offloader = offloader
        self._session_id = session_id
        self._call = call
        self._ended = ended

    async def append(self, key: str, text: str) -> str:
        del key
        result = ToolResultBlock(
            id=self._call.id,
            name=self._call.name,
            output=[TextBlock(text=text)],
            state=ToolResultState.SUCCESS if self._ended is None else self._ended(),
        )
        try:
            return await self._offloader.offload_tool_result(self._session_id, result)
        except Exception as error:
            raise OSError(f"the offloader failed: {type(error).__name__}: {error}") from error
