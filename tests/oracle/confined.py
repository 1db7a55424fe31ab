"""Runs commands inside the jail by the `Bash` tool, confined, and tells what each of them changed.

    python -m tests.oracle.confined KIND

KIND is `auto`, for what the tool does by itself; `compare`, for that beside what it does without
confining; `accept`, for what it does in a session that accepts edits; `secrets`, for what it shows
of planted credentials without anybody being asked; `read` or `edit`, which confines every command
as if that had been decided about it.
Started by `tests.oracle.jail`.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import sys
from difflib import unified_diff
from functools import partial
from pathlib import Path
from typing import Any

from agentscope_like.exception import AgentOrientedException
from agentscope_like.message import TextBlock
from agentscope_like.permission import (
    PermissionBehavior,
    PermissionContext,
    PermissionEngine,
    PermissionMode,
)
from agentscope_like.permission.command import PreparedCommand
from agentscope_like.sandbox.isolation.profile import Confine, reading
from agentscope_like.sandbox.isolation.scope import Scope, ScopeKind, edit_scope
from agentscope_like.tool.builtin.bash import bash_tool as bash_module
from agentscope_like.tool.builtin.bash.bash_tool import Bash
from agentscope_like.tool.builtin.bash.confiner import Confiner
from tests.oracle.planted import plant_secrets, planted_in
from tests.oracle.server import REFUSED, TIME_LIMIT, Server, serve
from tests.oracle.world import INHERITED, PROJECT
from tests.permission.kit import CommandAnalysis

__all__ = ["DIFFERENT", "ConfinedServer"]

DIFFERENT = 1
"""Stands for the exit status of a command that does not do the same confined."""


_FIGURE = re.compile(rb"[ \t]*[0-9][0-9a-f:.,T+-]*[ \t]*")
_COVERED = re.compile(rb"^.*(?:\.npmrc|\.netrc|id_rsa).*$", re.MULTILINE)
"""Lines about the credentials of the world that git does not track."""


class Reads(Confiner):
    """Confines every command as a proven read."""

    async def scope(self, call: PreparedCommand) -> Scope:
        """Return the scope of a read."""
        del call
        return Scope(ScopeKind.READ, reading())


class Edits(Confiner):
    """Confines every command as an edit of files in the working directories."""

    async def scope(self, call: PreparedCommand) -> Scope:
        """Return the scope of an edit."""
        around = call.surroundings
        return edit_scope(CommandAnalysis("", around.directory, None), around)


class ConfinedServer(Server):
    """Runs commands by the tool.

    Args:
        kind: How they are confined.
    """

    def __init__(self, kind: str) -> None:
        if kind == "secrets":
            plant_secrets()
        super().__init__()
        os.environ.clear()
        os.environ.update(INHERITED)
        forced = {"read": Reads, "edit": Edits}.get(kind)
        if forced is not None:
            vars(bash_module)["Confiner"] = forced
        self._kind = kind

    def execute(self, command: str, environment: dict[str, str]) -> tuple[int | None, bytes]:
        """Return the exit status and the output of a command; None where its time was up.

        To compare, return the status of 0 where both did the same, else DIFFERENT and how. Where
        edits are accepted, the same of what was decided and what the kernel let it do. Of what
        shows secrets, return DIFFERENT and which.
        """
        del environment
        if self._kind == "compare":
            return asyncio.run(self._compare(command))
        if self._kind == "accept":
            return asyncio.run(self._accepted(command))
        if self._kind == "secrets":
            return asyncio.run(self._unasked(command))
        return asyncio.run(self._execute(command, "require"))

    async def _unasked(self, command: str) -> tuple[int | None, bytes]:
        engine = PermissionEngine(PermissionContext())
        decision = await engine.check_permission(Bash(cwd=PROJECT), {"command": command})
        if decision.behavior is not PermissionBehavior.ALLOW:
            return REFUSED, decision.message.encode()
        status, said, metadata = await self._called(command, "require")
        if status is None:
            return None, b""
        if metadata.get("covered_secrets") is None:  # it sees the network, or the host
            return REFUSED, b""
        if shown := planted_in(said):
            return DIFFERENT, f"shows {', '.join(shown)}".encode()
        return 0, json.dumps(metadata["covered_secrets"]["opened"]).encode()

    async def _accepted(self, command: str) -> tuple[int | None, bytes]:
        engine = PermissionEngine(PermissionContext(mode=PermissionMode.ACCEPT_EDITS))
        decision = await engine.check_permission(Bash(cwd=PROJECT), {"command": command})
        if decision.behavior is not PermissionBehavior.ALLOW:  # the files here are others
            return REFUSED, decision.message.encode()
        status, said, metadata = await self._called(command, "require", PermissionMode.ACCEPT_EDITS)
        if status is None:
            return None, b""
        if metadata.get("confinement") == "edit" and "violation" not in metadata:
            return 0, b""
        return DIFFERENT, f"{metadata}\n{said}".encode(errors="replace")

    async def _compare(self, command: str) -> tuple[int | None, bytes]:
        free = await self._execute(command, "off")
        status, said, metadata = await self._called(command, "require")
        confined = status, said.encode(errors="replace")
        if None in (free[0], status):
            return None, b""
        if metadata.get("covered_secrets", {}).get("opened"):
            return 0, b""  # it was kept from secrets, and says so
        free, confined = map(_without_sizes, (free, confined))
        if free[0] == confined[0] and sorted(free[1].split()) == sorted(confined[1].split()):
            return 0, b""  # of two programs at a time, either may speak first, even within a line
        if (again := _without_sizes(await self._execute(command, "off"))) != free:
            # it says something else each time
            free, confined, again = map(_without_figures, (free, confined, again))
            if confined in (free, again) or free != again:
                return 0, b""
        lines = unified_diff(_lines(free), _lines(confined), n=0, lineterm="")
        told = [f"status {free[0]}, confined {confined[0]}", *lines]
        return DIFFERENT, "\n".join(told).encode()

    async def _execute(self, command: str, confine: Confine) -> tuple[int | None, bytes]:
        status, said, _ = await self._called(command, confine)
        return status, said.encode(errors="replace")

    @staticmethod
    async def _called(
        command: str, confine: Confine, mode: PermissionMode | None = None
    ) -> tuple[int | None, str, dict[str, Any]]:
        """Return exit status, text and metadata of a call in a session of that mode, if any."""
        bash = Bash(cwd=PROJECT, confine=confine)
        policy = None if mode is None else PermissionContext(mode=mode)
        said, metadata = "", dict[str, Any]()
        try:
            call = bash.call(command, timeout=int(TIME_LIMIT * 1000), _permission_context=policy)
            async for chunk in call:
                said += "".join(b.text for b in chunk.content if isinstance(b, TextBlock))
                metadata = chunk.metadata
            if path := metadata.get("output_file"):  # it goes with the tool
                said += await asyncio.to_thread(Path(path).read_text, errors="replace")
        except AgentOrientedException as error:
            return REFUSED, error.message, {}
        except OSError as error:  # more output than the jail lets any program keep
            return REFUSED, str(error), {}
        if "not_confined" in metadata:
            raise RuntimeError(said)
        return metadata["exit_code"], said, metadata


def _lines(done: tuple[int | None, bytes]) -> list[str]:
    return done[1].decode(errors="replace").splitlines()


def _without_figures(done: tuple[int | None, bytes]) -> tuple[int | None, bytes]:
    return done[0], _FIGURE.sub(b"#", done[1])


def _without_sizes(done: tuple[int | None, bytes]) -> tuple[int | None, bytes]:
    """Leave out what is told of the size of a covered file, which is that of its notice."""
    return done[0], _COVERED.sub(lambda line: _FIGURE.sub(b"#", line[0]), done[1])


if __name__ == "__main__":
    serve(partial(ConfinedServer, sys.argv[1]))
