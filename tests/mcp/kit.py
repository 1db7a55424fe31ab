"""Servers for tests: programs and loopback addresses."""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import os
import socket
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import Any

from agentscope_like.mcp import HttpMCPConfig, MCPClient, StdioMCPConfig
from agentscope_like.message import TextBlock
from agentscope_like.tool import ToolChunk
from tests.mcp.servers.notes import serve, shared_port

SERVERS = Path(__file__).parent / "servers"
OBJECT = {"type": "object", "properties": {"text": {"type": "string"}}}


def tool(name: str, /, **given: Any) -> dict[str, Any]:
    """Return the definition of a tool."""
    return {"name": name, "description": f"Does {name}.", "inputSchema": OBJECT, **given}


async def until(condition: Callable[[], bool]) -> None:
    """Wait until the condition holds, which another process or task sees to."""
    async with asyncio.timeout(5):
        while not condition():  # noqa: ASYNC110
            await asyncio.sleep(0.01)


def said_in(chunk: ToolChunk) -> str:
    """Return the text of a chunk."""
    return "".join(block.text for block in chunk.content if isinstance(block, TextBlock))


class Rogue:
    """A rogue server, its settings and its log."""

    def __init__(self, directory: Path, *tools: dict[str, Any], **settings: Any) -> None:
        self._settings = directory / "settings.json"
        self._log = directory / "log"
        self._log.touch()
        self.set(tools=list(tools), **settings)

    def set(self, **settings: Any) -> None:
        """Change settings."""
        before = json.loads(self._settings.read_text()) if self._settings.exists() else {}
        self._settings.write_text(json.dumps({**before, **settings}))

    @property
    def log(self) -> list[str]:
        """Return what the server noted."""
        return self._log.read_text().splitlines()

    async def noted(self, line: str, *, times: int = 1) -> None:
        """Wait until the server has noted the line."""
        await until(lambda: self.log.count(line) >= times)

    @property
    def config(self) -> StdioMCPConfig:
        """Return how to start it."""
        arguments = [str(SERVERS / "rogue.py"), str(self._settings), str(self._log)]
        return StdioMCPConfig(command=sys.executable, args=["-S", "-E", *arguments])

    def client(self, **options: Any) -> MCPClient:
        """Return a client of it."""
        return MCPClient(name="rogue", is_stateful=True, mcp_config=self.config, **options)


def free_port() -> int:
    """Return a port at which nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port: int = free.getsockname()[1]
    return port


def wait_for(port: int) -> None:
    """Wait until somebody listens at the port."""
    deadline = time.monotonic() + 20
    while True:
        try:
            socket.create_connection(("127.0.0.1", port)).close()
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.01)
        else:
            return


class Web:
    """The notes server at a loopback address; it can be stopped, and started again.

    Its port is kept until it is closed, so that no other server is found there meanwhile.
    """

    def __init__(self, log: Path) -> None:
        self.log = log
        self._kept = shared_port()
        self.port: int = self._kept.getsockname()[1]
        self._process: ForkServerProcess | None = None

    def start(self) -> None:
        """Serve, in a process that has nothing left to import."""
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload(["tests.mcp.servers.notes", "pytest"])
        self._process = context.Process(target=serve, args=(self.port, self.log), daemon=True)
        self._process.start()
        wait_for(self.port)

    def stop(self) -> None:
        """Kill the server, calls under way included."""
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self._process.close()
            self._process = None

    def close(self) -> None:
        """Kill the server, and give its port back."""
        self.stop()
        self._kept.close()

    def url(self, path: str) -> str:
        """Return the address of a path."""
        return f"http://127.0.0.1:{self.port}{path}"

    def client(self, path: str = "/mcp", *, stateful: bool = True, **options: Any) -> MCPClient:
        """Return a client."""
        config = HttpMCPConfig(url=self.url(path), timeout=5)
        return MCPClient(name="notes", is_stateful=stateful, mcp_config=config, **options)

    def listings(self) -> int:
        """Return how often the tools were listed."""
        return self.log.read_text().splitlines().count("tools/list") if self.log.exists() else 0


@contextmanager
def running(log: Path) -> Iterator[Web]:
    """Give a server that runs."""
    web = Web(log)
    web.start()
    try:
        yield web
    finally:
        web.close()


def is_running(pid: int) -> bool:
    """Return whether the process has not ended."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()[0]
    except OSError:
        return False
    return state not in ("Z", "X")


def descendants(marker: str) -> list[int]:
    """Return the processes with the marker in their command line or environment."""
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit() and int(name) != os.getpid():
            for kind in ("cmdline", "environ"):
                try:
                    if marker.encode() in Path(f"/proc/{name}/{kind}").read_bytes():
                        found.append(int(name))
                        break
                except OSError:
                    pass
    return [pid for pid in found if is_running(pid)]
