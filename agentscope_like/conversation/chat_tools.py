"""Defines `chat.search` and `chat.read_messages`, by which an agent reads its own chat."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import msgspec

from agentscope_like.conversation.history import SNIPPET_CHARACTERS, MessageHistoryStore
from agentscope_like.conversation.messages import ROLES, ChatMessage, ChatRole, MessageSearch
from agentscope_like.conversation.text_range import (
    MOST_PER_CALL,
    MOST_PER_TEXT,
    Range,
    ReadErrors,
    TextPart,
    check_total,
    part_of,
)
from agentscope_like.exception import RecoverableToolError
from agentscope_like.message import ToolChunk
from agentscope_like.middleware import ToolMiddlewareBase
from agentscope_like.text_search import SearchQueryError
from agentscope_like.tool.builtin.own_state_tool import OwnStateTool, json_result

__all__ = ["ChatReadMessages", "ChatSearch"]

DEFAULT_HITS = 20
MOST_HITS = 50
MOST_SCANNED = 100_000
MOST_MESSAGES = 20

_ERRORS = ReadErrors("chat.invalid_message_range", "chat.read_too_large")


class _ChatTool(OwnStateTool):
    """A tool that reads one chat.

    Args:
        chat: The chat of the run; the model cannot name another one.
        middlewares: Layers around `call`.
    """

    allowed_because = "It reads the chat that this run works for."

    def __init__(
        self, chat: MessageHistoryStore, middlewares: Sequence[ToolMiddlewareBase] | None = None
    ) -> None:
        super().__init__(middlewares)
        self._chat = chat


class ChatSearch(_ChatTool):
    """Finds messages of the run's chat by their words (seed 001, "chat.search")."""

    name = "chat.search"
    description = (
        "Find messages of the current chat by words, beginnings of words or, in scripts without "
        "blanks, parts of them. Any word suffices; the best hits come first. Returns indexes, "
        f"roles, references and snippets of at most {SNIPPET_CHARACTERS} characters; read whole "
        "messages with chat_read_messages. No hit is no error."
    )
    input_schema: ClassVar[dict[str, Any]] = {  # type: ignore[misc]
        "type": "object",
        "properties": {
            "query": {"type": "string", "minLength": 1, "description": "The words to find."},
            "limit": {
                "type": "integer",
                "minimum": 1,
                "maximum": MOST_HITS,
                "default": DEFAULT_HITS,
                "description": "The most hits.",
            },
            "role": {"enum": list(ROLES), "description": "Only messages of this role."},
            "start_message": {
                "type": "integer",
                "minimum": 0,
                "description": "The first message to search, from 0.",
            },
            "end_message": {
                "type": "integer",
                "minimum": 0,
                "description": "The last message to search; it is included.",
            },
            "scan_limit": {
                "type": "integer",
                "minimum": 1,
                "maximum": MOST_SCANNED,
                "description": "The most messages to look at, the newest first.",
            },
        },
        "required": ["query"],
    }

    async def call(
        self,
        query: str,
        limit: int = DEFAULT_HITS,
        role: ChatRole | None = None,
        start_message: int = 0,
        end_message: int | None = None,
        scan_limit: int = MOST_SCANNED,
    ) -> ToolChunk:
        """Return the hits, and how many messages were looked at."""
        if end_message is not None and start_message > end_message:
            raise RecoverableToolError(
                _ERRORS.invalid_range,
                f"start_message {start_message:,} is after end_message {end_message:,}: exchange "
                "them.",
            )
        end = None if end_message is None else int(end_message)  # 3.0 is an integer in JSON
        wanted = MessageSearch(
            query, int(limit), role, int(start_message), end, scan_limit=int(scan_limit)
        )
        try:
            found = await self._chat.search(wanted)
        except SearchQueryError as error:
            raise RecoverableToolError("chat.invalid_query", f"{error}.") from error
        hits = [
            {
                "index": hit.index,
                "role": hit.role,
                "ref": _reference(hit.index),
                "snippet": hit.snippet,
                "score": hit.score,
            }
            for hit in found.hits
        ]
        answer = {"hits": hits, "scanned": found.scanned, "scanned_all": found.is_complete}
        return json_result(answer, [_reference(hit.index) for hit in found.hits])


class ChatReadMessages(_ChatTool):
    """Reads messages of the run's chat, or parts of them (seed 001, "chat.read_messages")."""

    name = "chat.read_messages"
    description = (
        "Read messages of the current chat by their index, which counts from 0. A message of more "
        f"than {MOST_PER_TEXT:,} characters is read in parts, by start_char and max_chars; one "
        f"call returns at most {MOST_PER_CALL:,} characters and fails as a whole if it would be "
        "more."
    )
    input_schema: ClassVar[dict[str, Any]] = {  # type: ignore[misc]
        "type": "object",
        "properties": {
            "messages": {
                "type": "array",
                "minItems": 1,
                "maxItems": MOST_MESSAGES,
                "items": {
                    "type": "object",
                    "properties": {
                        "index": {
                            "type": "integer",
                            "minimum": 0,
                            "description": "Which message, from 0.",
                        },
                        "start_char": {
                            "type": "integer",
                            "minimum": 0,
                            "description": "Its first character to read, from 0.",
                        },
                        "max_chars": {
                            "type": "integer",
                            "minimum": 1,
                            "maximum": MOST_PER_TEXT,
                            "description": "The most characters to read of it.",
                        },
                    },
                    "required": ["index"],
                    "additionalProperties": False,
                },
            }
        },
        "required": ["messages"],
    }

    async def call(self, messages: list[dict[str, Any]]) -> ToolChunk:
        """Return the messages in the order in which they were asked for."""
        wanted = msgspec.convert(messages, list[_Wanted], strict=False)
        found = await self._chat.read([one.index for one in wanted])
        for one in wanted:
            if one.index not in found:
                raise RecoverableToolError(
                    "chat.message_not_found",
                    f"There is no message {one.index:,}: the chat has "
                    f"{await self._chat.count():,}, counted from 0.",
                )
        chosen = [found[one.index] for one in wanted]
        parts = [
            part_of(message.text, one, what=f"Message {one.index:,}", errors=_ERRORS)
            for message, one in zip(chosen, wanted, strict=True)
        ]
        check_total(parts, _ERRORS)
        told = [_facts(message, part) for message, part in zip(chosen, parts, strict=True)]
        return json_result({"messages": told}, [_reference(one.index) for one in wanted])


class _Wanted(Range, frozen=True, kw_only=True):
    index: int


def _facts(message: ChatMessage, part: TextPart) -> dict[str, int | str]:
    about = {"index": message.index, "role": message.role, "ref": _reference(message.index)}
    return {**about, **({"name": message.name} if message.name else {}), **part.facts()}


def _reference(index: int) -> str:
    return f"chat:current#{index}"
