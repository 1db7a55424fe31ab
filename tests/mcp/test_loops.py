"""A client is used from several event loops; its connection stays on one."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any, TypeVar

import pytest

from agentscope_like.mcp import MCPClient
from agentscope_like.tool import MCPTool
from tests.mcp.kit import Rogue, descendants, said_in, tool

MakeRogue = Callable[..., Rogue]
T = TypeVar("T")


class Loop:
    """An event loop that runs in a thread."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self.thread.start()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run the work on the loop and wait for it."""
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(30)

    def stop(self) -> None:
        """Stop the loop and close it."""
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join()
        self.loop.close()


@pytest.fixture
def other() -> Iterator[Loop]:
    """Give another loop that runs."""
    loop = Loop()
    yield loop
    loop.stop()


async def called(client: MCPClient, name: str, **arguments: Any) -> str:
    """Return what a call of a tool says."""
    found = await client.get_tool(name)
    assert isinstance(found, MCPTool)
    return said_in(await found.call(**arguments))


async def test_a_client_is_used_and_closed_from_another_loop(
    rogue: MakeRogue, other: Loop, tmp_path: Path
) -> None:
    """Calls, listings and closing reach the one connection; nothing is left of it."""
    server = rogue(tool("echo"), tool("announce"))
    client = server.client()
    other.run(client.connect())
    assert await called(client, "echo", text="here") == 'echo {"text": "here"}'
    assert other.run(called(client, "echo", text="there")) == 'echo {"text": "there"}'
    both = await asyncio.gather(
        *(called(client, "echo", text=str(n)) for n in range(5)),
        asyncio.to_thread(other.run, called(client, "echo", text="x")),
    )
    assert both == [f'echo {{"text": "{n}"}}' for n in (0, 1, 2, 3, 4, "x")]
    server.set(tools=[tool("echo"), tool("more")])
    await client.list_raw_tools()
    assert await called(client, "more") == "more {}"
    assert server.log.count("started") == 1
    await client.close()
    assert not client.is_connected
    assert descendants(str(tmp_path / "settings.json")) == []
    async with client:
        assert await called(client, "echo") == "echo {}"


async def test_cancelling_a_call_from_another_loop_ends_it(rogue: MakeRogue, other: Loop) -> None:
    """The server is told, as it is for a call of the connection's own loop."""
    server = rogue(tool("hang"), tool("echo"))
    client = server.client()
    other.run(client.connect())
    task = asyncio.create_task(called(client, "hang"))
    await server.noted("tools/call hang")
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await server.noted("notifications/cancelled")
    assert await called(client, "echo") == "echo {}"
    await client.close()


def test_a_client_outlives_the_loop_of_its_connection(rogue: MakeRogue, tmp_path: Path) -> None:
    """Where the loop has ended, the next call connects anew, on its own loop."""
    server = rogue(tool("echo"))
    client = server.client()

    async def connected() -> str:
        await client.connect()
        return await called(client, "echo", text="1")

    assert asyncio.run(connected()) == 'echo {"text": "1"}'
    assert descendants(str(tmp_path / "settings.json")) == []

    async def again() -> str:
        said = await called(client, "echo", text="2")
        await client.close()
        return said

    assert asyncio.run(again()) == 'echo {"text": "2"}'
    assert server.log.count("started") == 2
    assert descendants(str(tmp_path / "settings.json")) == []
