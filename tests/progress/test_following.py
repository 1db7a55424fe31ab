"""Following a command in the background, by ranges or by its tail."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentscope_like.progress import (
    OutputFollower,
    ProgressQueue,
    bind_tool_progress,
    register_progress_queue,
    unregister_progress_queue,
)
from agentscope_like.progress.following import diff_tail_for_progress
from agentscope_like.sandbox import (
    SandboxConfig,
    SandboxHandle,
    SandboxProviderFactory,
    SandboxType,
)
from tests.progress.kit import drained, text_of
from tests.sandbox.kit import require_bubblewrap


@pytest.fixture
def queue() -> Iterator[ProgressQueue]:
    """Return a queue that is registered."""
    registered = register_progress_queue()
    yield registered
    unregister_progress_queue()


async def sandbox_in(directory: Path) -> SandboxHandle:
    """Return a sandbox that runs commands on this host."""
    config = SandboxConfig(mode=SandboxType.PASSTHROUGH, workspace=str(directory))
    return await SandboxProviderFactory.create(config)


class Tail:
    """A task whose output can be read by its end only; it says one text after the other."""

    def __init__(self, *texts: str, longest: int = 65_536) -> None:
        self.texts = list(texts)
        self.longest = longest
        self.said = ""

    async def is_background_alive(self, task_id: str) -> bool:
        """Return whether it still has something to say, and say the next."""
        if self.texts:
            self.said += self.texts.pop(0)
            return True
        return False

    async def read_background_output_range(
        self, task_id: str, offset: int, max_bytes: int = 0
    ) -> tuple[str, int]:
        """Raise: this cannot be read by ranges."""
        raise NotImplementedError

    async def read_background_output(self, task_id: str, max_bytes: int = 0) -> str:
        """Return the last that it said."""
        return self.said[-min(max_bytes, self.longest) :]


async def test_sage_p_13_to_15_output_is_shown_while_the_task_runs(
    tmp_path: Path, queue: ProgressQueue
) -> None:
    """What a command has said is shown before it ends; it goes on from there."""
    async with await sandbox_in(tmp_path) as sandbox:
        task = await sandbox.start_background(
            "echo begun; while [ ! -e go ]; do sleep 0.02; done; echo done"
        )
        follower = OutputFollower(sandbox, task)
        with bind_tool_progress("c1"):
            while follower.offset == 0:
                assert not await follower.follow(timeout=0.05)
            assert follower.offset == len("begun\n")
            (tmp_path / "go").touch()
            assert await follower.follow(timeout=30)
    assert text_of(drained(queue), "c1", "stdout") == "begun\ndone\n"


async def test_sage_p_16_what_is_beyond_a_megabyte_at_the_end_is_shown(
    tmp_path: Path, queue: ProgressQueue
) -> None:
    """Three megabytes of a command that has ended come whole, and once for two calls that wait."""
    async with await sandbox_in(tmp_path) as sandbox:
        task = await sandbox.start_background("head -c 3000000 /dev/zero | tr '\\\\0' x")
        while await sandbox.is_background_alive(task):  # noqa: ASYNC110 - it tells nobody
            await asyncio.sleep(0.01)
        follower = OutputFollower(sandbox, task)
        for call in ("c1", "c2"):
            with bind_tool_progress(call):
                assert await follower.follow()
    events = drained(queue)
    assert len(text_of(events, "c1", "stdout")) == 3_000_000
    assert text_of(events, "c2", "stdout") == ""


async def test_sage_p_17_and_18_without_ranges_the_tail_is_compared(queue: ProgressQueue) -> None:
    """A source that raises NotImplementedError is followed all the same."""
    source = Tail("one\n", "", "two\n", "three\n")
    with bind_tool_progress("c1"):
        assert await OutputFollower(source, "t").follow()
    assert text_of(drained(queue), "c1", "stdout") == "one\ntwo\nthree\n"


@pytest.mark.parametrize("mode", [SandboxType.LOCAL, SandboxType.PASSTHROUGH])
async def test_sage_p_19_the_shipped_sandboxes_are_read_by_ranges(
    mode: SandboxType, tmp_path: Path, queue: ProgressQueue
) -> None:
    """An isolated command is followed as exactly as one on the host."""
    if mode is SandboxType.LOCAL:
        require_bubblewrap()
    config = SandboxConfig(mode=mode, workspace=str(tmp_path))
    async with await SandboxProviderFactory.create(config) as sandbox:
        task = await sandbox.start_background("printf 'h\\303'; sleep 0.1; printf '\\251!'")
        follower = OutputFollower(sandbox, task)
        with bind_tool_progress("c1"):
            assert await follower.follow(timeout=30)
    assert text_of(drained(queue), "c1", "stdout") == "hé!"
    assert follower.offset == 4


async def test_sage_p_20_a_tail_that_is_cut_off_goes_on(queue: ProgressQueue) -> None:
    """Where the tail holds less than was said, what is new is found by what both have in common."""
    source = Tail("0123456789", "abcde", "fghij", longest=8)
    with bind_tool_progress("c1"):
        assert await OutputFollower(source, "t").follow()
    assert text_of(drained(queue), "c1", "stdout") == "23456789abcdefghij"


@pytest.mark.parametrize(
    ("before", "after", "new"),
    [
        ("", "", ""),
        ("", "abc", "abc"),
        ("abc", "abc", ""),
        ("abc", "abcde", "de"),
        ("abcdef", "defgh", "gh"),
        ("abcdef", "xyz", "xyz"),
        ("x" * 100, "x" * 100, ""),
        ("abc", "", ""),
    ],
)
def test_what_is_new_in_a_tail(before: str, after: str, new: str) -> None:
    """What both have in common is not new; where they have nothing, all of it is."""
    assert diff_tail_for_progress(before, after) == new


@given(text=st.text(max_size=300), first=st.integers(0, 300), window=st.integers(1, 300))
def test_a_tail_that_grows_within_its_window_shows_what_follows(
    text: str, first: int, window: int
) -> None:
    """What is told as new ends as the text does, and with what was seen before it is no less."""
    before, after = text[:first][-window:], text[-window:]
    new = diff_tail_for_progress(before, after)
    assert after.endswith(new)
    if after.startswith(before):
        assert before + new == after
