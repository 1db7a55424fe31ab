"""What is remembered of the files that were read: digests, in bounds."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from agentscope_like.state import ReadCacheEntry, ReadState, ToolContext


def entry(path: str, *seen: tuple[int, int], digest: str = "d") -> ReadCacheEntry:
    """Return a file as it was seen."""
    return ReadCacheEntry(file_path=path, digest=digest, bytes=1, updated_at=1.0, seen=seen)


def test_the_file_read_longest_ago_is_forgotten_first() -> None:
    """Never more than `max_files`; reading a file again makes it the latest."""
    state = ReadState(max_files=3)
    for path in ("/a", "/b", "/c", "/a", "/d"):
        state.record(entry(path))
    assert list(state.entries) == ["/c", "/a", "/d"]
    assert state.get("/b") is None
    state.forget("/a")
    state.forget("/never read")
    assert list(state.entries) == ["/c", "/d"]


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ((1, 5), (6, 9), ((1, 9),)),
        ((1, 5), (3, 4), ((1, 5),)),
        ((7, 9), (1, 5), ((1, 5), (7, 9))),
    ],
)
def test_what_was_seen_of_the_same_bytes_is_joined(
    first: tuple[int, int], second: tuple[int, int], expected: tuple[tuple[int, int], ...]
) -> None:
    """Ranges that touch are one; a file that has changed begins anew."""
    state = ReadState()
    state.record(entry("/a", first))
    state.record(entry("/a", second))
    assert state.entries["/a"].seen == expected
    state.record(entry("/a", second, digest="changed"))
    assert state.entries["/a"].seen == (second,)


@given(st.lists(st.tuples(st.integers(1, 40), st.integers(0, 9)), max_size=30))
def test_joining_loses_no_line_and_adds_none(reads: list[tuple[int, int]]) -> None:
    """However often a file is read in pieces, as little as can be is remembered of it."""
    state = ReadState()
    lines: set[int] = set()
    for first, more in reads:
        state.record(entry("/a", (first, first + more)))
        lines |= set(range(first, first + more + 1))
    seen = state.entries["/a"].seen if reads else ()
    assert {n for first, last in seen for n in range(first, last + 1)} == lines
    assert len(seen) <= 21


def test_what_is_remembered_of_one_file_is_bounded() -> None:
    """However scattered the reads are; the longest of them stay known."""
    state = ReadState()
    for line in range(1, 2001, 2):
        state.record(entry("/a", (line, line)))
    state.record(entry("/a", (3001, 3050)))
    state.record(entry("/a", (5001, 5001)))
    seen = state.entries["/a"].seen
    assert len(seen) == 200
    assert (3001, 3050) in seen
    assert list(seen) == sorted(seen)


@pytest.mark.parametrize("field", ["max_cache_files", "max_files"])
def test_there_is_room_for_one_file_at_least(field: str) -> None:
    """A bound of nothing is a mistake."""
    kind = ToolContext if field == "max_cache_files" else ReadState
    with pytest.raises(ValidationError):
        kind.model_validate({field: 0})


async def test_the_cache_of_a_session_is_bounded_and_sees_changes(tmp_path: Path) -> None:
    """A file that has changed, or is gone, counts as not read."""
    context = ToolContext(max_cache_files=2)
    paths = [tmp_path / name for name in ("a", "b", "c")]
    for path in paths:
        path.write_text("one\ntwo\n")
        await context.cache_file(str(path), ["one", "two"])
    assert [Path(known.file_path).name for known in context.read_file_cache] == ["b", "c"]
    assert await context.get_cache(str(paths[0])) is None
    known = await context.get_cache(str(paths[1]))
    assert known is not None
    assert known.seen == ((1, 2),)
    paths[1].write_text("three\n")
    paths[2].unlink()
    assert await context.get_cache(str(paths[1])) is None
    assert await context.get_cache(str(paths[2])) is None


async def test_a_link_and_its_target_are_one_file(tmp_path: Path) -> None:
    """Files are known by their resolved path; cleaning keeps what is reserved by either name."""
    target, link, other = tmp_path / "target", tmp_path / "link", tmp_path / "other"
    for path in (target, other):
        path.write_text("x")
    link.symlink_to(target)
    context = ToolContext()
    await context.cache_file(str(link), [])
    await context.cache_file(str(other), ["x"])
    assert await context.get_cache(str(target)) == await context.get_cache(str(link))
    await context.clean_file_cache({str(link)})
    assert [Path(known.file_path).name for known in context.read_file_cache] == ["target"]
    await context.clean_file_cache()
    assert context.read_file_cache == []


async def test_no_content_of_a_file_is_stored(tmp_path: Path) -> None:
    """Secrets that were read do not end up in the saved state."""
    path = tmp_path / "secret"
    path.write_text("hunter2")
    context = ToolContext()
    await context.cache_file(str(path), ["hunter2"])
    assert "hunter2" not in context.model_dump_json()


async def test_a_file_whose_name_is_no_text_is_known_like_any_other(tmp_path: Path) -> None:
    """Its name is stored as text; it is found by the name that the system gives it."""
    path = tmp_path / "caf\udce9"
    path.write_text("x")
    context = ToolContext()
    await context.cache_file(str(path), ["x"])
    assert context.read_state.get(str(path)) == await context.get_cache(str(path))
    assert ToolContext.model_validate_json(context.model_dump_json()) == context
    context.read_state.forget(str(path))
    assert context.read_file_cache == []
