"""What a running tool shows, as an event of its own."""

from __future__ import annotations

from typing import Literal, get_args

import msgspec
from msgspec import Struct

__all__ = ["STREAMS", "ProgressStream", "ToolProgressEvent"]

ProgressStream = Literal["stdout", "stderr", "info"]
"""Which of a tool's streams a text belongs to."""

STREAMS: tuple[ProgressStream, ...] = get_args(ProgressStream)


class ToolProgressEvent(Struct, frozen=True, tag_field="type", tag="tool_progress"):
    """Some of what a tool shows while it runs (seed 000, 12, "Wire format").

    It is for whoever watches: no result, not stored, never sent to the model.

    Attributes:
        tool_call_id: The call that it comes from.
        text: What is new, in whole characters.
        stream: Where the tool said it.
        closed: Whether it is the last of its call; its text is empty then.
        ts: When, in seconds since 1970.
    """

    tool_call_id: str
    text: str
    stream: ProgressStream
    closed: bool
    ts: float

    def to_ndjson(self) -> bytes:
        r"""Return the event as one line of JSON in UTF-8, with its `\n`."""
        return msgspec.json.encode(self) + b"\n"
