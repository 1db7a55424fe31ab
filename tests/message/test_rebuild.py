"""Each kind of event, and what it does to the message that it tells of."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Callable
from typing import Any, get_args

import pytest

from agentscope_like import event as events
from agentscope_like.event import AgentEvent, EventType, parse_event
from agentscope_like.message import (
    AssistantMsg,
    Msg,
    TextBlock,
    ToolCallBlock,
    ToolCallState,
    ToolResultBlock,
    ToolResultState,
    Usage,
)
from agentscope_like.permission import PermissionBehavior, PermissionDecision, PermissionRule
from agentscope_like.types import ErrorInfo, ReplyFinishedReason

TIMES: Any = {"created_at": True, "content": {"__all__": {"created_at"}}}
RULE = PermissionRule(tool_name="T", behavior=PermissionBehavior.ALLOW)
ASK = PermissionDecision(PermissionBehavior.ASK, "Sure?", suggested_rules=[RULE])
ASKING = ToolCallBlock(
    id="c",
    name="T",
    input="{}",
    state=ToolCallState.ASKING,
    decision=ASK,
    digest="a-b",
    suggested_rules=[RULE],
)
SUBMITTED = ASKING.model_copy(update={"state": ToolCallState.SUBMITTED})
EDITED = ASKING.model_copy(update={"input": '{"a": 1}', "state": ToolCallState.ALLOWED})
NO, YES = (
    events.ConfirmResult(confirmed=confirmed, tool_call=EDITED) for confirmed in (False, True)
)
RESULT = ToolResultBlock(id="c", name="T", output="x", state=ToolResultState.SUCCESS)


def before() -> Msg:
    """Return a message with a block of each kind that events let grow."""
    message = AssistantMsg("a", [], id="r")
    for event in (
        events.TextBlockStartEvent(reply_id="r", block_id="t"),
        events.ThinkingBlockStartEvent(reply_id="r", block_id="h"),
        events.DataBlockStartEvent(reply_id="r", block_id="d", media_type="image/png"),
        events.ToolCallStartEvent(reply_id="r", tool_call_id="c", tool_call_name="T"),
        events.ToolResultStartEvent(reply_id="r", tool_call_id="o", tool_call_name="T"),
    ):
        message.append_event(event)
    return message


def block(message: Msg, block_id: str, kind: str | None = None) -> Any:
    """Return the last block of this id, and of this kind."""
    return [b for b in message.content if b.id == block_id and kind in (None, b.type)][-1]


def call(message: Msg) -> ToolCallBlock:
    """Return the call."""
    found: ToolCallBlock = block(message, "c", "tool_call")
    return found


def unchanged(message: Msg) -> bool:
    """Return whether the message is as it was."""
    return [b.type for b in message.content] == [b.type for b in before().content] and (
        message.finished_at is None
    )


Case = tuple[AgentEvent, Callable[[Msg], Any]]
CASES: list[Case] = [
    (events.ReplyStartEvent(session_id="s", reply_id="r", name="a"), unchanged),
    (
        events.ReplyEndEvent(
            session_id="s",
            reply_id="r",
            finished_reason=ReplyFinishedReason.ERROR,
            error=ErrorInfo(message="down"),
        ),
        lambda m: (
            m.finished_at and m.finished_reason == "error" and m.error == ErrorInfo(message="down")
        ),
    ),
    (events.ModelCallStartEvent(reply_id="r", model_name="m"), unchanged),
    (
        events.ModelCallEndEvent(reply_id="r", input_tokens=1, output_tokens=2),
        lambda m: unchanged(m) and m.usage == Usage(input_tokens=1, output_tokens=2),
    ),
    (
        events.TextBlockStartEvent(reply_id="r", block_id="new"),
        lambda m: block(m, "new").text == "" and block(m, "new").finished_at is None,
    ),
    (
        events.TextBlockDeltaEvent(reply_id="r", block_id="t", delta="hi"),
        lambda m: block(m, "t").text == "hi",
    ),
    (events.TextBlockEndEvent(reply_id="r", block_id="t"), lambda m: block(m, "t").finished_at),
    (
        events.ThinkingBlockStartEvent(reply_id="r", block_id="new"),
        lambda m: block(m, "new").thinking == "",
    ),
    (
        events.ThinkingBlockDeltaEvent(reply_id="r", block_id="h", delta="hm"),
        lambda m: block(m, "h").thinking == "hm",
    ),
    (events.ThinkingBlockEndEvent(reply_id="r", block_id="h"), lambda m: block(m, "h").finished_at),
    (
        events.DataBlockStartEvent(reply_id="r", block_id="new", media_type="image/gif"),
        lambda m: block(m, "new").source.media_type == "image/gif",
    ),
    (
        events.DataBlockDeltaEvent(reply_id="r", block_id="d", data="AAAA", media_type="image/png"),
        lambda m: block(m, "d").source.data == "AAAA",
    ),
    (events.DataBlockEndEvent(reply_id="r", block_id="d"), lambda m: block(m, "d").finished_at),
    (
        events.HintBlockEvent(reply_id="r", block_id="new", hint="psst", source="me"),
        lambda m: (block(m, "new").hint, block(m, "new").source) == ("psst", "me"),
    ),
    (
        events.ToolCallStartEvent(reply_id="r", tool_call_id="new", tool_call_name="T"),
        lambda m: (block(m, "new").state, block(m, "new").input) == ("pending", ""),
    ),
    (
        events.ToolCallDeltaEvent(reply_id="r", tool_call_id="c", delta="{}"),
        lambda m: call(m).input == "{}",
    ),
    (events.ToolCallEndEvent(reply_id="r", tool_call_id="c"), lambda m: call(m).finished_at),
    (
        events.ToolResultStartEvent(
            reply_id="r", tool_call_id="c", tool_call_name="T", decision=ASK
        ),
        lambda m: (
            call(m).state == "allowed"
            and call(m).decision == ASK
            and block(m, "c", "tool_result").state == "running"
        ),
    ),
    (
        events.ToolResultTextDeltaEvent(reply_id="r", tool_call_id="o", delta="out"),
        lambda m: [b.text for b in block(m, "o").output] == ["out"],
    ),
    (
        events.ToolResultDataDeltaEvent(
            reply_id="r", tool_call_id="o", media_type="image/png", url="https://example.org/a"
        ),
        lambda m: str(block(m, "o").output[0].source.url) == "https://example.org/a",
    ),
    (
        events.ToolResultEndEvent(
            reply_id="r", tool_call_id="o", state=ToolResultState.DENIED, metadata={"a": 1}
        ),
        lambda m: (block(m, "o").state, block(m, "o").metadata) == ("denied", {"a": 1}),
    ),
    (events.ExceedMaxItersEvent(reply_id="r", name="a"), unchanged),
    (
        events.RequireUserConfirmEvent(reply_id="r", tool_calls=[ASKING]),
        lambda m: (
            (call(m).state, call(m).decision, call(m).digest) == ("asking", ASK, "a-b")
            and call(m).suggested_rules == [RULE]
        ),
    ),
    (
        events.RequireExternalExecutionEvent(reply_id="r", tool_calls=[SUBMITTED]),
        lambda m: call(m).state == "submitted",
    ),
    (
        events.UserConfirmResultEvent(reply_id="r", confirm_results=[YES]),
        lambda m: (call(m).input, call(m).state) == (EDITED.input, "allowed"),
    ),
    (
        events.UserConfirmResultEvent(reply_id="r", confirm_results=[NO]),
        lambda m: (call(m).input, call(m).state) == ("", "pending"),
    ),
    (events.UserInterruptEvent(reply_id="r"), unchanged),
    (
        events.ExternalExecutionResultEvent(reply_id="r", execution_results=[RESULT]),
        lambda m: unchanged(m) and call(m).state == "pending",
    ),
    (events.CustomEvent(name="mine", value={"x": [1]}), unchanged),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0].type.value)
def test_each_event_does_what_it_tells(case: Case) -> None:
    """The message grows by what the event says, and the event says it again after JSON."""
    event, holds = case
    again = parse_event(event.model_dump_json())
    assert again == event
    for told in (event, again):
        assert holds(before().append_event(told))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0].type.value)
def test_an_event_of_another_reply_changes_nothing(case: Case) -> None:
    """A message takes in only what was said in its own reply, whatever the ids of the blocks."""
    message, other = before(), case[0].model_copy()
    if not isinstance(other, events.CustomEvent):
        other.reply_id = "another"
    message.append_event(other)
    assert message.model_dump(exclude=TIMES) == before().model_dump(exclude=TIMES)


def test_usage_is_the_sum_of_the_model_calls() -> None:
    """Each call of the model adds to what the message cost; calls that do not say add nothing."""
    message = before()
    for tokens in ((10, 2, 3, 4), (0, 0, 0, 0), (5, 1, 1, 0)):
        message.append_event(
            events.ModelCallEndEvent(
                reply_id="r",
                input_tokens=tokens[0],
                output_tokens=tokens[1],
                cache_input_tokens=tokens[2],
                cache_creation_input_tokens=tokens[3],
            )
        )
    assert message.usage == Usage(
        input_tokens=15, output_tokens=3, cache_input_tokens=4, cache_creation_input_tokens=4
    )
    silent = before().append_event(
        events.ModelCallEndEvent(reply_id="r", input_tokens=0, output_tokens=0)
    )
    assert silent.usage is None


@pytest.mark.parametrize(
    "pieces",
    [
        ["YQ==", "YmM=", "ZGVm"],
        ["YWJj", "ZGVm"],
        ["YW", "JjZG", "Vm"],
        ["", "YWI=", "", "Y2RlZg=="],
    ],
)
def test_data_is_joined_as_bytes(pieces: list[str]) -> None:
    """Pieces that are encoded each by itself, and parts of one text, come to the same bytes."""
    block_message, result_message = before(), before()
    for data in pieces:
        block_message.append_event(
            events.DataBlockDeltaEvent(
                reply_id="r", block_id="d", data=data, media_type="image/png"
            )
        )
        result_message.append_event(
            events.ToolResultDataDeltaEvent(
                reply_id="r", tool_call_id="o", block_id="i", media_type="image/png", data=data
            )
        )
    for source in (block(block_message, "d").source, block(result_message, "o").output[0].source):
        assert b64decode(source.data, validate=True) == b"abcdef"


def test_every_kind_of_event_is_among_these() -> None:
    """No kind is forgotten, here or in the union."""
    assert {event.type for event, _ in CASES} == set(EventType)
    assert {kind.model_fields["type"].default for kind in get_args(AgentEvent)} == set(EventType)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0].type.value)
def test_an_event_about_what_is_not_there_does_no_harm(case: Case) -> None:
    """A message that has missed the beginning of a block takes in the rest without an error."""
    message = AssistantMsg("a", [TextBlock(id="other", text="kept")], id="r")
    message.append_event(case[0])
    assert block(message, "other").text == "kept"
    assert Msg.model_validate_json(message.model_dump_json()) == message


def test_a_result_grows_in_order() -> None:
    """Text follows text; pieces of data of one id are one block; a URL is a block of its own."""
    message = before()
    for delta in ("a", "b"):
        message.append_event(
            events.ToolResultTextDeltaEvent(reply_id="r", tool_call_id="o", delta=delta)
        )
    for data in ("AAAA", "BBBB"):
        message.append_event(
            events.ToolResultDataDeltaEvent(
                reply_id="r", tool_call_id="o", block_id="i", media_type="image/png", data=data
            )
        )
    message.append_event(events.ToolResultTextDeltaEvent(reply_id="r", tool_call_id="o", delta="c"))
    output = block(message, "o").output
    assert [getattr(b, "text", None) or b.source.data for b in output] == ["ab", "AAAABBBB", "c"]


@pytest.mark.parametrize("given", [{}, {"data": "AAAA", "url": "https://example.org"}])
def test_data_comes_from_one_place(given: dict[str, Any]) -> None:
    """A delta with neither data nor a place, or with both, is refused."""
    with pytest.raises(ValueError, match="exactly one"):
        events.ToolResultDataDeltaEvent(
            reply_id="r", tool_call_id="o", media_type="image/png", **given
        )
