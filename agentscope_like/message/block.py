"""Blocks: the parts that a message is made of."""

from __future__ import annotations

import os
import time
from datetime import UTC, datetime
from enum import StrEnum
from functools import lru_cache
from typing import Annotated, Literal

from pydantic import AnyUrl, BaseModel, ConfigDict, Field, StrictBool, field_serializer

from agentscope_like.permission import PermissionDecision, PermissionRule
from agentscope_like.permission.text import Facts, Text

__all__ = [
    "ApplyQuestion",
    "Base64Source",
    "ContentBlock",
    "DataBlock",
    "HintBlock",
    "TextBlock",
    "ThinkingBlock",
    "ToolCallBlock",
    "ToolCallState",
    "ToolResultBlock",
    "ToolResultState",
    "URLSource",
    "new_id",
    "now",
]


def new_id() -> str:
    """Return a new random identifier of 32 hexadecimal digits."""
    return os.urandom(16).hex()


def now() -> str:
    """Return the current time in UTC, ISO 8601."""
    seconds, nanoseconds = divmod(time.time_ns(), 1_000_000_000)
    return f"{_second(seconds)}.{nanoseconds // 1000:06d}+00:00"


@lru_cache(maxsize=1)  # each block has a time, and many are made in one second
def _second(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S")


class _Block(BaseModel):
    model_config = ConfigDict(defer_build=True, extra="forbid")

    id: Text = Field(default_factory=new_id)
    created_at: str = Field(default_factory=now)
    finished_at: str | None = None


class TextBlock(_Block):
    """Plain text."""

    type: Literal["text"] = "text"
    text: Text


class ThinkingBlock(_Block):
    """A model's reasoning; providers may add fields of their own."""

    model_config = ConfigDict(defer_build=True, extra="allow")

    type: Literal["thinking"] = "thinking"
    thinking: Text


class Base64Source(BaseModel):
    """Data held in the block itself."""

    model_config = ConfigDict(defer_build=True, extra="forbid")

    type: Literal["base64"] = "base64"
    data: str
    media_type: str


class URLSource(BaseModel):
    """Data held elsewhere."""

    model_config = ConfigDict(defer_build=True, extra="forbid")

    type: Literal["url"] = "url"
    url: AnyUrl
    media_type: str

    @field_serializer("url")
    def serialize_url(self, url: AnyUrl) -> str:
        """Return the URL as text."""
        return str(url)


class DataBlock(_Block):
    """An image, a sound or a file."""

    type: Literal["data"] = "data"
    source: Annotated[Base64Source | URLSource, Field(discriminator="type")]
    name: Text | None = None


class HintBlock(_Block):
    """Something the runtime tells the model, such as the state of the session."""

    type: Literal["hint"] = "hint"
    hint: Text | list[TextBlock | DataBlock]
    source: Text | None = None
    finished_at: str | None = Field(default_factory=now)


class ToolCallState(StrEnum):
    """How far a call has come."""

    PENDING = "pending"
    ASKING = "asking"
    ALLOWED = "allowed"
    SUBMITTED = "submitted"
    FINISHED = "finished"


class ToolResultState(StrEnum):
    """How a call ended, or RUNNING while it has not."""

    SUCCESS = "success"
    ERROR = "error"
    INTERRUPTED = "interrupted"
    DENIED = "denied"
    RUNNING = "running"


class ApplyQuestion(BaseModel):
    """A question about what a held run would change; a yes applies that and runs nothing.

    Attributes:
        layer: The name of the layer that holds the changes.
        digest: The SHA-256 of the changes that a person is shown.
        title: One line: how many files would change, and of what kind.
        lines: What changes: first what is asked about, then the files.
        output: The end of what the run printed, each line behind a gutter.
        exit_status: The exit status of the run.
    """

    model_config = ConfigDict(defer_build=True, extra="forbid", frozen=True)

    layer: Text
    digest: Text
    title: Text
    lines: tuple[Text, ...] = ()
    output: tuple[Text, ...] = ()
    exit_status: int | None = None

    @property
    def text(self) -> str:
        """Return title, list, output and exit status as one text."""
        parts = [self.title, *self.lines]
        if self.output:
            parts += ["The end of its output:", *self.output]
        return "\n".join([*parts, f"The command ended with status {self.exit_status}."])


class ToolCallBlock(_Block):
    """A model's call of a tool; what makes a parked reply survive a restart is stored here.

    Attributes:
        input: The arguments, as the raw JSON text that the model wrote.
        state: How far the call has come.
        suggested_rules: Rules that would have allowed it, offered with the question.
        decision: What was decided, stored when it was decided; a resume never guesses it anew.
        digest: Digest of tool definition, arguments and basis that the decision was made for.
        approved: Whether a person said yes to it; without that, only a decision lets it run.
        apply: What a person is asked about after the call ran held; None before.
    """

    type: Literal["tool_call"] = "tool_call"
    id: Text
    name: Text
    input: Text
    state: ToolCallState = ToolCallState.PENDING
    suggested_rules: list[PermissionRule] = Field(default_factory=list)
    decision: PermissionDecision | None = None
    digest: str | None = None
    approved: StrictBool = False
    apply: ApplyQuestion | None = None


class ToolResultBlock(_Block):
    """What came of a call."""

    type: Literal["tool_result"] = "tool_result"
    id: Text
    name: Text
    output: Text | list[TextBlock | DataBlock]
    state: ToolResultState = ToolResultState.RUNNING
    metadata: Facts = Field(default_factory=dict)


ContentBlock = TextBlock | ThinkingBlock | HintBlock | ToolCallBlock | ToolResultBlock | DataBlock
