"""Chats in memory and in SQLite files are the same to those who use them."""

from __future__ import annotations

import asyncio
import sqlite3
import stat
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentscope_like.conversation import (
    Commit,
    ConversationError,
    InMemoryChat,
    MessageSearch,
    SQLiteChat,
)
from agentscope_like.exception import ConfigurationError
from agentscope_like.text_search import SearchQueryError
from tests.conversation.kit import Chat, fill

ROLES = st.sampled_from(["user", "assistant", "system"])
WORDS = st.sampled_from(
    [
        *("dragon", "Dragons", "cave", "the", "CAFÉ", "cafe\u0301", "龙在山洞", "山洞", "タワー"),
        *("ｶﾞ", "สวัสดี", "हिन्दी", "->", "\0", "\ud800", "'; --", "%", "_", "\n", "ﷺ", "ß", "İ"),
    ]
)
TEXTS = st.one_of(st.lists(WORDS, max_size=6).map(" ".join), st.text(max_size=12))
SEARCHES = st.builds(
    MessageSearch,
    query=TEXTS,
    limit=st.integers(1, 50),
    role=st.none() | ROLES,
    start=st.integers(0, 9),
    end=st.none() | st.integers(0, 9),
    scan_limit=st.integers(1, 9),
)


async def found_by(chat: Chat, wanted: MessageSearch) -> Any:
    """Return what a search finds, or that it is refused."""
    try:
        return await chat.search(wanted)
    except SearchQueryError as error:
        return str(error)


@given(st.lists(st.tuples(ROLES, TEXTS), max_size=8), st.lists(SEARCHES, min_size=1, max_size=4))
@settings(deadline=None)
def test_both_find_the_same(messages: list[tuple[str, str]], searches: list[MessageSearch]) -> None:
    """The same messages in the same order with the same snippets, of any texts."""

    async def compare(directory: str) -> None:
        chats = (InMemoryChat(), SQLiteChat("c", Path(directory) / "c.db"))
        for chat in chats:
            await fill(chat, *messages)
        for wanted in searches:
            first, second = [await found_by(chat, wanted) for chat in chats]
            assert first == second
        whole = [await chat.read(range(len(messages))) for chat in chats]
        assert whole[0] == whole[1]

    with tempfile.TemporaryDirectory() as directory:
        asyncio.run(compare(directory))


async def test_tt_127_and_128_a_run_has_one_message(chat: Chat) -> None:
    """A commit replaces it, or adds to it exactly; the first one of either kind creates it."""
    await fill(chat, ("user", "Write."))
    await chat.commit("one", mode="append", reason=None, run_id="r1")
    await chat.commit(" two", mode="append", reason="more", run_id="r1")
    await chat.commit("other", mode="replace", reason=None, run_id="r2")
    assert [one.text for one in (await chat.read(range(9))).values()] == [
        "Write.",
        "one two",
        "other",
    ]
    await chat.commit("new", mode="replace", reason="better", run_id="r1")
    message = (await chat.read([1]))[1]
    assert (message.text, message.role, message.run_id) == ("new", "assistant", "r1")
    assert await chat.count() == 3
    assert list(await chat.commits("r1")) == [
        Commit("r1", "append"),
        Commit("r1", "append", "more"),
        Commit("r1", "replace", "better"),
    ]


async def test_a_commit_of_another_kind_changes_nothing(chat: Chat) -> None:
    """Instead of being taken for one of the two that there are."""
    with pytest.raises(ConfigurationError, match="replace or append"):
        await chat.commit("x", mode="prepend", reason=None, run_id="r1")  # type: ignore[arg-type]
    assert await chat.count() == 0
    with pytest.raises(ConfigurationError, match="role"):
        await fill(chat, ("tool", "x"))
    assert await chat.count() == 0


async def test_a_chat_outlives_the_program(tmp_path: Path) -> None:
    """And only its owner can read the file."""
    await fill(SQLiteChat("c", tmp_path / "c.db"), ("user", "Hello"))
    assert (await SQLiteChat("c", tmp_path / "c.db").read([0]))[0].text == "Hello"
    assert stat.S_IMODE((tmp_path / "c.db").stat().st_mode) == 0o600


async def test_commits_at_the_same_time_do_not_lose_each_other(tmp_path: Path) -> None:
    """Whether they are of one run or of several."""
    chats = [SQLiteChat("c", tmp_path / "c.db") for _ in range(4)]
    await asyncio.gather(
        *(
            chat.commit("x", mode="append", reason=None, run_id=f"r{number % 2}")
            for number, chat in enumerate(chats * 4)
        )
    )
    assert [one.text for one in (await chats[0].read(range(9))).values()] == ["x" * 8, "x" * 8]


async def test_a_file_of_another_program_is_refused(tmp_path: Path) -> None:
    """And left as it is."""
    with sqlite3.connect(tmp_path / "c.db") as other:
        other.execute("CREATE TABLE t (x)")
    with pytest.raises(ConversationError, match="another program"):
        await SQLiteChat("c", tmp_path / "c.db").count()
