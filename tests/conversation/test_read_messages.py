"""`chat.read_messages` reads messages, or parts of them, and cuts nothing silently."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentscope_like.conversation import ChatReadMessages, InMemoryChat, read_chat_file
from agentscope_like.exception import ConfigurationError
from agentscope_like.message import UserMsg
from tests.conversation.kit import Chat, answer_of, error_of, fill, response_of


async def test_tt_65_messages_count_from_0_and_a_header_is_none(tmp_path: Path) -> None:
    """The first line of a stored chat that has no text is not counted."""
    file = tmp_path / "chat.jsonl"
    file.write_text(
        '{"user_name": "Ada", "chat_metadata": {}}\n'
        '{"name": "Ada", "is_user": true, "mes": "Hello"}\n'
        '{"name": "Bot", "is_user": false, "mes": "Good day"}\n'
        '{"role": "system", "content": "A rule"}\n'
    )
    answer = await answer_of(
        ChatReadMessages(read_chat_file(file)), messages=[{"index": n} for n in range(3)]
    )
    assert [(one["role"], one["text"]) for one in answer["messages"]] == [
        ("user", "Hello"),
        ("assistant", "Good day"),
        ("system", "A rule"),
    ]
    assert answer["messages"][0]["name"] == "Ada"


@pytest.mark.parametrize("line", ["{}", "[]", '{"mes": 1}', '{"role": "tool", "content": ""}', "{"])
def test_a_line_that_is_no_message_is_refused(tmp_path: Path, line: str) -> None:
    """With its number; a header stands in the first line only."""
    file = tmp_path / "chat.jsonl"
    file.write_text('{"mes": "Hello", "is_user": true}\n' + line)
    with pytest.raises(ConfigurationError, match="line 2"):
        read_chat_file(file)


async def test_messages_of_an_agent_become_a_chat() -> None:
    """Those with a text, by their roles."""
    chat = InMemoryChat.of([UserMsg("Ada", "Hello"), UserMsg("Ada", "")])
    answer = await answer_of(ChatReadMessages(chat), messages=[{"index": 0}])
    assert answer["messages"][0]["text"] == "Hello"
    assert await chat.count() == 1


async def test_tt_66_some_messages_are_required(chat: Chat) -> None:
    """Each with an index; a start and a maximum are optional, and nothing else is known."""
    await fill(chat, ("user", "abcdef"))
    tool = ChatReadMessages(chat)
    assert "messages" in (await error_of(tool))[1]
    assert "messages" in (await error_of(tool, messages=[]))[1]
    assert "index" in (await error_of(tool, messages=[{"start_char": 0}]))[1]
    _, text = await error_of(tool, messages=[{"index": 0, "startchar": 1}])
    assert "unknown argument 'startchar' of messages.0; did you mean 'start_char'" in text
    (one,) = (await answer_of(tool, messages=[{"index": 0, "start_char": 2, "max_chars": 3}]))[
        "messages"
    ]
    assert (one["text"], one["start_char"], one["end_char"], one["total_chars"]) == ("cde", 2, 5, 6)
    (rest,) = (await answer_of(tool, messages=[{"index": 0, "start_char": 4}]))["messages"]
    assert rest["text"] == "ef"


async def test_tt_67_one_call_reads_20_messages(chat: Chat) -> None:
    """And not 21."""
    await fill(chat, *[("user", f"message {number}") for number in range(21)])
    tool = ChatReadMessages(chat)
    assert (
        len((await answer_of(tool, messages=[{"index": n} for n in range(20)]))["messages"]) == 20
    )
    assert "20" in (await error_of(tool, messages=[{"index": n} for n in range(21)]))[1]


@pytest.mark.parametrize("letter", ["a", "é", "龍", "😀"])
async def test_tt_68_a_whole_message_has_8000_characters(chat: Chat, letter: str) -> None:
    """Counted as characters, whatever their bytes; one more is refused, and told how to read."""
    await fill(chat, ("user", letter * 8_000), ("user", letter * 8_001))
    tool = ChatReadMessages(chat)
    (whole,) = (await answer_of(tool, messages=[{"index": 0}]))["messages"]
    assert whole["text"] == letter * 8_000
    code, text = await error_of(tool, messages=[{"index": 1}])
    assert code == "chat.read_too_large"
    assert "max_chars" in text


async def test_tt_69_a_part_has_8000_characters(chat: Chat) -> None:
    """And one to the end of the message has no more."""
    await fill(chat, ("user", "a" * 10_000))
    tool = ChatReadMessages(chat)
    (part,) = (await answer_of(tool, messages=[{"index": 0, "max_chars": 8_000}]))["messages"]
    assert len(part["text"]) == 8_000
    (rest,) = (await answer_of(tool, messages=[{"index": 0, "start_char": 2_000}]))["messages"]
    assert len(rest["text"]) == 8_000
    assert "max_chars" in (await error_of(tool, messages=[{"index": 0, "max_chars": 8_001}]))[1]
    code, _ = await error_of(tool, messages=[{"index": 0, "start_char": 1_999}])
    assert code == "chat.read_too_large"


async def test_tt_70_over_20000_characters_the_whole_call_fails(chat: Chat) -> None:
    """And none of its messages is returned; 20,000 are."""
    await fill(chat, ("user", "a" * 8_000), ("user", "b" * 8_000), ("user", "c" * 4_001))
    tool = ChatReadMessages(chat)
    code, text = await error_of(tool, messages=[{"index": 0}, {"index": 1}, {"index": 2}])
    assert code == "chat.read_too_large"
    assert "aaa" not in text
    wanted = [{"index": 0}, {"index": 1}, {"index": 2, "max_chars": 4_000}]
    assert sum(
        len(one["text"]) for one in (await answer_of(tool, messages=wanted))["messages"]
    ) == (20_000)


async def test_tt_71_what_a_chat_does_not_have_is_a_recoverable_error(chat: Chat) -> None:
    """A missing message, and a part behind the end; the last character is still there."""
    await fill(chat, ("user", "abc"), ("user", ""))
    tool = ChatReadMessages(chat)
    for index in (2, 10**30):
        code, text = await error_of(tool, messages=[{"index": 0}, {"index": index}])
        assert code == "chat.message_not_found"
        assert "has 2" in text
    assert "index" in (await error_of(tool, messages=[{"index": -1}]))[1]
    code, _ = await error_of(tool, messages=[{"index": 0, "start_char": 3}])
    assert code == "chat.invalid_message_range"
    (last,) = (await answer_of(tool, messages=[{"index": 0, "start_char": 2.0}]))["messages"]
    assert last["text"] == "c"
    (nothing,) = (await answer_of(tool, messages=[{"index": 1, "start_char": 0}]))["messages"]
    assert nothing["text"] == ""


async def test_a_result_names_what_was_read(chat: Chat) -> None:
    """So that it can be found again where its text is dropped."""
    await fill(chat, ("user", "abc"))
    response = await response_of(ChatReadMessages(chat), messages=[{"index": 0}])
    assert response.metadata["resource_refs"] == ["chat:current#0"]
