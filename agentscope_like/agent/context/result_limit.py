"""Cuts tool results to a number of tokens before they enter the context."""

from __future__ import annotations

from collections.abc import Sequence

from agentscope_like.message import DataBlock, TextBlock, ToolResponse
from agentscope_like.middleware import OutputStore, TokenEstimator, truncate_response
from agentscope_like.middleware.truncate import LimitedOutput

__all__ = ["ResultLimit"]


class ResultLimit:
    """Truncates results of tools that ran here or elsewhere.

    Args:
        limit: The maximum number of tokens of one result, not counting notices.
        store: Keeps the full text of truncated results.
    """

    def __init__(self, limit: int, store: OutputStore) -> None:
        self.limit = limit
        self._counter = TokenEstimator()
        self._store = store

    def begin(self) -> LimitedOutput:
        """Return the limiter for one call whose output comes in chunks."""
        return LimitedOutput(self.limit, self._counter, self._store)

    async def cut(self, response: ToolResponse) -> ToolResponse:
        """Return the response, truncated if it exceeds the limit."""
        return await truncate_response(response, self.limit, self._counter, self._store)

    async def cut_output(
        self, output: str | Sequence[TextBlock | DataBlock]
    ) -> list[TextBlock | DataBlock]:
        """Return the output of a call that ran elsewhere, truncated if it exceeds the limit."""
        blocks: list[TextBlock | DataBlock] = (
            [TextBlock(text=output)] if isinstance(output, str) else list(output)
        )
        return (await self.cut(ToolResponse(content=blocks))).content
