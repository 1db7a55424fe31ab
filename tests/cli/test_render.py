"""What a person sees of a session."""

from __future__ import annotations

import io

import pytest
from rich.console import Console
from rich.theme import Theme

from agentscope_like.cli.show.edit_diff import diff_lines
from agentscope_like.cli.show.render import LIVE_LINES, Renderer, call_summary
from agentscope_like.cli.show.summary import Tally
from agentscope_like.cli.show.theme import STYLES
from agentscope_like.event import (
    AgentEvent,
    CustomEvent,
    ReplyEndEvent,
    TextBlockDeltaEvent,
    ThinkingBlockDeltaEvent,
    ToolCallDeltaEvent,
    ToolCallEndEvent,
    ToolCallStartEvent,
    ToolResultDataDeltaEvent,
    ToolResultEndEvent,
    ToolResultStartEvent,
    ToolResultTextDeltaEvent,
)
from agentscope_like.message import ToolResultState
from agentscope_like.permission import PermissionBehavior, PermissionDecision
from agentscope_like.tool.builtin.files.text_diff import unified_diff
from agentscope_like.types import ErrorInfo, ReplyFinishedReason
from tests.permission.test_explain import HOSTILE

R = "reply"
MARKUP = "[bold red]markup[/] :smile: https://example.org 12"


def shown(*events: AgentEvent, terminal: bool = False) -> str:
    """Return what a console of 80 columns shows of the events."""
    stream = io.StringIO()
    console = Console(
        file=stream,
        width=80,
        theme=Theme(dict(STYLES)),
        highlight=False,
        markup=False,
        emoji=False,
        force_terminal=terminal,
    )
    renderer = Renderer(console)
    for event in events:
        renderer.show(event)
    return stream.getvalue()


def called(name: str, raw: str, output: str = "", **end: object) -> list[AgentEvent]:
    """Return the events of one call from its announcement to its end."""
    state = ToolResultState(str(end.pop("state", "success")))
    return [
        ToolCallStartEvent(reply_id=R, tool_call_id="c", tool_call_name=name),
        ToolCallDeltaEvent(reply_id=R, tool_call_id="c", delta=raw[: len(raw) // 2]),
        ToolCallDeltaEvent(reply_id=R, tool_call_id="c", delta=raw[len(raw) // 2 :]),
        ToolCallEndEvent(reply_id=R, tool_call_id="c"),
        ToolResultStartEvent(reply_id=R, tool_call_id="c", tool_call_name=name),
        ToolResultTextDeltaEvent(reply_id=R, tool_call_id="c", delta=output),
        ToolResultEndEvent(reply_id=R, tool_call_id="c", state=state, metadata=dict(end)),
    ]


@pytest.mark.parametrize("text", [*HOSTILE, MARKUP])
def test_foreign_text_is_shown_as_text(text: str) -> None:
    """What a model, a call, a tool, a diff or an error says is neither markup nor control."""
    import json

    events: list[AgentEvent] = [
        TextBlockDeltaEvent(reply_id=R, block_id="t", delta=text),
        ThinkingBlockDeltaEvent(reply_id=R, block_id="t", delta=text),
        *called("Bash", json.dumps({"command": text}), text),
        *called(text, json.dumps({text: text}), text),
        *called("Edit", text, "", diff=f"--- a\n+++ {text}\n+{text}\n"),
        ReplyEndEvent(
            session_id="s",
            reply_id=R,
            finished_reason=ReplyFinishedReason.ERROR,
            error=ErrorInfo(message=text),
        ),
    ]
    out = shown(*events)
    assert all(char.isprintable() or char == "\n" for char in out)
    if text is MARKUP:
        assert out.count(MARKUP) >= 6


def test_the_output_of_a_command_is_shown_line_by_line() -> None:
    """Lines appear as soon as they are whole, the last one at the end, each with its mark."""
    events = called("Bash", '{"command": "make"}', "one\ntw")
    assert "| one\n" in shown(*events[:-1])
    assert "| tw" not in shown(*events[:-1])
    assert "  | tw\n  ok Bash make\n" in shown(*events)


def test_long_output_is_cut_and_the_rest_counted() -> None:
    """Of a long output the first lines are shown, and how many more there are."""
    out = shown(*called("Bash", '{"command": "yes"}', "y\n" * (LIVE_LINES + 7)))
    assert out.count("| y\n") == LIVE_LINES
    assert "... 7 more lines" in out


def test_other_tools_show_little_at_their_end() -> None:
    """A tool that is not a command shows the beginning of its result below its ending."""
    out = shown(*called("Read", '{"file_path": "a.py"}', "1\n2\n3\n4\n5\n6\n"))
    assert out.index("ok Read a.py") < out.index("| 1")
    assert "... 2 more lines" in out


def test_an_edit_is_shown_as_a_coloured_diff() -> None:
    """The diff of an edit replaces its text, removed lines in red, added ones in green."""
    diff = "--- a.py\n+++ a.py\n@@ -1 +1 @@\n-old\n+new\n"
    out = shown(*called("Edit", '{"file_path": "a.py"}', "Edited.", diff=diff), terminal=True)
    assert "\x1b[31m-old\x1b[0m" in out
    assert "\x1b[32m+new\x1b[0m" in out
    assert "Edited." not in out


@pytest.mark.parametrize("state", ["success", "error", "denied", "interrupted"])
def test_every_ending_is_named(state: str) -> None:
    """How a call ended is said in a word."""
    words = {"success": "ok", "error": "failed"}
    out = shown(*called("Bash", '{"command": "x"}', "", state=state))
    assert f"  {words.get(state, state)} Bash x" in out


def test_data_is_named_by_type_and_size() -> None:
    """An image in a result is named, not printed."""
    event = ToolResultDataDeltaEvent(
        reply_id=R, tool_call_id="c", media_type="image/png", data="A" * 4000
    )
    assert "[image/png, 3,000 bytes]" in shown(event)


@pytest.mark.parametrize(
    ("raw", "summary"),
    [
        ('{"command": "ls", "timeout": 3}', "ls"),
        ('{"file_path": "a", "content": "b"}', "a"),
        ('{"x": 1, "y": "z"}', "x=1, y='z'"),
        ("{broken", "{broken"),
        ("[1]", "[1]"),
    ],
)
def test_a_call_is_summed_up_by_what_matters(raw: str, summary: str) -> None:
    """The main argument stands for the call; input that is no object stands for itself."""
    assert call_summary(raw) == summary


def test_what_a_file_holds_does_not_look_like_the_head_of_a_diff() -> None:
    """Lines of files are indented, whatever they begin with; only heads stand at the margin."""
    before, after = "-- a/x\nkept\n", "++ b/x\n@@ -1 +1 @@\nkept\n"
    shown = [line.plain for line in diff_lines(unified_diff(before, after, "real\n+++ y"))]
    assert shown[:3] == ["--- real\\n+++ y", "+++ real\\n+++ y", "@@ -1,2 +1,3 @@"]
    assert shown[3:] == ["  --- a/x", "  +++ b/x", "  +@@ -1 +1 @@", "   kept"]


def test_tabs_are_seen_in_a_diff() -> None:
    """A tab is an arrow that reaches to the next stop; blanks are blanks."""
    shown = [line.plain for line in diff_lines(unified_diff("    a\n", "\ta\tb\n", "x"))]
    assert shown[3:] == ["  -    a", "  +→   a→  b"]


def test_a_long_diff_is_cut_and_counted() -> None:
    """A diff shows its first lines and counts the rest; on demand it shows all."""
    diff = "".join(f"+line {number}\n" for number in range(100))
    assert "40 more lines" in diff_lines(diff)[-1].plain
    assert len(diff_lines(diff, most=None)) == 100


def test_the_summary_counts_calls_decisions_prompts_and_time() -> None:
    """The table has a row for each tool and one for all; time is taken from the clock."""
    now = iter([10.0, 12.5])
    tally = Tally(clock=lambda: next(now))
    allowed = PermissionDecision(PermissionBehavior.ALLOW, "yes")
    denied = PermissionDecision(PermissionBehavior.DENY, "no")
    for call_id, decision, state in (
        ("a", allowed, "success"),
        ("b", denied, "denied"),
        ("c", allowed, "error"),
    ):
        tally.take(
            ToolResultStartEvent(
                reply_id=R, tool_call_id=call_id, tool_call_name="Bash", decision=decision
            )
        )
        tally.take(
            ToolResultEndEvent(reply_id=R, tool_call_id=call_id, state=ToolResultState(state))
        )
    assert tally.tools["Bash"] == {
        "calls": 3,
        "allowed": 2,
        "denied": 1,
        "ok": 1,
        "failed": 1,
        "not run": 1,
    }
    assert "2.5 s" in tally.closing_line().plain
    assert tally.table().row_count == 2


def test_a_compression_is_shown_and_its_cost_counted() -> None:
    """The person is told that history was summed up; other custom events say nothing to them."""
    report = {
        "tokens_before": 90_000,
        "tokens_after": 9_000,
        "input_tokens": 80_000,
        "output_tokens": 500,
    }
    event = CustomEvent(name="context_compressed", value=report)
    assert "90,000 tokens became 9,000" in shown(event)
    assert shown(CustomEvent(name="mine", value=1)) == ""
    tally = Tally()
    tally.take(event)
    tally.take(CustomEvent(name="mine", value=1))
    assert dict(tally.tokens) == {"read": 80_000, "written": 500}
