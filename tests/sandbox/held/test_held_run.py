"""A held command does its work on the layer, ends with what started it, and fails closed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from agentscope_like.exception import IsolationError
from agentscope_like.sandbox.held import HeldLimits, HeldRun, held_objection
from agentscope_like.sandbox.isolation import landlock
from agentscope_like.sandbox.isolation.bubblewrap import _advised
from agentscope_like.sandbox.layer import Layer
from tests.sandbox.held.world import PYTHON, SECRET, World

_OBJECTION = held_objection(Path(tempfile.gettempdir(), "layers-tried"), [], home="/nowhere")

pytestmark = pytest.mark.skipif(
    _OBJECTION is not None, reason=f"nothing can be held here: {_OBJECTION}"
)


@pytest.fixture
def world() -> Iterator[World]:
    """Make a world."""
    with World() as made:
        yield made


def _sh(world: World, script: str) -> tuple[str, int | None]:
    output, status, layer = world.held(["/bin/bash", "-c", script])
    layer.drop()
    return output, status


def test_work_is_done_on_the_layer(world: World) -> None:
    """Files are made, changed, renamed and removed as ever, and the project stays as it was."""
    script = "echo x >new && mv src/inner moved && rm src/a.py && cat moved/b.py"
    output, status, layer = world.held(["/bin/bash", "-c", script])
    (manifest,) = layer.manifests()
    assert (output, status) == ("b\n", 0)
    assert not world.damage()
    assert {"new", "src/a.py", "moved/b.py"} <= {each.path for each in manifest.changes}


def test_programs_find_what_they_need(world: World) -> None:
    """Loopback, pairs of sockets, pools, terminals' devices and temporary files work."""
    code = """
import multiprocessing, os, socket, tempfile
server = socket.create_server(("127.0.0.1", 0))
socket.create_connection(server.getsockname()).close()
one, other = socket.socketpair()
one.send(b"x")
assert other.recv(1) == b"x"
os.openpty()
with tempfile.NamedTemporaryFile() as file:
    assert file.name.startswith("/tmp/")
with multiprocessing.get_context("fork").Pool(2) as pool:
    print(pool.map(abs, [-1, 2]), os.getuid())
"""
    output, status, _ = world.held([PYTHON, "-c", code])
    assert (output, status) == (f"[1, 2] {os.getuid()}\n", 0)


def test_caches_of_the_home_are_read_and_not_written(world: World) -> None:
    """What was fetched before is there, and stays as it is; credentials beside it are hidden."""
    fetched = world.home / ".cargo" / "registry" / "crate"
    fetched.parent.mkdir()
    fetched.write_text("code\n")
    assert _sh(world, "cat ~/.cargo/registry/crate") == ("code\n", 0)
    assert SECRET not in _sh(world, "cat ~/.cargo/credentials.toml ~/.cargo/*")[0]
    for written in ("echo x >~/.cargo/registry/new", "echo x >>~/.cargo/registry/crate"):
        assert _sh(world, written)[1] != 0
    assert [each.name for each in fetched.parent.iterdir()] == ["crate"]
    assert fetched.read_text() == "code\n"


def test_a_cache_that_the_home_lacks_stays_for_the_session(world: World) -> None:
    """Tools that need one can fill it; the home has none afterwards."""
    assert _sh(world, "mkdir ~/.cache/tool && echo x >~/.cache/tool/kept")[1] == 0
    assert _sh(world, "cat ~/.cache/tool/kept") == ("x\n", 0)
    assert not (world.home / ".cache").exists()


def test_package_managers_are_told(world: World) -> None:
    """They do not try again without a network."""
    assert _sh(world, "echo $PIP_RETRIES $npm_config_fetch_retries $TMPDIR") == ("0 0 /tmp\n", 0)


def test_temporary_files_stay_for_the_session(world: World) -> None:
    """The next run finds them, and so does whoever looks into the session's directory."""
    _sh(world, "echo x >/tmp/left; echo y >/var/tmp/left")
    assert _sh(world, "cat /tmp/left /var/tmp/left") == ("x\ny\n", 0)
    assert (world.temporary / "tmp" / "left").read_text() == "x\n"


def test_no_command_runs_held_where_it_would_have_a_directory_of_its_own(world: World) -> None:
    """What it writes to /tmp is not what is there, so /tmp is no project; one below it may be."""
    home = str(world.home)
    for place in ("/tmp", "/var/tmp"):
        assert place in str(held_objection(world.store, [place], home=home))
    assert held_objection(world.store, [str(world.project)], home=home) is None


def test_an_exit_status_is_told(world: World) -> None:
    """It is the program's own, and a command that did not run has none."""
    assert _sh(world, "exit 3")[1] == 3
    assert world.held(["/nowhere/program"])[1] != 0


def test_what_cannot_be_set_up_does_not_run(world: World, tmp_path: Path) -> None:
    """A layer that is gone, a lost directory and a link in the way are errors, not runs."""
    layer = Layer.make(world.store, [str(world.project)])
    layer.drop()
    for own in (layer, Layer.make(world.store, [str(world.project)])):
        temporary = str(tmp_path / "file" / "below")
        (tmp_path / "file").write_text("")
        with pytest.raises(IsolationError):
            HeldRun(
                own,
                directory=str(world.project),
                environment={},
                temporary=str(world.temporary) if own is layer else temporary,
                home=str(world.home),
            )


def test_a_mount_that_fails_runs_nothing(world: World) -> None:
    """Where the working directory was replaced, the program does not start."""
    layer = Layer.make(world.store, [str(world.project)])
    world.project.rename(world.top / "old")
    world.project.mkdir()
    with pytest.raises(IsolationError):
        HeldRun(
            layer,
            directory=str(world.project),
            environment={},
            temporary=str(world.temporary),
            home=str(world.home),
        )


@pytest.mark.parametrize(
    ("limits", "code", "told"),
    [
        (HeldLimits(memory_bytes=100 << 20), "x = b'x' * (300 << 20)", "MB of memory"),
        (HeldLimits(processes=20), "for i in range(40): os.fork() or time.sleep(60)", "processes"),
        (
            HeldLimits(disk_bytes=10 << 20),
            "[open(f'f{i}', 'wb').write(bytes(1 << 20)) for i in range(30)]",
            "it wrote more than 10 MB",
        ),
    ],
    ids=["memory", "processes", "disk"],
)
def test_what_it_takes_is_watched(world: World, limits: HeldLimits, code: str, told: str) -> None:
    """A run that takes more than its limits says which, so that it can be ended."""
    layer = Layer.make(world.store, [str(world.project)])
    program = f"import os, time\n{code}\ntime.sleep(60)"
    with HeldRun(
        layer,
        directory=str(world.project),
        environment=world.variables,
        temporary=str(world.temporary),
        home=str(world.home),
        limits=limits,
    ) as run:
        process = subprocess.Popen(
            [*run.words, PYTHON, "-c", program], pass_fds=run.descriptors, env={}, cwd="/"
        )
        run.hand_over()
        try:
            deadline = time.monotonic() + 20
            while (reason := run.excess()) is None and time.monotonic() < deadline:
                time.sleep(0.05)
        finally:
            process.kill()
            process.wait()
    assert reason is not None
    assert told in reason


def test_a_file_of_any_size_is_not_written(world: World) -> None:
    """The kernel ends a write beyond the limit of a file."""
    limits = HeldLimits(file_bytes=1 << 20)
    words = ["/bin/bash", "-c", "head -c 3000000 /dev/zero >big; stat -c %s big"]
    output, _, _ = world.held(words, limits=limits)
    assert output.splitlines()[-1] == str(1 << 20)


_LEAVES = (
    "setsid nohup bash -c 'trap \"\" TERM HUP; exec -a {mark} sleep 50' >/dev/null 2>&1 & sleep {s}"
)


def test_daemons_end_with_the_command(world: World) -> None:
    """A process in a session of its own that ignores signals is gone with the namespace."""
    mark = f"daemon-{world.top.name}"
    layer = Layer.make(world.store, [str(world.project)])
    with HeldRun(
        layer,
        directory=str(world.project),
        environment=world.variables,
        temporary=str(world.temporary),
        home=str(world.home),
    ) as run:
        words = [*run.words, "/bin/bash", "-c", _LEAVES.format(mark=mark, s=50)]
        process = subprocess.Popen(
            words, pass_fds=run.descriptors, env={}, cwd="/", start_new_session=True
        )
        run.hand_over()
        assert _until(lambda: _is_there(mark))
        process.kill()
        process.wait()
        assert _until(lambda: not _is_there(mark))


def test_nothing_outlives_a_killed_parent(world: World) -> None:
    """After kill -9 of what started it, at any moment, no process is left.

    If bwrap is killed while it waits for its child, the child waits on; it ends with its group.
    """
    mark = f"orphan-{world.top.name}"
    code = f"""
    import subprocess
    from pathlib import Path
    from agentscope_like.sandbox.held import HeldRun
    from agentscope_like.sandbox.host import OrphanGuard
    from agentscope_like.sandbox.layer import Layer
    layer = Layer.make(Path({str(world.store)!r}), [{str(world.project)!r}])
    run = HeldRun(layer, directory={str(world.project)!r}, environment={world.variables!r},
        temporary={str(world.temporary)!r}, home={str(world.home)!r})
    script = {_LEAVES.format(mark=mark, s=50)!r}
    process = subprocess.Popen([*run.words, "/bin/bash", "-c", script],
        pass_fds=run.descriptors, env={{}}, cwd="/", start_new_session=True)
    guard = OrphanGuard()
    guard.watch(process.pid)
    print(process.pid, flush=True)
    process.wait()
    """
    for pause in (0.0, 0.005, 0.02, 0.05, 0.5):
        parent = subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(code)], stdout=subprocess.PIPE
        )
        if parent.stdout is None:
            raise AssertionError
        started = int(parent.stdout.readline())
        time.sleep(pause)
        parent.send_signal(signal.SIGKILL)
        parent.communicate(timeout=10)  # until no process has the other end of its output
        assert _until(partial(_is_gone, started)), pause
        assert _until(lambda: not _is_there(mark)), pause


@pytest.mark.skipif(not landlock.works(), reason="there is no Landlock")
def test_a_held_command_does_not_start_for_a_dead_parent(world: World) -> None:
    """If its starter closes before the program begins, the program does not begin."""
    layer = Layer.make(world.store, [str(world.project)])
    run = HeldRun(
        layer,
        directory=str(world.project),
        environment=world.variables,
        temporary=str(world.temporary),
        home=str(world.home),
        gated=True,
    )
    process = subprocess.Popen(
        [*run.words, "/usr/bin/touch", "made"], pass_fds=run.descriptors, env={}, cwd="/"
    )
    timer = threading.Timer(0.3, run.close)
    timer.start()
    process.wait(20)
    timer.join()
    assert layer.manifests()[0].changes == ()


def test_advice_is_given_for_refused_namespaces() -> None:
    """What bubblewrap 0.8 says, and what it says under AppArmor, leads to the remedy."""
    for said in (
        "bwrap: No permissions to create new namespace, likely because the kernel does not allow",
        "bwrap: Creating new namespace failed: Operation not permitted",
        "bwrap: setting up uid map: Permission denied",
        "bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted",
    ):
        assert "sysctl" in _advised(said)
    assert _advised("bwrap: Can't find source path /x") == "bwrap: Can't find source path /x"


def _until(is_true: Callable[[], bool], seconds: float = 5.0) -> bool:
    deadline = time.monotonic() + seconds
    while not (found := is_true()) and time.monotonic() < deadline:
        time.sleep(0.02)
    return bool(found)


def _is_there(mark: str) -> bool:
    for each in os.listdir("/proc"):
        if each.isdigit():
            try:
                words = Path(f"/proc/{each}/cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if words[0] == mark.encode():
                return True
    return False


def _is_gone(pid: int) -> bool:
    """Return whether a process has ended; somebody may still have to take note of it."""
    try:
        return not Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return True
