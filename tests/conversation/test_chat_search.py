"""`chat.search` finds messages of the run's own chat, within its limits."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agentscope_like.conversation import ChatSearch, InMemoryChat, SQLiteChat
from tests.conversation.kit import Chat, answer_of, error_of, fill

TALK = (
    ("system", "Tell a story."),
    ("user", "Where does the dragon sleep?"),
    ("assistant", "The dragon sleeps in a cave."),
    ("user", "And the knight?"),
)


async def hits_of(chat: Chat, query: str, **arguments: Any) -> list[int]:
    """Return the indexes of the messages that are found, the best first."""
    answer = await answer_of(ChatSearch(chat), query=query, **arguments)
    return [hit["index"] for hit in answer["hits"]]


async def test_tt_57_only_the_chat_of_the_run_is_searched(tmp_path: Path) -> None:
    """Another chat in the same file is not found, and no argument names it."""
    own, other = SQLiteChat("own", tmp_path / "c.db"), SQLiteChat("other", tmp_path / "c.db")
    await fill(own, ("user", "a dragon"))
    await fill(other, ("user", "a secret dragon"))
    assert await hits_of(own, "secret") == []
    assert await hits_of(own, "dragon") == [0]
    code, text = await error_of(ChatSearch(own), query="dragon", chat_id="other")
    assert code is None
    assert "unknown argument 'chat_id'" in text


async def test_tt_58_a_query_is_required_and_not_blank(chat: Chat) -> None:
    """Nothing and blanks are refused; a word is not."""
    await fill(chat, *TALK)
    assert "query" in (await error_of(ChatSearch(chat)))[1]
    assert "query" in (await error_of(ChatSearch(chat), query=""))[1]
    assert (await error_of(ChatSearch(chat), query=" \n"))[0] == "chat.invalid_query"
    assert (await error_of(ChatSearch(chat), query=" ".join(map(str, range(65)))))[0] == (
        "chat.invalid_query"
    )
    assert await hits_of(chat, " cave ") == [2]


@pytest.mark.parametrize("limit", [0, 51, -1])
async def test_tt_59_over_the_limit_is_an_error(chat: Chat, limit: int) -> None:
    """And is not lowered to the limit."""
    code, text = await error_of(ChatSearch(chat), query="dragon", limit=limit)
    assert code is None
    assert "limit" in text


async def test_tt_59_there_are_20_hits_by_default_and_50_at_most(chat: Chat) -> None:
    """Of 60 messages that fit."""
    await fill(chat, *[("user", f"dragon {number}") for number in range(60)])
    assert len(await hits_of(chat, "dragon")) == 20
    assert len(await hits_of(chat, "dragon", limit=50)) == 50
    assert len(await hits_of(chat, "dragon", limit=1)) == 1


async def test_tt_60_messages_of_one_role_are_found(chat: Chat) -> None:
    """Of the three roles, and of no other."""
    await fill(chat, *TALK)
    assert await hits_of(chat, "dragon", role="user") == [1]
    assert await hits_of(chat, "dragon", role="assistant") == [2]
    assert await hits_of(chat, "story", role="system") == [0]
    assert "role" in (await error_of(ChatSearch(chat), query="dragon", role="tool"))[1]


async def test_tt_61_both_ends_are_included(chat: Chat) -> None:
    """Counted from 0; an end after the last message is the last, and one before the start fails."""
    await fill(chat, *[("user", f"dragon {number}") for number in range(6)])
    assert sorted(await hits_of(chat, "dragon", start_message=2, end_message=4)) == [2, 3, 4]
    assert await hits_of(chat, "dragon", start_message=3, end_message=3) == [3]
    assert sorted(await hits_of(chat, "dragon", start_message=4, end_message=99)) == [4, 5]
    assert await hits_of(chat, "dragon", start_message=99) == []
    code, _ = await error_of(ChatSearch(chat), query="dragon", start_message=4, end_message=3)
    assert code == "chat.invalid_message_range"


async def test_tt_62_the_newest_messages_are_looked_at(chat: Chat) -> None:
    """As many as `scan_limit`, those of other roles counted; the result says whether it was all."""
    await fill(chat, *[("user" if n % 2 else "assistant", f"dragon {n}") for n in range(10)])
    tool = ChatSearch(chat)
    assert sorted(await hits_of(chat, "dragon", scan_limit=3)) == [7, 8, 9]
    assert await hits_of(chat, "dragon", scan_limit=3, role="assistant") == [8]
    assert sorted(await hits_of(chat, "dragon", scan_limit=2, end_message=5)) == [4, 5]
    some = await answer_of(tool, query="dragon", scan_limit=9)
    assert (some["scanned"], some["scanned_all"]) == (9, False)
    all_of_them = await answer_of(tool, query="dragon", scan_limit=10)
    assert (all_of_them["scanned"], all_of_them["scanned_all"]) == (10, True)
    for limit in (0, 100_001):
        assert "scan_limit" in (await error_of(tool, query="dragon", scan_limit=limit))[1]
    assert await hits_of(chat, "9", scan_limit=100_000) == [9]


async def test_tt_63_a_hit_has_index_role_snippet_and_reference(chat: Chat) -> None:
    """The snippet has at most 200 characters, and shows the word."""
    await fill(chat, *TALK, ("assistant", "hill " * 100 + "dragon " + "sea " * 100))
    answer = await answer_of(ChatSearch(chat), query="dragon")
    by_index = {hit["index"]: hit for hit in answer["hits"]}
    assert by_index[1]["role"] == "user"
    assert by_index[1]["ref"] == "chat:current#1"
    assert by_index[1]["snippet"] == TALK[1][1]
    assert len(by_index[4]["snippet"]) == 200
    assert "dragon" in by_index[4]["snippet"]


async def test_tt_64_no_hit_is_a_normal_result(chat: Chat) -> None:
    """In a chat of some messages, and in one of none."""
    assert await answer_of(ChatSearch(chat), query="dragon") == {
        "hits": [],
        "scanned": 0,
        "scanned_all": True,
    }
    await fill(chat, *TALK)
    assert await hits_of(chat, "submarine") == []


async def test_the_newest_of_equal_messages_comes_first() -> None:
    """As what was said last is mostly what is meant."""
    chat = InMemoryChat()
    await fill(chat, ("user", "a dragon"), ("user", "a knight"), ("user", "a dragon"))
    assert await hits_of(chat, "dragon") == [2, 0]


async def test_parts_of_words_are_found_where_there_are_no_blanks(chat: Chat) -> None:
    """As in Chinese, Japanese and Thai."""
    await fill(chat, ("user", "龙在山洞里睡觉"), ("user", "東京タワー"), ("user", "สวัสดีครับ"))
    assert await hits_of(chat, "山洞") == [0]
    assert await hits_of(chat, "タワー") == [1]
    assert await hits_of(chat, "ครับ") == [2]
