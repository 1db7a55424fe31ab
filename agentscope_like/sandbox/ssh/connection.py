"""The SSH connection to another host, and the commands that run over it."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shlex
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, Field, model_validator

from agentscope_like.exception import ConfigurationError, SandboxConnectionError
from agentscope_like.nearest import refuse_unknown_fields
from agentscope_like.sandbox.host import RunningCommand

if TYPE_CHECKING:
    import asyncssh

__all__ = ["SSHCommand", "SSHConnection", "SSHOptions"]

_KEEPALIVE_SECONDS = 15
_KEEPALIVES_MISSED = 3
_ENDING_SECONDS = 5.0


class SSHOptions(BaseModel):
    """`SandboxConfig.remote_options` of the provider `"ssh"`.

    The host key is always checked; this cannot be switched off.

    Attributes:
        host: Name or address of the host, or an alias of the user's SSH configuration.
        port: Its port; by default what the user's SSH configuration says, or 22.
        username: The account there; by default the configured one, or the same as here.
        known_hosts: File with the host's key; by default `~/.ssh/known_hosts`.
        client_keys: Files with private keys; by default the user's, and those of the agent.
        connect_timeout: Timeout for connecting, in seconds (20).
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    host: str = Field(min_length=1)
    port: int | None = Field(default=None, ge=1, le=65535)
    username: str | None = None
    known_hosts: str | None = None
    client_keys: tuple[str, ...] = ()
    connect_timeout: float = Field(default=20, gt=0)

    @model_validator(mode="before")
    @classmethod
    def _refuse_unknown(cls, data: Any) -> Any:
        refuse_unknown_fields(data, cls.model_fields)
        return data


class SSHConnection:
    """An SSH connection, made when needed and made again after it was lost.

    Args:
        options: The host and how to connect.
    """

    def __init__(self, options: SSHOptions) -> None:
        self._options = options
        self._lock = asyncio.Lock()
        self._connection: asyncssh.SSHClientConnection | None = None
        self._commands: set[SSHCommand] = set()

    @property
    def host(self) -> str:
        """Return the host's name."""
        return self._options.host

    async def run(self, message: bytes, stdout: int, stderr: int) -> SSHCommand:
        """Start the supervisor process on the other host, and return the command that it runs.

        Args:
            message: What the supervisor reads.
            stdout: Descriptor of the command's standard output; stays the caller's.
            stderr: Descriptor of its standard error; stays the caller's.

        Raises:
            SandboxConnectionError: The host cannot be reached.
        """
        import asyncssh

        connection = await self._open()
        try:
            process = await connection.create_process(
                shlex.join(_supervisor()),
                encoding=None,
                bufsize=0,
                stdin=asyncssh.PIPE,
                stdout=os.dup(stdout),
                stderr=os.dup(stderr),
            )
        except (asyncssh.Error, OSError) as error:
            raise SandboxConnectionError(
                f"{self.host} did not start the command ({error}): it was not run. Try again."
            ) from error
        command = SSHCommand(process, self.host)
        self._commands = {known for known in self._commands if not known.is_closed} | {command}
        command.send(message)
        return command

    async def close(self) -> None:
        """Close the connection, if there is one."""
        connection, self._connection = self._connection, None
        commands, self._commands = self._commands, set()
        if connection is not None:
            connection.close()
            await connection.wait_closed()
        await asyncio.gather(*(command.closed() for command in commands))

    async def _open(self) -> asyncssh.SSHClientConnection:
        async with self._lock:
            if self._connection is None or self._connection.is_closed():
                self._connection = await self._connect()
            return self._connection

    async def _connect(self) -> asyncssh.SSHClientConnection:
        library = _library()
        options = self._options
        # what is left out is what the user's own SSH configuration says
        given = {
            "port": options.port,
            "username": options.username,
            "known_hosts": options.known_hosts,
            "client_keys": list(options.client_keys) or None,
        }
        try:
            connection: asyncssh.SSHClientConnection = await library.connect(
                options.host,
                connect_timeout=options.connect_timeout,
                login_timeout=options.connect_timeout,
                keepalive_interval=_KEEPALIVE_SECONDS,
                keepalive_count_max=_KEEPALIVES_MISSED,
                **{name: value for name, value in given.items() if value is not None},
            )
        except (library.Error, OSError, ValueError) as error:
            raise SandboxConnectionError(
                f"{self.host} cannot be reached over SSH: {error}. Check its name, that its key is "
                "among the known hosts, and that one of your keys opens it."
            ) from error
        return connection


class SSHCommand(RunningCommand):
    """A command on another host.

    Args:
        process: The supervisor's end of it.
        host: The host's name.
    """

    def __init__(self, process: asyncssh.SSHClientProcess[bytes], host: str) -> None:
        self._process = process
        self._host = host
        self._closing = asyncio.create_task(process.wait_closed())

    @property
    def is_closed(self) -> bool:
        """Return whether its channel is closed."""
        return self._closing.done()

    async def closed(self) -> None:
        """Wait until its channel is closed."""
        await asyncio.shield(self._closing)

    def send(self, message: bytes) -> None:
        """Write to the supervisor."""
        self._process.stdin.write(message)

    async def wait(self) -> int:
        """Return the exit status; see `RunningCommand`."""
        await self.closed()
        status = self._process.returncode
        if status is None:
            raise SandboxConnectionError(
                f"The connection to {self._host} was lost while the command ran. What it did until "
                "then stands, and it is ended there; it was not run again. Look at what it has "
                "done before you run it once more."
            )
        return status if status >= 0 else 128 - status

    async def end(self, *, grace: float) -> None:
        """Have the supervisor end the command."""
        if grace and not self.is_closed and not self._process.is_closing():
            self._process.stdin.write_eof()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_ENDING_SECONDS):
                    await self.closed()
        self.end_now()

    def end_now(self) -> None:
        """Close the channel, which makes the supervisor end the command."""
        self._process.close()


@cache
def _supervisor() -> Sequence[str]:
    text = files(__package__).joinpath("supervisor.sh").read_text("utf-8")
    return ("bash", "--norc", "--noprofile", "-c", text)


def _library() -> Any:
    """Return asyncssh, whose options are as many as SSH's."""
    try:
        import asyncssh
    except ImportError as error:
        raise ConfigurationError(
            "the provider 'ssh' needs asyncssh: install it with pip install 'agentscope_like[ssh]'"
        ) from error
    return asyncssh
