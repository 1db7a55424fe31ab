"""What a held run tries to connect to is told, and nobody waits for whoever is told of it."""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from agentscope_like.sandbox.held import HeldRun, held_objection
from agentscope_like.sandbox.isolation import Attempt, ConnectionWatch, landlock
from agentscope_like.sandbox.layer import Layer
from tests.sandbox.held.other_user import told_by_other_user
from tests.sandbox.held.world import PYTHON, World

_OBJECTION = held_objection(Path(tempfile.gettempdir(), "layers-tried"), [], home="/nowhere")

pytestmark = [
    pytest.mark.skipif(_OBJECTION is not None, reason=f"nothing can be held here: {_OBJECTION}"),
    pytest.mark.skipif(not landlock.works(), reason="there is no Landlock"),
]

_CONNECT = """
import socket, sys
for each in sys.argv[1:]:
    host, _, port = each.rpartition(":")
    try:
        socket.create_connection((host, int(port)))
    except OSError:
        pass
"""


@pytest.fixture
def world() -> Iterator[World]:
    """Make a world."""
    with World() as made:
        yield made


def _tried(world: World, *places: str) -> tuple[Attempt, ...] | None:
    _, _, layer = world.held([PYTHON, "-c", _CONNECT, *places])
    layer.drop()
    return world.attempts


def test_where_it_connects_to_is_told(world: World) -> None:
    """Every address is told once, though the program says nothing; a run without any has none."""
    places = ("10.2.3.4:443", "10.2.3.4:443", "2001:db8::1:80", "127.0.0.1:9")
    told = (Attempt("10.2.3.4", 443), Attempt("2001:db8::1", 80), Attempt("127.0.0.1", 9))
    assert _tried(world, *places) == told
    assert _tried(world) == ()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_a_user_without_rights_is_told() -> None:
    """It needs no rights over processes but those of their user."""

    def tried(place: str) -> bytes:
        with World(place) as world:
            return repr(_tried(world, "10.2.3.4:443")).encode()

    assert told_by_other_user(tried).decode() == repr((Attempt("10.2.3.4", 443),))


def test_more_connections_than_are_looked_at_work(world: World) -> None:
    """A server and a client in the run talk as ever."""
    code = """
import socket
server = socket.create_server(("127.0.0.1", 0))
for number in range(1500):
    with socket.create_connection(server.getsockname()) as client:
        client.send(b"x")
        assert server.accept()[0].recv(1) == b"x"
print("served")
"""
    output, status, _ = world.held([PYTHON, "-c", code])
    assert (output, status) == ("served\n", 0)
    assert world.attempts is not None
    assert len(world.attempts) == 1


def test_nobody_waits_for_one_who_is_gone(world: World) -> None:
    """A program that connects after the watch has ended goes on, with an error."""
    layer = Layer.make(world.store, [str(world.project)])
    run = HeldRun(
        layer,
        directory=str(world.project),
        environment=world.variables,
        temporary=str(world.temporary),
        home=str(world.home),
    )
    code = f"print(flush=True); input()\n{_CONNECT}\nprint('went on')"
    process = subprocess.Popen(
        [*run.words, PYTHON, "-c", code, "127.0.0.1:9"],
        pass_fds=run.descriptors,
        env={},
        cwd="/",
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    run.hand_over()
    if process.stdout is None:
        raise AssertionError
    process.stdout.readline()
    run.close()
    began = time.monotonic()
    output, _ = process.communicate("\n", timeout=10)
    assert output == "went on\n"
    assert time.monotonic() - began < 5


def test_without_a_script_nothing_is_known() -> None:
    """A watch that no program was told of says so at once, and ends."""
    watch = ConnectionWatch()
    began = time.monotonic()
    assert watch.attempts() is None
    assert time.monotonic() - began < 0.9
    watch.close()
    watch.close()


def test_a_program_has_no_way_to_the_watch(world: World) -> None:
    """It inherits neither the listener nor the socket on which that was handed over."""
    words = ["/bin/bash", "-c", "for f in /proc/$$/fd/*; do readlink $f; done"]
    output, _, _ = world.held(words)
    assert "socket" not in output
    assert "seccomp" not in output
    assert "pipe" in output
