"""What a held run was refused is named, and what only looks like a refusal is not."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest

from agentscope_like.sandbox.held import HeldEnd, RefusalKind, find_refusal, held_objection
from agentscope_like.sandbox.isolation import Attempt, landlock
from tests.sandbox.held.other_user import told_by_other_user
from tests.sandbox.held.refusal_rows import RecordedMachine, Row, read_rows
from tests.sandbox.held.world import World

ROWS = read_rows()
REFUSED = [row for row in ROWS if row.kind]
LOOK_ALIKES = [row for row in ROWS if not row.kind]

_OBJECTION = held_objection(Path(tempfile.gettempdir(), "layers-tried"), [], home="/nowhere")
needs_holding = pytest.mark.skipif(
    _OBJECTION is not None or not landlock.works(), reason=f"nothing can be held here: {_OBJECTION}"
)


def test_the_rows_are_many() -> None:
    """Each is a run of its own."""
    assert len({row.command for row in REFUSED}) >= 100
    assert len({(row.command, row.output) for row in LOOK_ALIKES}) >= 100


def _named(rows: Sequence[Row], *, knows_attempts: bool) -> float:
    found = [row.refusal(knows_attempts=knows_attempts) for row in rows]
    right = [
        each is not None and each.kind == row.kind for row, each in zip(rows, found, strict=True)
    ]
    return sum(right) / len(rows)


def test_refusals_are_named() -> None:
    """At least 95 % are named rightly where attempts to connect are known, and else 75 %."""
    assert _named(REFUSED, knows_attempts=True) >= 0.95
    assert _named(REFUSED, knows_attempts=False) >= 0.75


@pytest.mark.parametrize("knows_attempts", [True, False])
def test_look_alikes_are_not_named(knows_attempts: bool) -> None:
    """Fewer than 5 % of mock messages, listings, names of tests and faults of code are."""
    alarms = [
        row.command for row in LOOK_ALIKES if row.refusal(knows_attempts=knows_attempts) is not None
    ]
    assert len(alarms) < len(LOOK_ALIKES) * 0.05, alarms


def _end(command: str, output: str = "", *, status: int = 1, attempts: Sequence[str] = ()) -> str:
    """Return what is said of a run."""
    found = find_refusal(
        HeldEnd(
            command=command,
            output=output,
            status=status,
            directories=("/home/ada/project",),
            home="/home/ada",
            hidden=("/home/ada/project/private",),
            attempts=tuple(
                Attempt(host, int(port)) for host, _, port in (a.rpartition(":") for a in attempts)
            ),
        ),
        RecordedMachine(),
    )
    return "" if found is None else found.text


def test_the_model_is_told_what_and_what_to_do() -> None:
    """The sentence names the address that was tried."""
    said = "Error: connect ENETUNREACH 10.2.3.4:443"
    assert _end("node a.js", said, attempts=["10.2.3.4:443"]) == (
        "Held: no network in this run (tried 10.2.3.4:443). Not a fault of the code. "
        "If it is needed, call again with escalate=true; a person is asked."
    )


@pytest.mark.parametrize(
    ("refused", "neighbour"),
    [
        (
            _end("x", "AssertionError: 2 != 3", attempts=["10.2.3.4:443"]),
            _end("x", "AssertionError: 2 != 3", attempts=["10.2.3.4:443"], status=0),
        ),
        (
            _end("x", "OSError: [Errno 101] Network is unreachable", attempts=["10.2.3.4:443"]),
            _end("x", "OSError: [Errno 101] Network is unreachable"),
        ),
        (_end("x", attempts=["10.2.3.4:443"]), _end("x", attempts=["127.0.0.1:443"])),
        (_end("x", attempts=["127.0.0.1:54321"]), _end("x", attempts=["127.0.0.1:54320"])),
        (
            _end("x", "x: cannot write /etc/y: Read-only file system"),
            _end("x", "x: cannot write /home/ada/project/y: Read-only file system"),
        ),
        (
            _end("x", "OSError: [Errno 30] Read-only file system: '/etc/y'"),
            _end("x", "OSError: [Errno 30] Read-only file system: '/not/there/y'"),
        ),
        (
            _end("x", "cat: /home/ada/notes/todo.txt: No such file or directory"),
            _end("x", "cat: /home/ada/notes/other.txt: No such file or directory"),
        ),
        (
            _end("x", "sh: /srv/outside/pipe: Permission denied"),
            _end("x", "sh: /srv/outside/file: Permission denied"),
        ),
        (
            _end("cat private", "cat: private: Permission denied"),
            _end("cat locked", "cat: locked: Permission denied"),
        ),
        (
            _end("git clone . x", "fatal: hardlink different from source at 'x/.git/objects/1'"),
            _end("git clone . x", "fatal: destination path 'x' already exists"),
        ),
        (
            _end("touch /etc/y; true", "touch: '/etc/y': Read-only file system", status=0),
            _end("cat log", "touch: '/etc/y': Read-only file system", status=0),
        ),
    ],
)
def test_each_has_a_neighbour_that_is_none(refused: str, neighbour: str) -> None:
    """What the run could not be refused, or did not fail for, is not named."""
    assert refused.startswith("Held: ")
    assert neighbour == ""


# Real runs

_REAL = {
    "exec 3<>/dev/tcp/10.2.3.4/443": RefusalKind.NETWORK,
    "(exec 2>/dev/null 3<>/dev/tcp/10.2.3.4/443); echo went on": None,
    "exec 2>/dev/null 3<>/dev/tcp/127.0.0.1/$PORT": RefusalKind.SERVICE,
    "exec 3<>/dev/tcp/127.0.0.1/9": None,
    "touch $OUTSIDE/new": RefusalKind.PLACE,
    "mkdir ~/new": RefusalKind.PLACE,
    "touch src/none/new": None,
    "echo x >$PIPE": RefusalKind.PIPE,
    "cat $OUTSIDE/hidden": RefusalKind.HIDDEN,
    "cat ~/letters/private.txt": RefusalKind.HIDDEN,
    "cat ~/letters/none.txt": None,
    '. conf/.env; test -n "$KEY"': RefusalKind.HIDDEN,
}


def _really(place: str | None = None) -> dict[str, str | None]:
    """Run the commands held; return the kind of what is found for each."""
    found: dict[str, str | None] = {}
    with World(place) as world:
        for command in _REAL:
            output, status, layer = world.held(["/bin/bash", "-c", command])
            layer.drop()
            end = HeldEnd(
                command=command,
                output=output,
                status=status,
                directories=(str(world.project),),
                home=str(world.home),
                opened=world.opened,
                hidden=(str(world.outside / "hidden"),),
                attempts=world.attempts,
            )
            refusal = find_refusal(end)
            found[command] = None if refusal is None else refusal.kind
    return found


@needs_holding
def test_real_runs_are_told() -> None:
    """What the kernel refuses is named by what this machine has; what the project lacks is not."""
    assert _really() == _REAL


@needs_holding
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_real_runs_of_another_user_are_told() -> None:
    """A user without rights is told the same."""
    found = told_by_other_user(lambda place: msgspec.json.encode(_really(place)))
    assert msgspec.json.decode(found) == _REAL
