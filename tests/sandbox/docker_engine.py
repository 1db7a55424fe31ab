"""A Docker engine of a test: the real API over a Unix socket, with processes of this host."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import signal
import uuid
from pathlib import Path
from typing import Any

from agentscope_like.sandbox import SandboxConfig, SandboxType

IMAGE = "debian:12"


class Engine:
    """Answers as the engine's documentation of version 1.41 says; keeps what it was asked."""

    def __init__(self, directory: Path) -> None:
        self.socket = str(directory / "docker.sock")
        self.workspace = directory / "workspace"
        self.workspace.mkdir()
        self.containers: dict[str, dict[str, Any]] = {}
        self.execs: dict[str, dict[str, Any]] = {}
        self.settings: list[dict[str, Any]] = []
        self.starts_to_cut = 0
        self._writers: set[asyncio.StreamWriter] = set()
        self._server: asyncio.Server | None = None

    def config(self, **given: Any) -> SandboxConfig:
        """Return the configuration of a sandbox in a container."""
        options = {"image": IMAGE, "socket": self.socket}
        return SandboxConfig(
            **{
                "mode": SandboxType.REMOTE,
                "remote_provider": "docker",
                "remote_options": options,
                "workspace": str(self.workspace),
                **given,
            }
        )

    async def start(self) -> None:
        """Listen."""
        self._server = await asyncio.start_unix_server(self._serve, self.socket)

    async def stop(self) -> None:
        """End all processes and connections."""
        for one in self.execs.values():
            self._kill(one)
        self.cut()
        if self._server is not None:
            self._server.close()

    def cut(self) -> None:
        """Cut all streams."""
        for writer in self._writers:
            writer.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            length = re.search(r"(?i)^content-length: *(\d+)", head, re.MULTILINE)
            body = await reader.readexactly(int(length[1])) if length else b""
            method, target, _ = head.split("\r\n", 1)[0].split(" ")
            path = target.removeprefix("/v1.41").partition("?")[0]
            assert target.startswith("/v1.41/")
            given = json.loads(body) if body else {}
            if found := re.fullmatch(r"/exec/(\w+)/start", path):
                await self._stream(found[1], given, head, writer)
                return
            status, answer = self._answer(method, path, given)
            data = b"" if answer is None else json.dumps(answer).encode()
            writer.write(
                f"HTTP/1.1 {status} Status\r\nContent-Type: application/json\r\n"
                f"Content-Length: {len(data)}\r\n\r\n".encode()
                + data
            )
        finally:
            with contextlib.suppress(OSError):
                await writer.drain()
            writer.close()

    def _answer(self, method: str, path: str, given: dict[str, Any]) -> tuple[int, Any]:
        if (method, path) == ("POST", "/containers/create"):
            if given["Image"] != IMAGE:
                return 404, {"message": f"No such image: {given['Image']}"}
            self.settings.append(given)
            container = uuid.uuid4().hex
            self.containers[container] = {"running": False}
            return 201, {"Id": container, "Warnings": []}
        found = re.fullmatch(r"/containers/(\w+)(/\w+)?", path)
        if found:
            return self._of_container(method, found[1], found[2], given)
        if (found := re.fullmatch(r"/exec/(\w+)/json", path)) and found[1] in self.execs:
            process = self.execs[found[1]]["process"]
            code = None if process is None else process.returncode
            if code is not None and code < 0:
                code = 128 - code
            return 200, {"ID": found[1], "Running": code is None, "ExitCode": code}
        return 404, {"message": "page not found"}

    def _of_container(
        self, method: str, container: str, what: str | None, given: dict[str, Any]
    ) -> tuple[int, Any]:
        known = self.containers.get(container)
        if known is None:
            return 404, {"message": f"No such container: {container}"}
        if (method, what) == ("POST", "/start"):
            known["running"] = True
            return 204, None
        if (method, what) == ("DELETE", None):
            for one in self.execs.values():
                self._kill(one)
            del self.containers[container]
            return 204, None
        if (method, what) != ("POST", "/exec"):
            return 404, {"message": "page not found"}
        if not known["running"]:
            return 409, {"message": f"Container {container} is not running"}
        exec_id = uuid.uuid4().hex
        self.execs[exec_id] = {"given": given, "process": None}
        return 201, {"Id": exec_id}

    async def _stream(
        self, exec_id: str, given: dict[str, Any], head: str, writer: asyncio.StreamWriter
    ) -> None:
        assert given == {"Detach": False, "Tty": False}
        assert "\r\nUpgrade: tcp\r\n" in head
        one = self.execs[exec_id]
        self._writers.add(writer)
        environment = dict(entry.split("=", 1) for entry in one["given"]["Env"])
        process = await asyncio.create_subprocess_exec(
            *one["given"]["Cmd"],
            cwd="/",
            env={"PATH": os.defpath, **environment},
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=True,
        )
        one["process"] = process
        if self.starts_to_cut:
            self.starts_to_cut -= 1
            writer.close()
            await process.communicate()
            return
        writer.write(
            b"HTTP/1.1 101 UPGRADED\r\nContent-Type: application/vnd.docker.raw-stream\r\n"
            b"Connection: Upgrade\r\nUpgrade: tcp\r\n\r\n"
        )

        async def copy(number: int, stream: asyncio.StreamReader | None) -> None:
            assert stream is not None
            while data := await stream.read(20_000):
                writer.write(bytes([number, 0, 0, 0]) + len(data).to_bytes(4, "big") + data)
                await writer.drain()

        with contextlib.suppress(ConnectionError):
            await asyncio.gather(copy(1, process.stdout), copy(2, process.stderr))
        await process.wait()

    @staticmethod
    def _kill(one: dict[str, Any]) -> None:
        process = one["process"]
        if process is not None and process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
