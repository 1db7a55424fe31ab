"""Shows the events of a session live."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from time import monotonic
from typing import Any

from rich.console import Console
from rich.status import Status
from rich.text import Text

from agentscope_like.agent.context import COMPRESSED
from agentscope_like.cli.show.edit_diff import diff_lines
from agentscope_like.cli.show.theme import one_line, plain
from agentscope_like.event import (
    AgentEvent,
    CustomEvent,
    ExceedMaxItersEvent,
    ModelCallEndEvent,
    ModelCallStartEvent,
    ReplyEndEvent,
    TextBlockDeltaEvent,
    TextBlockEndEvent,
    TextBlockStartEvent,
    ThinkingBlockDeltaEvent,
    ThinkingBlockEndEvent,
    ThinkingBlockStartEvent,
    ToolCallDeltaEvent,
    ToolCallEndEvent,
    ToolCallStartEvent,
    ToolResultDataDeltaEvent,
    ToolResultEndEvent,
    ToolResultStartEvent,
    ToolResultTextDeltaEvent,
)
from agentscope_like.message import ToolCallBlock, ToolResultState
from agentscope_like.progress import ToolProgressEvent
from agentscope_like.types import ReplyFinishedReason

__all__ = ["LIVE_LINES", "QUIET_LINES", "Renderer", "call_summary"]

LIVE_LINES = 60
"""The maximum number of output lines shown of a command; further lines are only counted."""

QUIET_LINES = 4
"""The maximum number of lines shown of other tools' results."""

SILENCE = 2.0
"""Seconds without output after which it is shown how long a call has been running."""

LONGEST_LINE = 2_000
"""The maximum number of characters shown of an output line."""

_LIVE_TOOLS = ("Bash",)
_MAIN_ARGUMENTS = ("command", "file_path", "pattern", "action", "subject", "task_id")

_ENDINGS = {
    ToolResultState.SUCCESS: ("ok", "proven"),
    ToolResultState.ERROR: ("failed", "error"),
    ToolResultState.DENIED: ("denied", "deny"),
    ToolResultState.INTERRUPTED: ("interrupted", "ask"),
    ToolResultState.RUNNING: ("unfinished", "ask"),
}


def call_summary(raw_input: str) -> str:
    """Return the most telling argument of a call, or the raw text if it is not an object."""
    try:
        arguments = json.loads(raw_input)
    except (ValueError, RecursionError):
        return raw_input
    if not isinstance(arguments, dict):
        return raw_input
    for name in _MAIN_ARGUMENTS:
        if isinstance(arguments.get(name), str):
            return str(arguments[name])
    return ", ".join(f"{name}={value!r}" for name, value in arguments.items())


class _Output:
    """The output of one call, shown line by line up to a limit.

    Args:
        console: Where to show it.
        limit: The maximum number of lines.
    """

    def __init__(self, console: Console, limit: int) -> None:
        self._console = console
        self._limit = limit
        self._rest = ""
        self._lines = 0

    @property
    def is_full(self) -> bool:
        """Return whether no more lines are shown."""
        return self._lines >= self._limit

    def add(self, text: str) -> None:
        """Add output; complete lines are shown at once."""
        *lines, self._rest = (self._rest + text).split("\n")
        for line in lines:
            self._line(line)

    def close(self) -> None:
        """Show an incomplete last line, and the number of lines that were not shown."""
        if self._rest:
            self._line(self._rest)
            self._rest = ""
        if self._lines > self._limit:
            more = self._lines - self._limit
            ending = "line" if more == 1 else "lines"
            self._console.print(Text(f"  | ... {more} more {ending}", "quiet"), soft_wrap=True)

    def _line(self, line: str) -> None:
        self._lines += 1
        if self._lines <= self._limit:
            if len(line) > LONGEST_LINE:
                more = f" ... {len(line) - LONGEST_LINE:,} more characters"
                line = line[:LONGEST_LINE] + more
            shown = one_line(line.removesuffix("\r").expandtabs(8), "output")
            self._console.print(Text("  | ", "quiet") + shown, soft_wrap=True)


@dataclass(slots=True)
class _Call:
    """A call that has not ended.

    Attributes:
        input: Its arguments, as far as the model has written them.
        text: What it returned so far, where that is shown at the end.
        live: Where its output is shown as it comes; None for tools that are shown at the end.
        progress: Where what it shows while it runs is shown, by stream.
        is_running: Whether it has begun, and has not ended.
    """

    name: str
    input: str = ""
    text: str = ""
    live: _Output | None = None
    progress: dict[str, _Output] = field(default_factory=dict)
    is_running: bool = False

    def title(self, width: int) -> Text:
        summary = call_summary(self.input)
        line = one_line(self.name, "call") + Text(" ") + one_line(summary)
        line.truncate(width, overflow="ellipsis")
        return line


class _Elapsed:
    """The time since something began, as of now."""

    def __init__(self, began_at: float) -> None:
        self._began_at = began_at

    def __rich__(self) -> Text:
        """Return the time in words."""
        minutes, seconds = divmod(int(monotonic() - self._began_at), 60)
        shown = f"{minutes} min {seconds} s" if minutes else f"{seconds} s"
        return Text(f"running for {shown}", "quiet")


class Renderer:
    """Shows the events of a session on a console as they happen.

    Text from models, tools and files cannot steer the terminal or imitate a question of the
    program: control characters in it are escaped.

    Args:
        console: Where to show them.
        with_spinner: Whether a terminal shows a spinner while the model works.
    """

    def __init__(self, console: Console, *, with_spinner: bool = True) -> None:
        self.console = console
        self._with_spinner = with_spinner and console.is_terminal
        self._status: Status | None = None
        self._shown_at = self._began_at = monotonic()
        self._calls: dict[str, _Call] = {}
        self._announced: str | None = None
        self._in_line = False
        self._takers: dict[type, Callable[[Any], None]] = {
            ModelCallStartEvent: lambda _: self._think(),
            ModelCallEndEvent: lambda _: None,
            TextBlockStartEvent: lambda _: self._end_line(),
            TextBlockDeltaEvent: lambda event: self._stream(event.delta, ""),
            TextBlockEndEvent: lambda _: self._end_line(),
            ThinkingBlockStartEvent: lambda _: self._end_line(),
            ThinkingBlockDeltaEvent: lambda event: self._stream(event.delta, "think"),
            ThinkingBlockEndEvent: lambda _: self._end_line(),
            ToolCallStartEvent: self._call_start,
            ToolCallDeltaEvent: self._call_delta,
            ToolCallEndEvent: self._call_end,
            ToolResultStartEvent: self._result_start,
            ToolResultTextDeltaEvent: self._result_text,
            ToolResultDataDeltaEvent: self._result_data,
            ToolResultEndEvent: self._result_end,
            CustomEvent: self._custom,
            ExceedMaxItersEvent: lambda _: self.note("the reply has used all its rounds"),
            ReplyEndEvent: self._reply_end,
        }

    def show(self, event: AgentEvent) -> None:
        """Show one event; events that mean nothing to a person are ignored."""
        taker = self._takers.get(type(event))
        if taker is not None:
            self._shown_at = monotonic()
            if not isinstance(event, ModelCallStartEvent | ToolCallDeltaEvent):
                self.pause()
            taker(event)

    def show_progress(self, event: ToolProgressEvent) -> None:
        """Show a tool's progress under its call."""
        call = self._calls.get(event.tool_call_id)
        if call is None:
            return
        self.pause()
        self._shown_at = monotonic()
        self._end_line()
        if event.closed:
            for output in call.progress.values():
                output.close()
            return
        output = call.progress.setdefault(event.stream, _Output(self.console, LIVE_LINES))
        if self._announced != event.tool_call_id and not output.is_full:
            self._announce(event.tool_call_id, call)
        output.add(event.text)

    def recall(self, calls: Iterable[ToolCallBlock]) -> None:
        """Update calls that come from an earlier process or that the person edited."""
        self._announced = None
        for call in calls:
            self._calls[call.id] = _Call(call.name, call.input)

    def tick(self) -> None:
        """Show for how long a call has been running that shows nothing; called now and then."""
        is_running = any(call.is_running for call in self._calls.values())
        is_silent = monotonic() - self._shown_at >= SILENCE
        if self._with_spinner and self._status is None and is_running and is_silent:
            self._end_line()
            self._status = self.console.status(_Elapsed(self._began_at), spinner="dots")
            self._status.start()

    def pause(self) -> None:
        """Stop the spinner before something else is shown or asked."""
        if self._status is not None:
            self._status.stop()
            self._status = None

    def note(self, text: str, style: str = "quiet") -> None:
        """Show a remark of the program itself."""
        self.pause()
        self._end_line()
        self.console.print(one_line(text, style), soft_wrap=True)

    def _custom(self, event: CustomEvent) -> None:
        if event.name == COMPRESSED:
            before, after = event.value["tokens_before"], event.value["tokens_after"]
            self.note(f"the history was summarised: {before:,} tokens became {after:,}")

    def _think(self) -> None:
        self._end_line()
        if self._with_spinner and self._status is None:
            self._status = self.console.status(Text("thinking", "quiet"), spinner="dots")
            self._status.start()

    def _stream(self, text: str, style: str) -> None:
        if text:
            self.console.print(plain(text, style), end="", soft_wrap=True)
            self._in_line = not text.endswith("\n")

    def _end_line(self) -> None:
        if self._in_line:
            self.console.print()
            self._in_line = False

    def _call_start(self, event: ToolCallStartEvent) -> None:
        self._end_line()
        self._calls[event.tool_call_id] = _Call(event.tool_call_name)
        self._think()

    def _call_delta(self, event: ToolCallDeltaEvent) -> None:
        if call := self._calls.get(event.tool_call_id):
            call.input += event.delta

    def _call_end(self, event: ToolCallEndEvent) -> None:
        if call := self._calls.get(event.tool_call_id):
            self._announce(event.tool_call_id, call)

    def _announce(self, call_id: str, call: _Call) -> None:
        self._announced = call_id
        title = call.title(max(self.console.width - 2, 20))
        self.console.print(Text("* ", "key") + title, soft_wrap=True)

    def _result_start(self, event: ToolResultStartEvent) -> None:
        call = self._calls.setdefault(event.tool_call_id, _Call(event.tool_call_name))
        call.is_running, self._began_at = True, monotonic()
        if call.name in _LIVE_TOOLS:
            if self._announced != event.tool_call_id:
                self._announce(event.tool_call_id, call)
            call.live = _Output(self.console, LIVE_LINES)

    def _result_text(self, event: ToolResultTextDeltaEvent) -> None:
        call = self._calls.get(event.tool_call_id)
        if call is None:
            return
        if call.live is not None:
            call.live.add(event.delta)
        else:
            call.text += event.delta

    def _result_data(self, event: ToolResultDataDeltaEvent) -> None:
        size = f", {len(event.data) * 3 // 4:,} bytes" if event.data else ""
        self.console.print(one_line(f"  | [{event.media_type}{size}]", "quiet"), soft_wrap=True)

    def _result_end(self, event: ToolResultEndEvent) -> None:
        call = self._calls.pop(event.tool_call_id, None) or _Call("")
        if call.live is not None:
            call.live.close()
        word, style = _ENDINGS[event.state]
        ending = Text(f"  {word} ", style)
        title = call.title(max(self.console.width - ending.cell_len, 20))
        title.stylize("quiet")
        self.console.print(ending + title, soft_wrap=True)
        self._announced = None
        diff = event.metadata.get("diff")
        if isinstance(diff, str) and diff:
            for line in diff_lines(diff):
                self.console.print(Text("  ") + line, soft_wrap=True)
        elif call.text:
            output = _Output(self.console, QUIET_LINES)
            output.add(call.text)
            output.close()

    def _reply_end(self, event: ReplyEndEvent) -> None:
        self._end_line()
        if event.error is not None:
            self.note(f"The model failed: {event.error.message}", "error")
        elif event.finished_reason is ReplyFinishedReason.INTERRUPTED:
            self.note("interrupted")
