"""A path is looked at once: swapping directories and links meanwhile shows and writes nothing."""

from __future__ import annotations

import ctypes
import json
import os
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from agentscope_like.exception import GrantError
from agentscope_like.message import ToolCallBlock, ToolResponse
from agentscope_like.permission import PermissionContext, PermissionDecision, PermissionMode
from agentscope_like.state import AgentState
from agentscope_like.tool import CallRequest, Edit, Glob, Grep, Read, Toolkit, Write

SECONDS = 1.0
MARK = "MARKER-OF-A-SECRET"
AT_FDCWD, RENAME_EXCHANGE = -100, 2


class Place:
    """A project with a public directory, a denied one, and a link that is swapped in."""

    def __init__(self, root: Path, **rules: list[str]) -> None:
        self.root = root / "project"
        self.outside = root / "outside"
        for directory in (self.root / "pub", self.root / "secrets", self.outside):
            directory.mkdir(parents=True)
            (directory / "k.txt").write_text("public\n")
        (self.root / "secrets" / "k.txt").write_text(f"{MARK}\n")
        (self.root / "secrets" / f"{MARK}.txt").write_text(f"{MARK}\n")
        tools = [kind(cwd=self.root) for kind in (Read, Write, Edit, Glob, Grep)]
        self.toolkit = Toolkit(tools)
        self.rules = rules
        self.runs = 0

    def state(self) -> AgentState:
        """Return a fresh state under the rules."""
        policy = PermissionContext.from_rules(
            mode=PermissionMode.ACCEPT_EDITS,
            working_directories=[self.root],
            allow=self.rules.get("allow", []),
            deny=self.rules.get("deny", []),
        )
        return AgentState(permission_context=policy)

    async def call(self, name: str, **arguments: str) -> str:
        """Decide and run a call, and return all that the model is told."""
        call = ToolCallBlock(id="1", name=name, input=json.dumps(arguments))
        told = ""
        try:
            async for item in self.toolkit.call_tool(call, self.state()):
                if isinstance(item, ToolResponse):
                    told = item.model_dump_json()
        except GrantError as error:
            told = str(error)
        self.runs += 1
        return told

    @contextmanager
    def swapping(self, target: Path) -> Iterator[None]:
        """Swap the public directory and a link to `target`, as fast as possible."""
        pub, link = os.fsencode(self.root / "pub"), os.fsencode(self.root / "link")
        os.symlink(target, link)
        exchange = ctypes.CDLL(None).renameat2
        over = threading.Event()

        def swap() -> None:
            while not over.is_set():
                exchange(AT_FDCWD, pub, AT_FDCWD, link, RENAME_EXCHANGE)

        thread = threading.Thread(target=swap)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()
            if os.path.islink(pub):
                exchange(AT_FDCWD, pub, AT_FDCWD, link, RENAME_EXCHANGE)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("Read", {"file_path": "pub/k.txt"}),
        ("Grep", {"pattern": "MARKER|public", "path": "pub", "output_mode": "content"}),
        ("Grep", {"pattern": "MARKER", "path": "."}),
        ("Glob", {"pattern": "**/*.txt", "path": "pub"}),
    ],
)
async def test_swapping_shows_nothing_that_a_rule_denies(
    tmp_path: Path, name: str, arguments: dict[str, str]
) -> None:
    """While a link to a denied directory comes and goes, no call tells what lies there."""
    place = Place(tmp_path, allow=["Read(**)", "Grep(**)", "Glob(**)"], deny=["Read(secrets/**)"])
    told = []
    with place.swapping(place.root / "secrets"):
        end = time.monotonic() + SECONDS
        while time.monotonic() < end:
            told.append(await place.call(name, **arguments))
    assert place.runs > 10
    assert [text for text in told if MARK in text.replace(arguments.get("pattern", "-"), "")] == []


async def test_swapping_writes_nothing_outside(tmp_path: Path) -> None:
    """While a link out of the project comes and goes, accepted edits stay inside of it."""
    place = Place(tmp_path)
    with place.swapping(place.outside):
        end = time.monotonic() + SECONDS
        while time.monotonic() < end:
            await place.call("Write", file_path=f"pub/new{place.runs}.txt", content="x")
    assert place.runs > 10
    assert sorted(path.name for path in place.outside.iterdir()) == ["k.txt"]
    assert any((place.root / "pub").glob("new*.txt"))


@pytest.mark.parametrize("name", ["Read", "Write"])
async def test_a_layer_that_waits_gives_no_time_to_swap(tmp_path: Path, name: str) -> None:
    """What is swapped in after the decision, before the layer returns, is neither read nor made."""
    place = Place(tmp_path, allow=["Read(**)"], deny=["Read(secrets/**)"])
    target = place.root / "secrets" if name == "Read" else place.outside

    async def swapping(
        request: CallRequest, go_on: Callable[[CallRequest], Awaitable[PermissionDecision]]
    ) -> PermissionDecision:
        decision = await go_on(request)
        os.rename(place.root / "pub", place.root / "aside")
        os.symlink(target, place.root / "pub")
        return decision

    path = "pub/k.txt" if name == "Read" else "pub/new.txt"
    arguments = {"file_path": path} if name == "Read" else {"file_path": path, "content": "x"}
    call = ToolCallBlock(id="1", name=name, input=json.dumps(arguments))
    state = place.state()
    decided = await place.toolkit.decide(call, state, layers=[swapping])
    assert decided.grant is not None
    with pytest.raises(GrantError, match="changed since"):
        async for _ in place.toolkit.run(decided.grant, state):
            pass
    assert not (place.outside / "new.txt").exists()


async def test_without_a_swap_the_same_calls_work(tmp_path: Path) -> None:
    """The allowed neighbours: reading, searching and writing inside of the project."""
    place = Place(tmp_path, allow=["Read(**)", "Grep(**)", "Glob(**)"], deny=["Read(secrets/**)"])
    assert "public" in await place.call("Read", file_path="pub/k.txt")
    assert "pub/k.txt" in await place.call("Grep", pattern="public")
    assert "pub/k.txt" in await place.call("Glob", pattern="pub/*.txt")
    await place.call("Write", file_path="pub/new.txt", content="x")
    assert (place.root / "pub" / "new.txt").read_text() == "x"
