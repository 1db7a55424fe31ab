"""Formats messages for the chat-completions API.

The API requires exactly one `tool` message for each call after an assistant message that calls
tools. An assistant `Msg` holds the calls and results of many rounds, some of them waiting or
interrupted; this module always makes a valid history of them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Sequence
from typing import Any, TypeAlias

from agentscope_like.message import (
    ContentBlock,
    DataBlock,
    HintBlock,
    Msg,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
    ToolResultBlock,
    ToolResultState,
)
from agentscope_like.model.openai.attachment import describe, to_part
from agentscope_like.model.openai.clean_text import clean_all

__all__ = ["INTERRUPTED", "format_messages"]

INTERRUPTED = "[interrupted: this call did not finish; what it did until then is not known]"
"""The placeholder for the result of a call that has none."""

NO_OUTPUT = "[no output]"

_ILLEGAL_IN_NAME = re.compile(r"[^A-Za-z0-9_-]")
_LONGEST_NAME = 64

Entry: TypeAlias = dict[str, Any]
"""One message of the API: JSON of any shape."""


def format_messages(
    messages: Sequence[Msg], *, tool_names: Collection[str] = (), send_thinking: bool = False
) -> list[Entry]:
    """Return the messages in the format of the chat-completions API.

    * Each round becomes one assistant message with its text and calls, then one `tool` message for
      each call, in order. A call without a final result gets a placeholder that says so.
    * A hint becomes a user message. Images and files in a tool's result follow as a user message,
      since a `tool` message can hold only text.
    * Arguments that are not a JSON object are wrapped into one, and tool names are spelled with
      legal characters: one mistake of the model must not make every later request invalid.
    * Lone surrogates are replaced.

    Args:
        messages: The conversation, oldest first.
        tool_names: Tool names in the request, which are therefore legal.
        send_thinking: Whether reasoning is sent back, as `reasoning_content`; some servers require
            it, others refuse it.
    """
    history = _History(_pair(messages), frozenset(tool_names), send_thinking)
    for message in messages:
        if message.role == "assistant":
            for block in message.content:
                history.add(block)
            history.end_round()
        else:
            history.tell(message.role, _parts(message.content))
    cleaned: list[Entry] = clean_all(history.entries)
    return cleaned


def _pair(messages: Iterable[Msg]) -> dict[int, ToolResultBlock]:
    """Return the result of each call by the call's `id()`.

    A result belongs to the latest earlier call with its id: some servers reuse ids in every round.
    """
    latest: dict[str, ToolCallBlock] = {}
    results: dict[int, ToolResultBlock] = {}
    for message in messages:
        for block in message.content:
            if isinstance(block, ToolCallBlock):
                latest[block.id] = block
            elif isinstance(block, ToolResultBlock) and block.id in latest:
                results[id(latest[block.id])] = block
    return results


class _History:
    """Builds the entries; a round is the model's output between two sets of results."""

    def __init__(
        self,
        results: dict[int, ToolResultBlock],
        tool_names: frozenset[str],
        send_thinking: bool,
    ) -> None:
        self.entries: list[Entry] = []
        self._results = results
        self._tool_names = tool_names
        self._send_thinking = send_thinking
        self._called: set[str] = set()
        self._begin_round()

    def _begin_round(self) -> None:
        self._texts: list[str] = []
        self._thoughts: list[str] = []
        self._calls: list[ToolCallBlock] = []
        self._answered = False

    def add(self, block: ContentBlock) -> None:
        if isinstance(block, ToolResultBlock):
            self._add_result(block)
            return
        if isinstance(block, HintBlock):
            self.end_round()
            hint = [TextBlock(text=block.hint)] if isinstance(block.hint, str) else block.hint
            self.tell("user", _parts(hint))
            return
        if self._answered:
            self.end_round()
        if isinstance(block, ToolCallBlock):
            self._calls.append(block)
            self._called.add(block.id)
        elif isinstance(block, ThinkingBlock):
            self._thoughts.append(block.thinking)
        else:
            self._texts.append(describe(block) if isinstance(block, DataBlock) else block.text)

    def _add_result(self, block: ToolResultBlock) -> None:
        if block.id in self._called:
            self._answered = True
        else:
            # Its call was summed up and removed: a `tool` message without it would be refused.
            self.end_round()
            text, _ = _result_content(block)
            self._texts.append(f"[Result of an earlier call of {block.name}]\n{text}")
            self.end_round()

    def end_round(self) -> None:
        texts, thoughts, calls = self._texts, self._thoughts, self._calls
        self._begin_round()
        if not texts and not calls:
            return
        entry: Entry = {"role": "assistant", "content": "\n".join(texts) or None}
        if self._send_thinking and thoughts:
            entry["reasoning_content"] = "\n".join(thoughts)
        if calls:
            entry["tool_calls"] = [self._call(call) for call in calls]
        self.entries.append(entry)
        attached: list[Entry] = []
        for call in calls:
            result = self._results.get(id(call))
            text, data = (INTERRUPTED, []) if result is None else _result_content(result)
            self.entries.append({"role": "tool", "tool_call_id": call.id, "content": text})
            if data:
                label = f"[Data in the result of the call {call.id} of {call.name}:]"
                attached += [_text_part(label), *map(to_part, data)]
        if attached:
            self.tell("user", attached)

    def tell(self, role: str, parts: list[Entry]) -> None:
        """Add a message of the user or the system; adjacent user messages are merged."""
        if not parts:
            return
        last = self.entries[-1] if self.entries else None
        if role == "user" and last is not None and last["role"] == "user":
            parts = [*_as_parts(last["content"]), *parts]
            self.entries.pop()
        if all(part["type"] == "text" for part in parts):
            self.entries.append({"role": role, "content": "\n".join(p["text"] for p in parts)})
        else:
            self.entries.append({"role": role, "content": parts})

    def _call(self, call: ToolCallBlock) -> Entry:
        function = {"name": self._legal_name(call.name), "arguments": _arguments(call.input)}
        return {"id": call.id, "type": "function", "function": function}

    def _legal_name(self, name: str) -> str:
        if name in self._tool_names:
            return name
        return _ILLEGAL_IN_NAME.sub("_", name)[:_LONGEST_NAME] or "unnamed"


def _result_content(result: ToolResultBlock) -> tuple[str, list[DataBlock]]:
    output = result.output
    blocks = [TextBlock(text=output)] if isinstance(output, str) else output
    data = [block for block in blocks if isinstance(block, DataBlock)]
    texts = [describe(block) if isinstance(block, DataBlock) else block.text for block in blocks]
    if result.state is ToolResultState.RUNNING:
        texts.append(INTERRUPTED)
    return "\n".join(text for text in texts if text) or NO_OUTPUT, data


def _parts(content: Iterable[ContentBlock]) -> list[Entry]:
    parts = []
    for block in content:
        if isinstance(block, TextBlock):
            parts.append(_text_part(block.text))
        elif isinstance(block, DataBlock):
            parts.append(to_part(block))
    return parts


def _as_parts(content: str | list[Entry]) -> list[Entry]:
    return [_text_part(content)] if isinstance(content, str) else content


def _text_part(text: str) -> Entry:
    return {"type": "text", "text": text}


def _arguments(raw: str) -> str:
    if not raw.strip():
        return "{}"
    try:
        parsed = json.loads(raw)
    except (ValueError, RecursionError):
        parsed = None
    return raw if isinstance(parsed, dict) else json.dumps({"malformed_arguments": raw})
