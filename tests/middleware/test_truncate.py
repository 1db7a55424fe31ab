"""Keeping results within a number of tokens."""

from __future__ import annotations

import asyncio
import os
import stat
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentscope_like.exception import ConfigurationError
from agentscope_like.message import (
    Base64Source,
    DataBlock,
    TextBlock,
    ToolChunk,
    ToolResponse,
    ToolResultState,
)
from agentscope_like.middleware import (
    DirectoryOutputStore,
    TokenEstimator,
    TruncateMiddleware,
    truncate_response,
)
from agentscope_like.middleware.cut import IMAGE_TOKENS
from agentscope_like.middleware.tokens import head_of, tail_of
from tests.middleware.kit import Scripted, Step, heard, result_of, text_chunk, text_of

COUNTER = TokenEstimator()
NOTICE = "characters were cut out here"


class MemoryStore:
    """Keeps outputs in memory."""

    def __init__(self, failure: OSError | None = None) -> None:
        self.texts: dict[str, str] = {}
        self.failure = failure
        self.fails_after = 0

    async def append(self, key: str, text: str) -> str:
        if self.failure is not None and len(self.texts) >= self.fails_after:
            raise self.failure
        self.texts[key] = self.texts.get(key, "") + text
        return f"/kept/{key}"

    @property
    def text(self) -> str:
        (text,) = self.texts.values()
        return text


class Words:
    """Counts words."""

    def count(self, text: str) -> int:
        return len(text.split())


def lines(n: int) -> str:
    return "".join(f"line {i}\n" for i in range(n))


def data(size: int, media_type: str = "application/pdf") -> DataBlock:
    return DataBlock(source=Base64Source(data="A" * size, media_type=media_type), name="a file")


def text_in(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def touched(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8")


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def files_of(path: Path) -> list[Path]:
    return list(path.iterdir()) if path.exists() else []


# Counting


@pytest.mark.parametrize(("text", "tokens"), [("", 0), ("a", 1), ("abcd", 1), ("abcde", 2)])
def test_the_estimate_is_a_quarter_of_the_bytes(text: str, tokens: int) -> None:
    """Rounded up; scripts that need more bytes count for more."""
    assert COUNTER.count(text) == tokens
    assert COUNTER.count("漢字漢字") == 3


@given(st.text(max_size=300), st.integers(0, 100), st.sampled_from([COUNTER, Words()]))
def test_head_and_tail_are_the_longest_that_fit(text: str, budget: int, counter: Any) -> None:
    """Neither has more tokens than the budget, nor one character less than it could."""
    head, tail = head_of(text, budget, counter), tail_of(text, budget, counter)
    assert text.startswith(head)
    assert text.endswith(tail)
    assert counter.count(head) <= budget
    assert counter.count(tail) <= budget
    if len(head) < len(text):
        assert counter.count(text[: len(head) + 1]) > budget
        assert counter.count(text[len(text) - len(tail) - 1 :]) > budget


# Streams


@pytest.mark.parametrize("size", [1, 7, 100, 10**6])
async def test_what_is_within_the_limit_comes_through_whole(size: int) -> None:
    """However the text is cut into chunks, nothing of it changes and nothing is stored."""
    text, store = lines(400), MemoryStore()
    chunks = [text[i : i + size] for i in range(0, len(text), size)]
    limit = COUNTER.count(text)
    tool = Scripted(chunks, middlewares=[TruncateMiddleware(limit, store=store)])
    assert text_of(await result_of(tool)) == text
    assert store.texts == {}


@pytest.mark.parametrize(("tokens", "is_cut"), [(12_000, False), (12_001, True)])
async def test_the_limit_is_12_000_tokens_unless_said_otherwise(tokens: int, is_cut: bool) -> None:
    """A result of the limit is whole, and one token more is cut."""
    text, store = "four" * tokens, MemoryStore()
    tool = Scripted([text], middlewares=[TruncateMiddleware(store=store)])
    shown = text_of(await result_of(tool))
    assert (shown != text, bool(store.texts)) == (is_cut, is_cut)


@pytest.mark.parametrize("size", [1, 7, 100, 10**6])
async def test_what_is_over_the_limit_keeps_head_and_tail(size: int) -> None:
    """Whole lines of the beginning and the end, a notice between, the whole on disk."""
    text, store = lines(5_000), MemoryStore()
    chunks = [text[i : i + size] for i in range(0, len(text), size)]
    tool = Scripted(chunks, middlewares=[TruncateMiddleware(1_000, store=store)])
    response = await result_of(tool)
    shown = text_of(response)
    head, notice, tail = shown.partition("\n[... ")[0], *shown.rpartition(" ...]\n")[::2]
    assert text.startswith(head)
    assert text.endswith(tail)
    assert tail.startswith("line ")
    assert NOTICE in notice
    assert store.text == text
    assert "/kept/" in notice
    assert 900 <= COUNTER.count(head) + COUNTER.count(tail) <= 1_000
    cut = response.metadata["cut_characters"]
    assert cut == len(text) - len(head) - len(tail)
    assert f"{cut:,} of {len(text):,} characters" in notice


async def test_the_head_is_passed_on_as_it_comes() -> None:
    """Chunks go through untouched until half of the limit is spent, then only the end speaks."""
    chunks = [text_chunk("word " * 20) for _ in range(40)]
    tool = Scripted(chunks, middlewares=[TruncateMiddleware(200, store=MemoryStore())])
    got = await heard(tool)
    assert got[:4] == chunks[:4]
    assert len(got) == 5
    assert NOTICE in text_of(ToolResponse().append_chunk(got[-1]))


async def test_states_and_facts_pass_though_text_is_held() -> None:
    """Only content is cut: state and metadata of every chunk arrive."""
    long = "x" * 4_000
    script = [
        ToolChunk(content=[TextBlock(text=long)], metadata={"a": 1}),
        ToolChunk(content=[TextBlock(text=long)], metadata={"b": 2}, state=ToolResultState.ERROR),
    ]
    tool = Scripted(script, middlewares=[TruncateMiddleware(100, store=MemoryStore())])
    got = await heard(tool)
    assert [chunk.is_last for chunk in got] == [False, False, True]
    response = ToolResponse()
    for chunk in got:
        response.append_chunk(chunk)
    assert response.state is ToolResultState.ERROR
    assert response.metadata["a"] + response.metadata["b"] == 3


async def test_a_failure_comes_after_what_was_held() -> None:
    """The last words before an exception are not lost."""
    tool = Scripted(
        ["a" * 300, "last words", OSError("boom")],
        middlewares=[TruncateMiddleware(100, store=MemoryStore())],
    )
    response = ToolResponse()

    async def listen() -> None:
        async for chunk in tool():
            response.append_chunk(chunk)

    with pytest.raises(OSError, match="boom"):
        await listen()
    assert text_of(response) == "a" * 300 + "last words"


# Data


async def test_an_image_counts_for_a_fixed_number_of_tokens() -> None:
    """A picture of any size in bytes fits where its tokens do."""
    image = data(500_000, "image/png")
    tool = Scripted([ToolChunk(content=[image])], middlewares=[TruncateMiddleware()])
    assert (await result_of(tool)).content == [image]
    small = TruncateMiddleware(IMAGE_TOKENS - 1, store=MemoryStore())
    response = await result_of(Scripted([ToolChunk(content=[image])], middlewares=[small]))
    assert text_of(response) == "\n[left out, too large: a file (image/png, 375,000 bytes)]\n"


async def test_data_that_does_not_fit_is_left_out_with_a_note() -> None:
    """Text around it stays whole."""
    store = MemoryStore()
    script = [
        ToolChunk(content=[TextBlock(text="before"), data(10_000), TextBlock(text="after")]),
        ToolChunk(content=[data(100)]),
    ]
    tool = Scripted(script, middlewares=[TruncateMiddleware(500, store=store)])
    response = await result_of(tool)
    text = text_of(response)
    assert text.startswith("before\n[left out")
    assert text.endswith("after")
    assert sum(isinstance(block, DataBlock) for block in response.content) == 1
    assert store.texts == {}


async def test_held_data_gives_way_to_later_text() -> None:
    """What is dropped from the tail is counted in the notice."""
    script: list[Step] = ["x\n" * 200, ToolChunk(content=[data(100)]), "y\n" * 2_000]
    tool = Scripted(script, middlewares=[TruncateMiddleware(150, store=MemoryStore())])
    response = await result_of(tool)
    assert "and 1 blocks of data were cut" in text_of(response)
    assert not any(isinstance(block, DataBlock) for block in response.content)


# Whole responses


async def test_a_response_within_the_limit_is_returned_itself() -> None:
    """Nothing is copied, nothing stored."""
    store = MemoryStore()
    response = ToolResponse(content=[TextBlock(text="short")])
    assert await truncate_response(response, 100, COUNTER, store) is response
    assert store.texts == {}


async def test_a_long_response_is_cut_inside_its_blocks() -> None:
    """State, metadata and id stay; the response given is not changed."""
    store = MemoryStore()
    response = ToolResponse(
        content=[TextBlock(text=lines(1_000)), data(40), TextBlock(text=lines(1_000))],
        state=ToolResultState.ERROR,
        metadata={"exit_code": 1},
    )
    before = response.model_copy(deep=True)
    shortened = await truncate_response(response, 500, COUNTER, store)
    assert response == before
    assert (shortened.state, shortened.id) == (response.state, response.id)
    assert shortened.metadata["exit_code"] == 1
    assert store.text == lines(1_000) * 2
    assert text_of(shortened).startswith("line 0\n")
    assert text_of(shortened).endswith("line 999\n")
    assert len(text_of(shortened)) < 2_400


@given(
    st.lists(st.text(alphabet="ab\n漢", max_size=60), max_size=12),
    st.integers(1, 60),
    st.sampled_from([COUNTER, Words()]),
)
async def test_no_text_is_over_the_limit(texts: list[str], limit: int, counter: Any) -> None:
    """Head and tail are parts of the text within the limit; uncut text is all of it."""
    store, whole = MemoryStore(), "".join(texts)
    response = ToolResponse(content=[TextBlock(text=text) for text in texts])
    shortened = await truncate_response(response, limit, counter, store)
    shown = text_of(shortened)
    if shortened is response:
        assert shown == whole
        return
    assert counter.count(whole) >= limit  # head and tail are each rounded up
    assert store.text == whole
    head, _, rest = shown.partition("\n[... ")
    _, _, tail = rest.partition(" ...]\n")
    assert whole.startswith(head)
    assert whole.endswith(tail)
    assert counter.count(head) + counter.count(tail) <= limit
    assert len(head) + len(tail) + shortened.metadata["cut_characters"] == len(whole)


@pytest.mark.parametrize("limit", [0, -5])
async def test_a_limit_of_nothing_is_refused(limit: int) -> None:
    """A result needs some tokens."""
    with pytest.raises(ConfigurationError):
        TruncateMiddleware(limit)
    with pytest.raises(ConfigurationError):
        await truncate_response(ToolResponse(), limit, COUNTER, MemoryStore())


# Stores


async def test_a_store_that_fails_does_not_fail_the_tool() -> None:
    """The result is cut all the same, and says that the rest is lost."""
    store = MemoryStore(OSError("disk full"))
    tool = Scripted([lines(5_000)], middlewares=[TruncateMiddleware(100, store=store)])
    assert "could not be kept: disk full" in text_of(await result_of(tool))


async def test_a_store_that_fails_later_says_so() -> None:
    """What was kept until then is named."""
    store = MemoryStore(OSError("disk full"))
    store.fails_after = 1
    script = ["x" * 100_000, "y" * 100_000]
    tool = Scripted(script, middlewares=[TruncateMiddleware(100, store=store)])
    assert "only its first part is in /kept/" in text_of(await result_of(tool))
    assert store.text == "x" * 100_000


async def test_outputs_are_kept_where_only_the_user_can_look(tmp_path: Path) -> None:
    """The directory is 0700, the file 0600, and what is added follows what is there."""
    store = DirectoryOutputStore(tmp_path / "new" / "outputs")
    place = Path(await store.append("one", "a"))
    assert await store.append("one", "é") == str(place)
    assert text_in(place) == "aé"
    assert (mode_of(place), mode_of(place.parent)) == (0o600, 0o700)


async def test_the_default_store_goes_when_it_is_dropped() -> None:
    """A temporary directory of its own, private, made on first use and removed with the store."""
    store = DirectoryOutputStore()
    place = Path(await store.append("one", "a"))
    assert mode_of(place.parent) == 0o700
    del store
    async with asyncio.timeout(10):
        # The thread that wrote holds the store a little longer.
        while place in files_of(place.parent):  # noqa: ASYNC110
            await asyncio.sleep(0.01)


def test_a_directory_that_others_may_enter_is_refused(tmp_path: Path) -> None:
    """Outputs can hold secrets."""
    tmp_path.chmod(0o755)
    with pytest.raises(ConfigurationError, match="chmod 700"):
        DirectoryOutputStore(tmp_path)


async def test_a_link_in_the_place_of_an_output_is_not_followed(tmp_path: Path) -> None:
    """Nothing is written through a link."""
    store = DirectoryOutputStore(tmp_path / "outputs")
    touched(tmp_path / "other", "old")
    os.symlink(tmp_path / "other", tmp_path / "outputs" / "one.txt")
    with pytest.raises(OSError, match=r"one\.txt"):
        await store.append("one", "new")
    assert text_in(tmp_path / "other") == "old"


@pytest.mark.parametrize("key", ["", "../up", "a/b", "a.b", "x" * 200])
async def test_a_key_is_no_path(key: str, tmp_path: Path) -> None:
    """Only letters, digits, `_` and `-` name an output."""
    with pytest.raises(ConfigurationError, match="key"):
        await DirectoryOutputStore(tmp_path / "outputs").append(key, "x")


async def test_an_output_cannot_fill_the_disk(tmp_path: Path) -> None:
    """Beyond its limit an output is kept in part, and that is an error."""
    store = DirectoryOutputStore(tmp_path / "outputs", max_bytes=10)
    place = await store.append("one", "123456")
    for _ in range(2):
        with pytest.raises(OSError, match="10 bytes"):
            await store.append("one", "7890ab")
    assert text_in(Path(place)) == "1234567890"
