"""Stores the tool definitions that a person approved, in `mcp.lock`."""

from __future__ import annotations

import fcntl
import json
import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from agentscope_like.exception import ConfigurationError
from agentscope_like.mcp.differences import differences
from agentscope_like.permission.explain import visible
from agentscope_like.tool.mcp import digest_of

__all__ = ["Pin", "PinFile", "ToolChange"]

_VERSION = 1
NEVER_APPROVED = "it was never approved"


class Pin(Struct, frozen=True, forbid_unknown_fields=True):
    """An approved definition.

    Attributes:
        digest: `sha256:` and the digest of the definition as canonical JSON.
        definition: The definition, to show differences from.
    """

    digest: str
    definition: dict[str, Any]


class ToolChange(Struct, frozen=True):
    """A tool whose definition is not approved.

    Attributes:
        server: The server's name in this program.
        tool: The tool's name, as the server gives it.
        definition: The current definition.
        approved: The approved definition; None if there is none.
    """

    server: str
    tool: str
    definition: dict[str, Any]
    approved: dict[str, Any] | None = None

    @property
    def differences(self) -> tuple[str, ...]:
        """Return a line for each different value, or one line if nothing was approved.

        The lines are safe to print, since control characters are escaped.
        """
        if self.approved is None:
            return (NEVER_APPROVED,)
        return tuple(differences(self.approved, self.definition))

    def __str__(self) -> str:
        """Return the change as readable text, with the description of a new tool."""
        lines = self.differences
        if self.approved is None:
            lines = (NEVER_APPROVED, *differences({}, self.definition))
        named = visible(f"{self.server}: {self.tool}", layout="")
        return "\n".join([named, *(f"  {line}" for line in lines)])


class _LockFile(Struct, frozen=True, forbid_unknown_fields=True):
    version: int
    servers: dict[str, dict[str, Pin]] = {}


class PinFile:
    """The lock file: sorted JSON for reviews and version control; readable by its owner only.

    It is replaced atomically, and two programs that approve at once wait for each other.

    Args:
        path: The file; it need not exist yet.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)

    def pins(self, server: str) -> Mapping[str, Pin]:
        """Return the approved definitions of the server's tools, by the server's names for them.

        Raises:
            ConfigurationError: The file is not a lock file, or was changed by hand.
        """
        return self._read().servers.get(server, {})

    def approve(self, changes: Iterable[ToolChange]) -> None:
        """Approve exactly these definitions.

        Raises:
            ConfigurationError: The file is not a lock file, or was changed by hand.
        """
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self._alone():
            servers = {name: dict(pins) for name, pins in self._read().servers.items()}
            for change in changes:
                pin = Pin(digest_of(change.definition), change.definition)
                servers.setdefault(change.server, {})[change.tool] = pin
            self._write(_LockFile(_VERSION, servers))

    def _read(self) -> _LockFile:
        try:
            read = msgspec.json.decode(self.path.read_bytes(), type=_LockFile)
        except FileNotFoundError:
            return _LockFile(_VERSION)
        except (OSError, ValueError, RecursionError) as error:
            raise ConfigurationError(
                f"{self.path} cannot be read as a lock file of MCP tools: {error}. Restore it, or "
                "remove it and approve the tools again"
            ) from error
        if read.version != _VERSION:
            raise ConfigurationError(
                f"{self.path} is a lock file of version {read.version}; this program reads "
                f"version {_VERSION}"
            )
        for server, pins in read.servers.items():
            for tool, pin in pins.items():
                if digest_of(pin.definition) != pin.digest:
                    raise ConfigurationError(
                        f"{self.path}: the digest of {tool!r} of {server!r} is not that of its "
                        "definition, so it was changed by hand. Remove it and approve it again"
                    )
        return read

    def _write(self, content: _LockFile) -> None:
        text = json.dumps(msgspec.to_builtins(content), indent=2, sort_keys=True)
        handle, name = tempfile.mkstemp(prefix=f".{self.path.name}.", dir=self.path.parent)
        try:
            with os.fdopen(handle, "w") as file:  # mkstemp makes it 0600
                file.write(f"{text}\n")
                file.flush()
                os.fsync(file.fileno())
            Path(name).replace(self.path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise

    @contextmanager
    def _alone(self) -> Iterator[None]:
        directory = os.open(self.path.parent, os.O_RDONLY | os.O_DIRECTORY)
        try:
            fcntl.flock(directory, fcntl.LOCK_EX)
            yield
        finally:
            os.close(directory)
