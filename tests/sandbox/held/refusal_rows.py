"""The rows of `refusals.jsonl`: refused runs, and runs that only look like it.

`python -m tests.sandbox.held.refusal_rows` runs the commands of the refused ones held, as far as
their programs are installed, and writes what they print.
"""

from __future__ import annotations

import os
from pathlib import Path

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from agentscope_like.sandbox.held import HeldEnd, Refusal, find_refusal
from agentscope_like.sandbox.isolation import Attempt
from tests.sandbox.held.world import World

__all__ = ["RecordedMachine", "Row", "ran", "read_rows"]

FILE = Path(__file__).parents[2] / "data" / "held" / "refusals.jsonl"

PROJECT, HOME, OUTSIDE, PORT = "/home/ada/project", "/home/ada", "/srv/outside", 54321
_MOST_OUTPUT = 1_600
_NOT_FOUND = 127
_NAMES, _SERVER = 53, "192.0.2.53"


class Row(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A run.

    Attributes:
        command: Its text.
        kind: What it was refused; empty if nothing was.
        status: Its exit status.
        output: What it printed.
        attempts: What it tried to connect to.
        opened: The hidden credentials that it opened.
    """

    command: str
    kind: str
    status: int = 1
    output: str = ""
    attempts: tuple[tuple[str, int], ...] = ()
    opened: tuple[str, ...] = ()

    def refusal(self, *, knows_attempts: bool = True) -> Refusal | None:
        """Return what is found.

        Args:
            knows_attempts: Whether the attempts to connect are known.
        """
        attempts = tuple(Attempt(host, port) for host, port in self.attempts)
        end = HeldEnd(
            command=self.command,
            output=self.output,
            status=self.status,
            directories=(PROJECT,),
            home=HOME,
            opened=self.opened,
            hidden=(f"{OUTSIDE}/hidden",),
            attempts=attempts if knows_attempts else None,
        )
        return find_refusal(end, RecordedMachine())


class RecordedMachine:
    """The machine on which the rows were recorded, by its usual places."""

    def listens(self, port: int) -> bool:
        """Return whether a service listens on a port."""
        return port == PORT

    def has(self, path: str) -> bool:
        """Return whether a path exists."""
        system = ("/", "/etc", "/etc/ssl", "/opt", "/srv", "/usr/local/bin", "/usr/local/lib")
        own = (OUTSIDE, f"{HOME}/notes", f"{HOME}/notes/todo.txt", f"{HOME}/.ssh")
        return path in (*system, "/var/lib", "/var/log", *own)

    def is_special(self, path: str) -> bool:
        """Return whether a path is a named pipe, a socket or a device."""
        return path == f"{OUTSIDE}/pipe"


def read_rows() -> list[Row]:
    """Return all rows."""
    return [msgspec.json.decode(line, type=Row) for line in FILE.read_bytes().splitlines()]


def ran(row: Row, world: World) -> Row:
    """Run the command of a row held; return what came of it, with the places of all rows."""
    output, status, layer = world.held(["/bin/bash", "-c", row.command], seconds=60)
    layer.drop()
    port = int(world.variables["PORT"])
    attempts = tuple(
        dict.fromkeys(
            (
                _SERVER if each.port == _NAMES else each.host,
                PORT if each.port == port else each.port,
            )
            for each in world.attempts or ()
        )
    )
    return replace(
        row,
        status=-1 if status is None else status,
        output=_cut(_renamed(output, world)),
        attempts=tuple(attempts),
        opened=tuple(_renamed(each, world) for each in world.opened),
    )


def _renamed(text: str, world: World) -> str:
    for place, name in (
        (str(world.project), PROJECT),
        (str(world.home), HOME),
        (str(world.outside), OUTSIDE),
        (world.variables["PORT"], str(PORT)),
    ):
        text = text.replace(place, name)
    return text


def _cut(text: str) -> str:
    if len(text) <= _MOST_OUTPUT:
        return text
    return text[-_MOST_OUTPUT:].partition("\n")[2]


def _record() -> None:
    rows = [_recorded(row) if row.kind else row for row in read_rows()]
    FILE.write_bytes(b"".join(msgspec.json.encode(row) + b"\n" for row in rows))


def _recorded(row: Row) -> Row:
    with World() as world:
        (world.home / "notes").mkdir()
        (world.home / "notes" / "todo.txt").write_text("x\n")
        made = ran(row, world)
    return row if made.status == _NOT_FOUND else made


if __name__ == "__main__":
    os.umask(0o022)
    _record()
