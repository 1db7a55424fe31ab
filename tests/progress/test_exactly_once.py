"""Much output, cut anywhere, from a real program: each byte once and no character broken.

`PROGRESS_MEGABYTES=100 pytest tests/progress/test_exactly_once.py --timeout 3600` is the long run.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import random
import sys
import threading
from contextlib import aclosing
from pathlib import Path

import pytest

from agentscope_like.progress import (
    ToolProgressEvent,
    bind_tool_progress,
    emit_tool_progress,
    register_progress_queue,
    unregister_progress_queue,
)
from agentscope_like.progress.following import OutputFollower
from agentscope_like.sandbox import SandboxConfig, SandboxProviderFactory, SandboxType
from agentscope_like.state import AgentState
from agentscope_like.tool import ToolBase, Toolkit
from tests.progress.kit import call_of, tool_of

MEGABYTES = int(os.environ.get("PROGRESS_MEGABYTES", "8"))
ALPHABET = "aZ0 \n\réßЖ中日本😀👩‍💻\u200d\u0301\x00\x1b"


def random_text(seed: int, size: int) -> bytes:
    """Return that many random bytes of UTF-8 or a few more, of characters of one to four bytes."""
    source = random.Random(seed)
    block = "".join(source.choices(ALPHABET, k=4096))
    pieces, length = [], 0
    while length < size:
        start = source.randrange(4000)
        piece = block[start : start + source.randrange(1, 3000)].encode()
        pieces.append(piece)
        length += len(piece)
    return b"".join(pieces)


def cuts(seed: int, data: bytes) -> list[bytes]:
    """Return the data in random pieces, most of them cut within a character somewhere."""
    source = random.Random(seed)
    pieces, start = [], 0
    while start < len(data):
        size = source.choice([1, 2, 3, 5, 700, 5000, 16_384, 100_001])
        pieces.append(data[start : start + size])
        start += size
    return pieces


class Digest:
    """Takes note of a stream without keeping it."""

    def __init__(self) -> None:
        self.hash = hashlib.sha256()
        self.size = 0
        self.closed = 0

    def take(self, event: ToolProgressEvent) -> None:
        """Take the next event."""
        assert not self.closed, "something came after the end"
        assert "\ufffd" not in event.text, "a character was broken"
        data = event.text.encode()
        self.hash.update(data)
        self.size += len(data)
        self.closed += event.closed


def same(digest: Digest, data: bytes) -> bool:
    """Return whether what was noted is this."""
    return (digest.size, digest.hash.digest()) == (len(data), hashlib.sha256(data).digest())


async def read_all(tools: list[ToolBase], source: random.Random) -> dict[str, Digest]:
    """Run a call of each tool side by side, and read what they show, now fast and now slowly."""
    digests = {tool.name: Digest() for tool in tools}
    queue = register_progress_queue()

    async def run(tool: ToolBase) -> None:
        call = call_of(tool, tool.name)
        async with aclosing(Toolkit([tool]).call_tool(call, AgentState())) as items:
            async for _ in items:
                pass

    running = [asyncio.create_task(run(tool)) for tool in tools]
    async for event in queue:
        digests[event.tool_call_id].take(event)
        if source.random() < 0.02:
            await asyncio.sleep(source.choice([0, 0.001, 0.01]))
        if all(digest.closed for digest in digests.values()):
            break
    await asyncio.gather(*running)
    unregister_progress_queue()
    return digests


@pytest.mark.parametrize("seed", [1, 2])
async def test_nothing_is_lost_doubled_or_broken(seed: int) -> None:
    """Bytes from coroutines and threads, cut anywhere, are read as they were said."""
    data = random_text(seed, MEGABYTES * 1_000_000 // 4)
    pieces = cuts(seed, data)

    async def in_turns() -> None:
        source = random.Random(seed)
        for piece in pieces:
            await emit_tool_progress(piece)
            if source.random() < 0.01:
                await asyncio.sleep(source.choice([0, 0.001]))

    def in_a_thread() -> None:
        pause = threading.Event()
        source = random.Random(seed)
        for piece in pieces:
            emit_tool_progress(piece)
            if source.random() < 0.01:
                pause.wait(0.001)

    digests = await read_all([tool_of(in_turns), tool_of(in_a_thread)], random.Random(seed))
    for digest in digests.values():
        assert same(digest, data)


WRITER = """
import random, sys, time
data = open(sys.argv[1], "rb").read()
source = random.Random(int(sys.argv[2]))
start = 0
while start < len(data):
    size = source.choice([1, 3, 700, 5000, 65536, 300000, 1 << 20])
    sys.stdout.buffer.write(data[start : start + size])
    sys.stdout.buffer.flush()
    start += size
    if source.random() < 0.1:
        time.sleep(0.002)
"""


async def test_sage_p_16_a_command_in_the_background_is_followed_exactly(tmp_path: Path) -> None:
    """All that a real program says comes once, however many calls wait for it one after another."""
    data = random_text(3, MEGABYTES * 1_000_000)
    (tmp_path / "data").write_bytes(data)
    (tmp_path / "writer.py").write_text(WRITER)
    config = SandboxConfig(mode=SandboxType.PASSTHROUGH, workspace=str(tmp_path))
    async with await SandboxProviderFactory.create(config) as sandbox:
        task = await sandbox.start_background(f"{sys.executable} writer.py data 3")
        follower = OutputFollower(sandbox, task)
        queue = register_progress_queue()
        whole = Digest()

        async def read() -> None:
            async for event in queue:
                if not event.closed:
                    whole.take(event)

        reading = asyncio.create_task(read())
        has_ended = False
        while not has_ended:
            with bind_tool_progress("c1"):
                has_ended = await follower.follow(timeout=0.1)
        unregister_progress_queue()
        await reading
    assert follower.offset == len(data)
    assert same(whole, data)
