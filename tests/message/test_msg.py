"""Who may say what, and how a message is asked for its parts."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from pydantic import ValidationError

from agentscope_like.message import (
    AssistantMsg,
    Base64Source,
    DataBlock,
    HintBlock,
    Msg,
    SystemMsg,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
    ToolResultBlock,
    UserMsg,
)

BLOCKS: dict[str, Any] = {
    "text": TextBlock(text="hello"),
    "data": DataBlock(source=Base64Source(data="AAAA", media_type="image/png")),
    "thinking": ThinkingBlock(thinking="hm"),
    "hint": HintBlock(hint="by the way"),
    "tool_call": ToolCallBlock(id="c", name="Tool", input="{}"),
    "tool_result": ToolResultBlock(id="c", name="Tool", output="done"),
}
ALLOWED = {
    "user": {"text", "data"},
    "system": {"text"},
    "assistant": set(BLOCKS),
}


@pytest.mark.parametrize(("role", "kind"), list(itertools.product(ALLOWED, BLOCKS)))
def test_each_role_says_what_it_may(role: Any, kind: str) -> None:
    """A user cannot make a call or give its result, nor can the system; the assistant can."""
    fields = {"name": "n", "role": role, "content": [BLOCKS[kind]]}
    if kind in ALLOWED[role]:
        message = Msg(**fields)
        assert Msg.model_validate_json(message.model_dump_json()) == message
    else:
        with pytest.raises(ValidationError, match=f"a {role} message cannot hold"):
            Msg(**fields)


@pytest.mark.parametrize(
    ("build", "role"), [(UserMsg, "user"), (AssistantMsg, "assistant"), (SystemMsg, "system")]
)
def test_the_short_forms_take_text_or_blocks(build: Any, role: str) -> None:
    """Text becomes one text block; what is not given gets its default."""
    short, long = build("n", "hello"), build("n", [BLOCKS["text"]], id="m", metadata={"a": 1})
    assert (short.role, short.get_text_content()) == (role, "hello")
    assert (long.id, long.metadata, long.content) == ("m", {"a": 1}, [BLOCKS["text"]])
    assert short.id != build("n", "hello").id


def test_blocks_are_asked_for_by_kind() -> None:
    """One kind, several, or all; in the order in which they stand."""
    message = AssistantMsg("a", list(BLOCKS.values()))
    assert message.get_content_blocks() == list(BLOCKS.values())
    assert message.get_content_blocks("hint") == [BLOCKS["hint"]]
    assert message.get_content_blocks(["tool_result", "text"]) == [
        BLOCKS["text"],
        BLOCKS["tool_result"],
    ]
    assert message.has_content_blocks(["thinking", "data"])
    assert not AssistantMsg("a", []).has_content_blocks()
    assert AssistantMsg("a", []).get_text_content() is None
    two: list[Any] = [TextBlock(text="a"), TextBlock(text="b")]
    assert AssistantMsg("a", two).get_text_content(", ") == "a, b"


def test_the_list_of_the_caller_is_not_the_message() -> None:
    """Changing the list that a message was made of changes no message."""
    blocks: Any = [TextBlock(text="a")]
    message = AssistantMsg("a", blocks)
    blocks.clear()
    assert message.get_text_content() == "a"


@pytest.mark.parametrize("extra", ["contents", "tool_calls"])
def test_an_unknown_field_is_refused(extra: str) -> None:
    """A misspelt field is an error, not silence."""
    with pytest.raises(ValidationError, match=extra):
        Msg.model_validate({"name": "n", "role": "user", "content": [], extra: []})
