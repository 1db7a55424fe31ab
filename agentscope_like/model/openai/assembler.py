"""Assembles an answer from the chunks that a chat-completions server streams.

Compatible servers omit different fields, so every field is optional here, and nothing that a server
sends raises an exception.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

from agentscope_like.message import TextBlock, ThinkingBlock, ToolCallBlock
from agentscope_like.message.block import new_id
from agentscope_like.model.openai.clean_text import SurrogateJoiner
from agentscope_like.model.response import ChatResponse, ChatUsage, ResponseBlock

__all__ = ["Assembler"]


@dataclass(slots=True)
class _Call:
    """A call that is coming in; its block is shown from when the tool's name is known."""

    server_id: str
    block: ToolCallBlock
    shown: bool = False


class Assembler:
    """Assembles one answer.

    The objects are typed `Any`, since the library builds them without validating the server's data.

    Args:
        taken_ids: Ids of calls in the conversation. A call without an id, or with the id of another
            call, gets a new one, since results are matched by id.

    Attributes:
        answered: Whether any choice has arrived.
        finish_reason: The server's reason for the end of the answer, None until it ends.
    """

    def __init__(self, taken_ids: set[str]) -> None:
        self.answered = False
        self.finish_reason: str | None = None
        self._id = new_id()
        self._taken = set(taken_ids)
        self._content: list[ResponseBlock] = []
        self._calls: dict[Hashable, _Call] = {}
        self._last_call: _Call | None = None
        self._usage: Any = None
        self._joiners: defaultdict[str, SurrogateJoiner] = defaultdict(SurrogateJoiner)

    def take(self, chunk: Any) -> ChatResponse | None:
        """Add a chunk of a stream, or a whole completion; return its new content, if any."""
        self._usage = getattr(chunk, "usage", None) or self._usage
        new: list[ResponseBlock] = []
        for choice in _listed(chunk, "choices"):
            if getattr(choice, "index", None):
                continue
            self.answered = True
            self.finish_reason = _text(choice, "finish_reason") or self.finish_reason
            if whole := getattr(choice, "message", None):
                new += self._take_message(whole, whole_message=True)
            elif delta := getattr(choice, "delta", None):
                new += self._take_message(delta, whole_message=False)
        return self._piece(new)

    def rest(self) -> ChatResponse | None:
        """Return the content held back, at the end of the stream."""
        new: list[ResponseBlock] = [
            _extended(block, held)
            for block in self._content
            if not isinstance(block, ToolCallBlock) and (held := self._joiners[block.id].flush())
        ]
        for call in self._calls.values():
            held = self._joiners[call.block.id].flush()
            call.block.input += held
            if not call.shown:
                new.append(self._show(call))
            elif held:
                new.append(call.block.model_copy(update={"input": held}))
        return self._piece(new)

    def whole(self, seconds: float) -> ChatResponse:
        """Return the whole answer.

        Args:
            seconds: How long it took.
        """
        return ChatResponse(
            list(self._content),
            is_last=True,
            id=self._id,
            usage=_usage(self._usage, seconds),
            metadata={"finish_reason": self.finish_reason},
        )

    def _piece(self, new: list[ResponseBlock]) -> ChatResponse | None:
        return ChatResponse(new, is_last=False, id=self._id) if new else None

    def _take_message(self, message: Any, *, whole_message: bool) -> list[ResponseBlock]:
        new: list[ResponseBlock] = []
        thinking = _text(message, "reasoning_content") or _text(message, "reasoning")
        if thinking:
            new += self._take_text(ThinkingBlock, thinking)
        if text := _text(message, "content") or _text(message, "refusal"):
            new += self._take_text(TextBlock, text)
        for position, part in enumerate(_listed(message, "tool_calls")):
            index = position if whole_message else getattr(part, "index", None)
            new += self._take_call(part, index)
        return new

    def _take_text(self, kind: type[TextBlock | ThinkingBlock], text: str) -> list[ResponseBlock]:
        last = self._content[-1] if self._content else None
        if not isinstance(last, kind):
            last = TextBlock(text="") if kind is TextBlock else ThinkingBlock(thinking="")
            self._content.append(last)
        text = self._joiners[last.id].feed(text)
        return [_extended(last, text)] if text else []

    def _take_call(self, part: Any, index: Any) -> list[ResponseBlock]:
        function = getattr(part, "function", None)
        name = _text(function, "name")
        call = self._call_of(_text(part, "id"), name, index)
        more = self._joiners[call.block.id].feed(_arguments(function))
        call.block.input += more
        call.block.name = call.block.name or name
        if not call.block.name:
            return []
        if not call.shown:
            return [self._show(call)]
        return [call.block.model_copy(update={"input": more})] if more else []

    def _show(self, call: _Call) -> ToolCallBlock:
        call.shown = True
        return call.block.model_copy()

    def _call_of(self, server_id: str, name: str, index: Any) -> _Call:
        key = _key(server_id, index)
        known = self._calls.get(key) if key is not None else self._last_call
        if known is not None and not _begins_another(known, server_id, name, key):
            self._last_call = known
            return known
        call = _Call(server_id, ToolCallBlock(id=self._fresh_id(server_id), name="", input=""))
        if known is not None and key is not None:
            self._calls[new_id()] = self._calls.pop(key)
        self._calls[new_id() if key is None else key] = call
        self._content.append(call.block)
        self._last_call = call
        return call

    def _fresh_id(self, server_id: str) -> str:
        fresh = server_id if server_id and server_id not in self._taken else f"call_{new_id()}"
        self._taken.add(fresh)
        return fresh


def _key(server_id: str, index: Any) -> Hashable | None:
    """Return the key of a call within an answer: its index, else its id, else None."""
    if isinstance(index, int):
        return index
    return server_id or None


def _begins_another(known: _Call, server_id: str, name: str, key: Hashable | None) -> bool:
    """Return whether a part begins a new call although its index is known (some always send 0).

    Without index or id, a part that names a tool begins a call.
    """
    if key is None:
        return bool(name and known.block.name)
    return bool(name and server_id and server_id != known.server_id)


def _extended(block: ResponseBlock, text: str) -> ResponseBlock:
    if isinstance(block, ThinkingBlock):
        block.thinking += text
        return block.model_copy(update={"thinking": text})
    if isinstance(block, TextBlock):
        block.text += text
        return block.model_copy(update={"text": text})
    return block


def _text(owner: Any, name: str) -> str:
    value = getattr(owner, name, None)
    return value if isinstance(value, str) else ""


def _listed(owner: Any, name: str) -> list[Any]:
    value = getattr(owner, name, None)
    return value if isinstance(value, list) else []


def _arguments(function: Any) -> str:
    value = getattr(function, "arguments", None)
    if value is None or isinstance(value, str):
        return value or ""
    return json.dumps(value, default=str)


def _usage(usage: Any, seconds: float) -> ChatUsage | None:
    if usage is None:
        return None
    details = getattr(usage, "prompt_tokens_details", None)
    cached = _count(details, "cached_tokens") or _count(usage, "prompt_cache_hit_tokens")
    return ChatUsage(
        input_tokens=_count(usage, "prompt_tokens"),
        output_tokens=_count(usage, "completion_tokens"),
        time=seconds,
        cache_creation_input_tokens=_count(usage, "cache_creation_input_tokens"),
        cache_input_tokens=cached,
    )


def _count(owner: Any, name: str) -> int:
    value = getattr(owner, name, None)
    return value if isinstance(value, int) and value > 0 else 0
