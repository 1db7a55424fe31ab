"""Speaks the API of a Docker engine over its Unix socket."""

from __future__ import annotations

import asyncio
import http.client
import json
import os
import socket
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from pydantic import BaseModel, ConfigDict, Field, model_validator

from agentscope_like.exception import SandboxConnectionError
from agentscope_like.nearest import refuse_unknown_fields

__all__ = ["DockerEngine", "DockerError", "DockerOptions", "EngineStream"]

API = "/v1.41"
"""The version of the API, known to engines since 20.10."""

_FRAME_HEADER = 8
_MOST_HEAD_BYTES = 65536
_FIRST_ERROR = 400


class DockerOptions(BaseModel):
    """`SandboxConfig.remote_options` of the provider `"docker"`.

    Attributes:
        image: The image of the container; it has to be there already, and to have bash.
        socket: The engine's socket. Whoever may use it has all rights on the engine's host.
        user: The user of commands; by default the image's.
        timeout: Seconds until the engine must have answered.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    image: str = Field(min_length=1)
    socket: str = "/var/run/docker.sock"
    user: str | None = None
    timeout: float = Field(default=60, gt=0)

    @model_validator(mode="before")
    @classmethod
    def _refuse_unknown(cls, data: Any) -> Any:
        refuse_unknown_fields(data, cls.model_fields)
        return data


class DockerError(SandboxConnectionError):
    """The engine refused a request.

    Args:
        message: What it said, about what.
        status: The HTTP status.
    """

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


class DockerEngine:
    """A Docker engine.

    Args:
        options: Where it is.
    """

    def __init__(self, options: DockerOptions) -> None:
        self._options = options

    async def request(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None = None,
        **query: str,
    ) -> dict[str, Any]:
        """Send a request and return the answer's object; empty where it has none.

        Raises:
            DockerError: The engine refused it.
            SandboxConnectionError: The engine cannot be reached.
        """
        target = f"{API}{path}" + (f"?{urlencode(query)}" if query else "")
        try:
            status, data = await asyncio.to_thread(self._exchange, method, target, body)
        except (OSError, http.client.HTTPException) as error:
            raise self._unreachable(error) from error
        answer = _object(data)
        if status >= _FIRST_ERROR:
            told = answer.get("message") or data[:200].decode(errors="replace")
            raise DockerError(f"The Docker engine refused {method} {path}: {told}.", status)
        return answer

    async def start_exec(self, exec_id: str) -> EngineStream:
        """Start a prepared command and return the stream of its output.

        Raises:
            DockerError: The engine did not start it.
            SandboxConnectionError: The engine cannot be reached, or gave no answer.
        """
        body = json.dumps({"Detach": False, "Tty": False}).encode()
        head = (
            f"POST {API}/exec/{exec_id}/start HTTP/1.1\r\nHost: docker\r\n"
            "Connection: Upgrade\r\nUpgrade: tcp\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(body)}\r\n\r\n"
        )
        try:
            async with asyncio.timeout(self._options.timeout):
                reader, writer = await asyncio.open_unix_connection(self._options.socket)
        except (OSError, TimeoutError) as error:
            raise self._unreachable(error) from error
        try:
            status, said = await self._started(reader, writer, head.encode() + body)
        except BaseException:
            writer.close()
            raise
        if status not in (http.client.SWITCHING_PROTOCOLS, http.client.OK):
            writer.close()
            raise DockerError(f"The Docker engine did not start a command: {said}.", status)
        return EngineStream(reader, writer)

    async def _started(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, request: bytes
    ) -> tuple[int, str]:
        """Send the request that starts a command; return the status and the text of a refusal.

        Raises:
            SandboxConnectionError: No answer came. The command may run.
        """
        try:
            async with asyncio.timeout(self._options.timeout):
                writer.write(request)
                answer = await reader.readuntil(b"\r\n\r\n")
                status = int(answer.split(b" ", 2)[1])
                if status in (http.client.SWITCHING_PROTOCOLS, http.client.OK):
                    return status, ""
                said = await reader.read(_MOST_HEAD_BYTES)
        except (OSError, TimeoutError, asyncio.IncompleteReadError) as error:
            raise _lost() from error
        return status, said.decode(errors="replace").strip()

    def _exchange(
        self, method: str, target: str, body: Mapping[str, Any] | None
    ) -> tuple[int, bytes]:
        connection = http.client.HTTPConnection("docker", timeout=self._options.timeout)
        connection.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            connection.sock.settimeout(self._options.timeout)
            connection.sock.connect(self._options.socket)
            data = None if body is None else json.dumps(body).encode()
            headers = {"Content-Type": "application/json"} if body is not None else {}
            connection.request(method, target, data, headers)
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()

    def _unreachable(self, error: Exception) -> SandboxConnectionError:
        return SandboxConnectionError(
            f"The Docker engine at {self._options.socket} cannot be reached "
            f"({type(error).__name__}: {error}). Check that it runs, and that this user may use it."
        )


class EngineStream:
    """The output of a command: frames with their stream, a length and data.

    Args:
        reader: Where it is read from.
        writer: The other direction, closed with it.
    """

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def copy(self, stdout: int, stderr: int) -> None:
        """Write all output to these descriptors, until the command has ended.

        Raises:
            SandboxConnectionError: The stream broke off.
        """
        while True:
            try:
                header = await self._reader.readexactly(_FRAME_HEADER)
                left = int.from_bytes(header[4:], "big")
                while left:
                    data = await self._reader.read(min(left, _MOST_HEAD_BYTES))
                    if not data:
                        raise asyncio.IncompleteReadError(b"", left)
                    left -= len(data)
                    # in a thread, as whoever reads the pipe may be this event loop
                    await asyncio.to_thread(_write, stderr if header[0] == 2 else stdout, data)  # noqa: PLR2004
            except asyncio.IncompleteReadError as error:
                if error.partial or error.expected != _FRAME_HEADER:
                    raise _lost() from error
                return
            except OSError as error:
                raise SandboxConnectionError(
                    f"The output of a command was lost ({error})."
                ) from error

    def close(self) -> None:
        """Close the connection; the command itself goes on."""
        self._writer.close()


def _lost() -> SandboxConnectionError:
    return SandboxConnectionError(
        "The connection to the Docker engine was lost while a command ran."
    )


def _write(descriptor: int, data: bytes) -> None:
    while data:
        data = data[os.write(descriptor, data) :]


def _object(data: bytes) -> dict[str, Any]:
    try:
        value = json.loads(data or b"{}")
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}
