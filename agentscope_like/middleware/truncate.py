"""Truncates tool results to a number of tokens."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from operator import is_
from typing import Any

from typing_extensions import override

from agentscope_like.exception import ConfigurationError
from agentscope_like.message import TextBlock, ToolChunk, ToolResponse, ToolResultState
from agentscope_like.message.block import new_id
from agentscope_like.middleware.base import NextHandler, ToolMiddlewareBase
from agentscope_like.middleware.cut import Block, OutputCutter
from agentscope_like.middleware.output_store import DirectoryOutputStore, OutputStore
from agentscope_like.middleware.tokens import TokenCounter, TokenEstimator

__all__ = ["TOKEN_LIMIT", "LimitedOutput", "TruncateMiddleware", "truncate_response"]

TOKEN_LIMIT = 12_000
"""The maximum number of tokens of one result (seed 000, MAX_TOOL_RESULT_TOKENS)."""

_SAVED_CHARACTERS = 65_536

_SHORT_SHARE = 8
"""A text with this share of the limit in characters has at most half of it in tokens, since a
character has at most four bytes."""


class TruncateMiddleware(ToolMiddlewareBase):
    """Cuts the middle out of results with more than a number of tokens.

    The head is passed on at once, the tail when the tool ends. A notice between them says how much
    is missing and where the full text is stored; other fields of the result are unchanged.

    Args:
        limit: The maximum number of tokens of a result, not counting notices (default 12,000).
        counter: Counts tokens; by default a `TokenEstimator`.
        store: Stores the full text of truncated results; by default a temporary private directory.

    Raises:
        ConfigurationError: The limit is not above zero.
    """

    def __init__(
        self,
        limit: int = TOKEN_LIMIT,
        *,
        counter: TokenCounter | None = None,
        store: OutputStore | None = None,
    ) -> None:
        _check_limit(limit)
        self._limit = limit
        self._counter = counter if counter is not None else TokenEstimator()
        self._store = store if store is not None else DirectoryOutputStore()

    def begin(self) -> LimitedOutput:
        """Return the limiter for the output of one call."""
        return LimitedOutput(self._limit, self._counter, self._store)

    @override
    async def on_tool_call(
        self, tool: Any, input_kwargs: dict[str, Any], next_handler: NextHandler
    ) -> AsyncGenerator[ToolChunk, None]:
        output = self.begin()
        try:
            async with aclosing(next_handler(**input_kwargs)) as stream:
                async for chunk in stream:
                    passed = await output.feed(chunk)
                    if passed is not None:
                        yield passed
        except Exception:
            # What was held back came before the failure, and may explain it.
            if (rest := await output.rest()) is not None:
                yield rest
            raise
        if output.holds_back and (rest := await output.rest()) is not None:
            yield rest


async def truncate_response(
    response: ToolResponse, limit: int, counter: TokenCounter, store: OutputStore
) -> ToolResponse:
    """Return the response, truncated if it has too many tokens.

    Args:
        response: A finished response; it is not changed.
        limit: Most tokens, notices aside.
        counter: Counts them.
        store: Keeps the whole text where it is cut.

    Raises:
        ConfigurationError: The limit is not above zero.
    """
    _check_limit(limit)
    output = LimitedOutput(limit, counter, store)
    shortened = ToolResponse(state=response.state, metadata=response.metadata, id=response.id)
    chunk = ToolChunk(content=response.content)
    for part in (await output.feed(chunk), await output.rest()):
        if part is not None:
            shortened.append_chunk(part)
    return shortened if output.is_changed else response


def _check_limit(limit: int) -> None:
    if limit < 1:
        raise ConfigurationError(f"a result cannot have {limit} tokens at most: give a limit > 0")


class LimitedOutput:
    """One output within a number of tokens, its whole text saved once it is cut.

    Args:
        limit: Most tokens, notices aside.
        counter: Counts them.
        store: Keeps the whole text where it is cut.
        saved_at_end: Whether the store is given the whole at once, when the output has ended.
    """

    def __init__(
        self,
        limit: int,
        counter: TokenCounter,
        store: OutputStore,
        *,
        saved_at_end: bool = False,
    ) -> None:
        self._limit = limit
        self._saved_at_end = saved_at_end
        self._counter = counter
        self._short: list[ToolChunk] = []
        self._short_room = limit // _SHORT_SHARE
        self._begun: OutputCutter | None = None
        self._store = store
        self._key: str | None = None
        self._place: str | None = None
        self._failure: OSError | None = None

    @property
    def _cutter(self) -> OutputCutter:
        if self._begun is None:
            self._begun = OutputCutter(self._limit, self._counter)
            for chunk in self._short:
                for block in chunk.content:
                    self._begun.feed(block)
            self._short.clear()
        return self._begun

    @property
    def is_changed(self) -> bool:
        """Return whether anything was cut or left out."""
        return self._begun is not None and self._begun.is_changed

    @property
    def holds_back(self) -> bool:
        """Return whether something came that has not been passed on."""
        return self._begun is not None and self._begun.is_holding

    def is_short(self, chunk: ToolChunk) -> bool:
        """Return whether the output is so short, this chunk included, that none of it is counted.

        A chunk of which this is true has been taken in, and is passed on as it is.
        """
        if self._begun is not None:
            return False
        for block in chunk.content:
            self._short_room -= len(block.text) if isinstance(block, TextBlock) else self._limit
        if self._short_room < 0:
            return False
        self._short.append(chunk)
        return True

    async def feed(self, chunk: ToolChunk) -> ToolChunk | None:
        """Return what can be passed on of the chunk: all of it as a rule, or None for nothing."""
        cutter = self._cutter
        content: list[Block] = []
        for block in chunk.content:
            content += cutter.feed(block)
        if cutter.unsaved_characters >= _SAVED_CHARACTERS and not self._saved_at_end:
            await self._save()
        is_whole = len(content) == len(chunk.content) and all(map(is_, content, chunk.content))
        if is_whole and not cutter.is_holding:
            return chunk
        says_more = chunk.metadata or chunk.state is not ToolResultState.RUNNING
        if not content and not says_more:
            return None
        return chunk.model_copy(update={"content": content, "is_last": False})

    async def rest(self) -> ToolChunk | None:
        """Return what was held back, with the notice where text was cut; None for nothing."""
        cutter = self._cutter
        await self._save()
        tail = cutter.finish()
        if not cutter.is_over:
            return ToolChunk(content=tail) if tail else None
        metadata = {"cut_characters": cutter.cut_characters, "full_output": self._place}
        return ToolChunk(content=[TextBlock(text=self._notice()), *tail], metadata=metadata)

    async def _save(self) -> None:
        if not self._cutter.is_over:
            return
        text = self._cutter.take_unsaved()
        if self._failure is not None or not text:
            return
        try:
            self._key = self._key or new_id()
            self._place = await self._store.append(self._key, text)
        except OSError as error:
            self._failure = error

    def _notice(self) -> str:
        cutter = self._cutter
        if self._failure is None:
            where = f"the whole output is in {self._place}"
        elif self._place is None:
            where = f"the whole output could not be kept: {self._failure}"
        else:
            where = f"only its first part is in {self._place}: {self._failure}"
        data = f" and {cutter.dropped_data} blocks of data" if cutter.dropped_data else ""
        return (
            f"\n[... {cutter.cut_characters:,} of {cutter.characters:,} characters{data} were cut "
            f"out here, for the limit of {self._limit:,} tokens; {where} ...]\n"
        )
