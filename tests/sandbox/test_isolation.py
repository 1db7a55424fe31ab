"""What a command in a LOCAL sandbox cannot do, beside what it can."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import subprocess
import sys
import threading
import tomllib
import uuid
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

import pytest

from agentscope_like.exception import ConfigurationError, IsolationError
from agentscope_like.sandbox import IsolationLevel, SandboxHandle, VolumeMount
from agentscope_like.sandbox.isolation import confinement as confinement_module
from agentscope_like.sandbox.isolation import local as local_module
from agentscope_like.sandbox.isolation.bubblewrap import options
from agentscope_like.sandbox.isolation.local import LocalSandbox
from tests.sandbox.kit import ended, is_running, local, passthrough, require_bubblewrap, until


async def said(sandbox: SandboxHandle, command: str, **arguments: object) -> str:
    """Return what a command says, its error included."""
    done = await sandbox.execute_command(f"{{ {command}\n}} 2>&1", **arguments)  # type: ignore[arg-type]
    return done.stdout


async def test_sage_x_05_another_process_table(isolated: SandboxHandle) -> None:
    """A command sees and reaches no process of the host; its own it does."""
    assert isolated.isolation is IsolationLevel.KERNEL
    assert str(os.getpid()) not in (await said(isolated, "ls /proc")).split()
    assert "No such process" in await said(isolated, f"kill -0 {os.getpid()}")
    assert await said(isolated, "sleep 5 & kill $! && echo ended") == "ended\n"


async def test_sage_x_01_background_and_foreground_are_isolated_alike(
    isolated: SandboxHandle,
) -> None:
    """Both see the same namespaces' kind and files: neither is the host's (4.1)."""
    question = "readlink /proc/self/ns/pid; ls -a /; ls -a ~; id -u; ulimit -a"
    foreground = await said(isolated, question, timeout=20)
    task = await isolated.start_background(question)
    await ended(isolated, task)
    background = await isolated.read_background_output(task)
    assert background.splitlines()[1:] == foreground.splitlines()[1:]
    host = os.readlink("/proc/self/ns/pid")
    assert host not in foreground + background


async def test_the_rest_of_the_host_is_not_there(
    isolated: SandboxHandle, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Homes, keys, logs and other temporary files are not to be seen; programs are."""
    secret = tmp_path_factory.mktemp("other") / "secret"
    secret.write_text("secret")
    for path in (secret, "/etc/shadow", "/var/log", "/sys/kernel", Path.home() / ".ssh"):
        assert "No such file" in await said(isolated, f"ls {path}"), path
    assert "bash" in await said(isolated, "ls /usr/bin/bash; cat /etc/passwd")


async def test_the_system_cannot_be_written(isolated: SandboxHandle, tmp_path: Path) -> None:
    """Programs, configuration and the root are read-only; workspace, home and /tmp are not."""
    for path in ("/usr/bin/x", "/etc/passwd", "/x", "/usr/x"):
        complaint = await said(isolated, f"echo x >> {path}")
        assert "Read-only file system" in complaint or "Permission denied" in complaint, path
    assert await said(isolated, "touch here ~/home /tmp/tmp && echo done") == "done\n"
    assert (tmp_path / "here").exists()
    assert not Path("/tmp/tmp").exists()


async def test_home_and_tmp_last_as_long_as_the_sandbox() -> None:
    """What a command leaves in its home and its /tmp the next one finds; another sandbox not."""
    async with local() as sandbox:
        await sandbox.execute_command("echo home > ~/file; echo tmp > /tmp/file")
        assert await said(sandbox, "cat ~/file /tmp/file") == "home\ntmp\n"
        assert await sandbox.read_file("/tmp/file") == "tmp\n"
        async with local() as other:
            assert "No such file" in await said(other, "cat /tmp/file")


async def test_trap_a_workspace_below_tmp_is_not_covered(
    isolated: SandboxHandle, tmp_path: Path
) -> None:
    """A workspace in the host's /tmp is there, in a /tmp that is the sandbox's own (4.2)."""
    assert str(tmp_path).startswith("/tmp/")
    (tmp_path / "file").write_text("kept")
    assert await said(isolated, "cat file; ls /tmp") == f"kept{tmp_path.parts[2]}\n"


async def test_trap_the_environment_does_not_leak(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Nothing of this process's environment reaches a command unless it was named."""
    monkeypatch.setenv("MY_API_KEY", "sk-secret")
    monkeypatch.setenv("LC_MY_API_KEY", "sk-secret")  # as for an sshd, which takes LC_*
    monkeypatch.setenv("HARMLESS", "harmless")
    monkeypatch.setenv("LANG", "C.UTF-8")
    monkeypatch.setenv("LC_TIME", "C.UTF-8")
    for make in (local, passthrough):
        async with make(workspace=str(tmp_path), pass_env=("HARMLESS",), env={"OWN": "1"}) as box:
            seen = await said(box, "env; tr '\\0' '\\n' < /proc/$PPID/environ; ps -ef")
            assert "sk-secret" not in seen
            for line in ("HARMLESS=harmless", "OWN=1", "LANG=C.UTF-8", "LC_TIME=C.UTF-8"):
                assert line in seen.splitlines()
    async with local(workspace=str(tmp_path), pass_env=("*",)) as box:
        assert "MY_API_KEY=sk-secret" in await said(box, "env")


async def test_variables_are_the_command_s_and_not_the_launcher_s(
    isolated: SandboxHandle, tmp_path: Path
) -> None:
    """What a variable makes programs load, it loads inside only; no command line shows it."""
    mark = uuid.uuid4().hex
    (tmp_path / "evil").write_text(f"touch {tmp_path}/ran; readlink /proc/self/ns/pid")
    variables = {"BASH_ENV": str(tmp_path / "evil"), "LD_PRELOAD": "/nowhere.so", "TOKEN": mark}
    running = await isolated.start_background("exec sleep 60", env_vars=variables)
    assert await until((tmp_path / "ran").exists)
    assert not is_running(mark)
    output = await isolated.read_background_output(running)
    assert os.readlink("/proc/self/ns/pid") not in output


@pytest.fixture
def listener() -> Iterator[int]:
    """Return the port of something that answers on this host."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.1)
        stop = threading.Event()

        def serve() -> None:
            while not stop.is_set():
                try:
                    connection, _ = server.accept()
                except TimeoutError:
                    continue
                with connection:
                    connection.sendall(b"answer\n")

        thread = threading.Thread(target=serve)
        thread.start()
        yield server.getsockname()[1]
        stop.set()
        thread.join()


async def test_the_network_is_off_unless_asked_for(tmp_path: Path, listener: int) -> None:
    """Not even this host's own services are reached; with `network=True` they are (4.2)."""
    question = f"cat < /dev/tcp/127.0.0.1/{listener}"
    async with local(workspace=str(tmp_path)) as sandbox:
        assert "answer" not in await said(sandbox, question)
    async with local(workspace=str(tmp_path), network=True) as sandbox:
        assert await said(sandbox, question) == "answer\n"


_CALLS = """
import ctypes, errno, json, platform, socket, sys
libc = ctypes.CDLL(None, use_errno=True)
x86 = platform.machine() == "x86_64"

def tried(name, *arguments):
    ctypes.set_errno(0)
    libc.syscall(NUMBERS[name][0 if x86 else 1], *arguments)
    return errno.errorcode.get(ctypes.get_errno(), "fine")

def made(family):
    try:
        socket.socket(family, socket.SOCK_STREAM).close()
    except OSError as error:
        return errno.errorcode[error.errno]
    return "fine"

here, session_keyring = -100, -3
print(json.dumps({
    "add_key": tried("add_key", b"user", b"name", b"value", 5, session_keyring),
    "bpf": tried("bpf", 0, 0, 0),
    "fanotify_init": tried("fanotify_init", 0x200, 0),
    "fsopen": tried("fsopen", b"tmpfs", 0),
    "io_uring_setup": tried("io_uring_setup", 8, 0),
    "keyctl": tried("keyctl", 0, session_keyring, 0),
    "mount": tried("mount", 0, 0, 0, 0, 0),
    "move_mount": tried("move_mount", here, b"/", here, b"/", 0),
    "name_to_handle_at": tried("name_to_handle_at", here, b"/", 0, 0, 0),
    "open_by_handle_at": tried("open_by_handle_at", here, 0, 0),
    "open_tree": tried("open_tree", here, b"/", 0),
    "open_tree_attr": tried("open_tree_attr", here, b"/", 0, 0, 0),
    "perf_event_open": tried("perf_event_open", 0, 0, 0, 0, 0),
    "request_key": tried("request_key", b"user", b"name", 0, session_keyring),
    "setns": tried("setns", -1, 0),
    "syslog": tried("syslog", 10, 0, 0),
    "unshare": tried("unshare", 0x10000000),
    "userfaultfd": tried("userfaultfd", 1),
    "clone3": tried("clone3", 0, 0),
    "TIOCSTI": libc.ioctl(0, 0x5412, b"x") and errno.errorcode[ctypes.get_errno()],
    "vsock": made(40),
    "packet": made(17),
    "unix": made(socket.AF_UNIX),
    "internet": made(socket.AF_INET),
    "getpid": tried("getpid"),
}))
"""
_KEPT_FROM_SOCKETS = {"vsock": "EAFNOSUPPORT", "packet": "EAFNOSUPPORT"}
_ALLOWED = {"unix": "fine", "internet": "fine", "getpid": "fine"}


async def test_calls_that_lead_past_the_namespaces_are_refused(isolated: SandboxHandle) -> None:
    """The filter refuses keys, mounts, io_uring, namespaces, a hypervisor's sockets; not the rest.

    Each is made in such a way that without the filter the kernel would say something else.
    """
    table = tomllib.loads(
        files("agentscope_like.sandbox.isolation").joinpath("seccomp.toml").read_text()
    )
    numbers = {**table["refused"], **table["examined"], "getpid": [39, 172]}
    done = await isolated.execute_python(f"NUMBERS = {numbers}\n{_CALLS}")
    assert done.error is None
    said = json.loads(done.output)
    expected = dict.fromkeys(said, "EPERM") | {"clone3": "ENOSYS"} | _KEPT_FROM_SOCKETS | _ALLOWED
    assert said == expected


async def test_no_capability_and_no_new_privileges(isolated: SandboxHandle) -> None:
    """A command has no capability, cannot gain one, and has a session without a terminal."""
    status = await said(isolated, "cat /proc/self/status")
    fields = dict(line.split(":\t", 1) for line in status.splitlines() if ":\t" in line)
    assert int(fields["CapEff"], 16) == int(fields["CapBnd"], 16) == 0
    assert fields["NoNewPrivs"] == "1"
    assert fields["Seccomp"] == "2"
    assert "No such device" in await said(isolated, "echo x > /dev/tty")
    assert (await isolated.execute_command("mount -t tmpfs x /tmp")).return_code != 0


async def test_sage_x_07_processor_time_is_limited(tmp_path: Path) -> None:
    """A command that computes too long is ended; one that waits as long is not."""
    async with local(workspace=str(tmp_path), cpu_time_limit=1) as sandbox:
        done = await sandbox.execute_command("while :; do :; done", timeout=30)
        assert done.return_code in (128 + 24, 128 + 9)
        assert not done.timed_out
        assert (await sandbox.execute_command("sleep 1.2; echo done", timeout=30)).success


async def test_sage_x_08_memory_is_limited(tmp_path: Path) -> None:
    """A program cannot allocate beyond its limit, and can below it."""
    async with local(workspace=str(tmp_path), memory_limit_mb=256) as sandbox:
        allocate = "python3 -c 'len(bytearray({} << 20))' && echo done"
        assert "MemoryError" in await said(sandbox, allocate.format(300))
        assert await said(sandbox, allocate.format(60)) == "done\n"


async def test_the_size_of_files_is_limited(tmp_path: Path) -> None:
    """A file cannot grow beyond its limit, and can up to it."""
    async with local(workspace=str(tmp_path), max_file_size_mb=1) as sandbox:
        assert not (await sandbox.execute_command("head -c 2000000 /dev/zero > big")).success
        assert (tmp_path / "big").stat().st_size <= 1 << 20
        assert (await sandbox.execute_command("head -c 1000000 /dev/zero > small")).success


async def test_the_number_of_processes_is_limited(tmp_path: Path) -> None:
    """A command that starts more and more is stopped; a few processes are fine."""
    mark = uuid.uuid4().hex
    async with local(workspace=str(tmp_path), max_processes=30) as sandbox:
        few = "for i in 1 2 3 4 5; do sleep 0.1 & done; wait; echo done"
        assert await said(sandbox, few, timeout=30) == "done\n"
        many = f"for i in $(seq 200); do (exec -a {mark} sleep 20) & done; wait; echo done"
        done = await sandbox.execute_command(many, timeout=3)
        if os.geteuid() == 0:  # whose processes the kernel does not count
            assert "more than 30 processes" in done.stderr
        else:
            assert "Resource temporarily unavailable" in done.stderr
        assert not done.success
    assert not is_running(mark)


async def test_a_failure_to_isolate_is_an_error_and_nothing_runs(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """When a mount is gone, the command does not run: least of all on the host (4.5, 1)."""
    data = tmp_path_factory.mktemp("data")
    mounts = [VolumeMount(str(data), "/data")]
    async with local(workspace=str(tmp_path), volume_mounts=mounts) as sandbox:
        assert (await sandbox.execute_command("true")).success
        data.rmdir()
        with pytest.raises(IsolationError, match="data"):
            await sandbox.execute_command(f"touch {tmp_path}/ran")
        with pytest.raises(IsolationError, match="data"):
            await sandbox.start_background(f"touch {tmp_path}/ran")
        data.mkdir()
        assert (await sandbox.execute_command("true")).success
    assert not (tmp_path / "ran").exists()


async def test_a_machine_without_isolation_makes_no_local_sandbox(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Where bubblewrap does not work, LOCAL is an error that names what does, and runs nothing."""
    for module in (local_module, confinement_module):
        monkeypatch.setattr(module, "bubblewrap_objection", lambda: "no namespaces here")
    sandbox = LocalSandbox()
    with pytest.raises(IsolationError, match=r"no namespaces here.*PASSTHROUGH"):
        await sandbox.initialize()
    with pytest.raises(ConfigurationError, match="not ready"):
        await sandbox.execute_command("touch ran")


@pytest.mark.parametrize("program", ["exit 0", "exit 1", "kill -9 $$", "echo '{' >&3; exit 0"])
async def test_a_bwrap_that_fails_is_an_error_and_nothing_runs(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    tmp_path_factory: pytest.TempPathFactory,
    program: str,
) -> None:
    """However bwrap ends, a command is only taken for run where bwrap says that it was."""
    bwrap = tmp_path_factory.mktemp("bin") / "bwrap"
    bwrap.write_text(f"#!/bin/bash\necho no luck today >&2\n{program}\n")
    bwrap.chmod(0o755)
    async with local(workspace=str(tmp_path)) as sandbox:
        monkeypatch.setattr(confinement_module, "find_bubblewrap", lambda: str(bwrap))
        for run in (sandbox.execute_command, sandbox.start_background):
            with pytest.raises(IsolationError, match="not run: no luck today"):
                await run(f"touch {tmp_path}/ran")
        monkeypatch.undo()
        assert (await sandbox.execute_command("true")).success
    assert os.listdir(tmp_path) == []


# Does as bwrap up to the moment in which it would run the command.
VANISHING = """
import json, os, sys
with open(int(sys.argv[sys.argv.index("--args") + 1])) as file:
    words = file.read().split("\\0")
def descriptor(option):
    return int(words[words.index(option) + 1])
os.write(descriptor("--json-status-fd"), json.dumps({"child-pid": os.getpid()}).encode() + b"\\n")
os.read(descriptor("--block-fd"), 1)
"""


async def test_a_bwrap_that_vanishes_in_the_last_moment_is_an_error(
    monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory, tmp_path: Path
) -> None:
    """Its own exit status, though it is that of success, is not the command's."""
    bwrap = tmp_path_factory.mktemp("bin") / "bwrap"
    bwrap.write_text(f"#!{sys.executable}\n{VANISHING}")
    bwrap.chmod(0o755)
    async with local(workspace=str(tmp_path), memory_limit_mb=512) as sandbox:
        monkeypatch.setattr(confinement_module, "find_bubblewrap", lambda: str(bwrap))
        with pytest.raises(IsolationError, match="not run"):
            await sandbox.execute_command(f"touch {tmp_path}/ran")
        monkeypatch.undo()
        assert (await sandbox.execute_command("true")).success
    assert os.listdir(tmp_path) == []


async def test_trap_nothing_a_command_says_switches_isolation_off(isolated: SandboxHandle) -> None:
    """What looks like bwrap's own failure is output, and the next command is isolated (4.5, 2)."""
    done = await isolated.execute_command(
        "echo 'bwrap: setting up uid map: Operation not permitted' >&2; exit 1"
    )
    assert done.return_code == 1
    assert str(os.getpid()) not in (await said(isolated, "ls /proc")).split()


async def test_trap_a_command_cannot_forge_its_report(isolated: SandboxHandle) -> None:
    """The descriptor that says how a command ended is not among those that it has."""
    done = await isolated.execute_command(
        "for fd in $(seq 3 60); do echo '{\"exit-code\": 0}' >&$fd; done 2>/dev/null; exit 9"
    )
    assert done.return_code == 9


async def test_trap_a_symlink_does_not_divert_a_mount(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """A link where another mount belongs, put there by a command, is an error, not a detour."""
    data, victim = tmp_path_factory.mktemp("data"), tmp_path_factory.mktemp("victim")
    (tmp_path / "a").mkdir()
    mounts = [VolumeMount(str(data), str(tmp_path / "a" / "data"))]
    async with local(workspace=str(tmp_path), volume_mounts=mounts) as sandbox:
        assert (await sandbox.execute_command("touch a/data/file")).success
        (tmp_path / "a").rename(tmp_path / "b")
        (tmp_path / "a").symlink_to(victim)
        with pytest.raises(IsolationError, match="symlink"):
            await sandbox.execute_command("true")
    assert os.listdir(victim) == []


def test_mounts_come_after_what_would_cover_them(isolated: LocalSandbox) -> None:
    """In the options, what lies below comes later, and the namespaces are all new."""
    arguments = options(isolated.profile, directory="/", environment={"A": "b"})
    for wanted in ("--unshare-all", "--new-session", "--die-with-parent", "--clearenv"):
        assert wanted in arguments
    assert "--share-net" not in arguments
    at = arguments.index("--cap-drop")
    assert arguments[at + 1] == "ALL"
    workspace = isolated.workspace_path
    assert arguments.index("/tmp") < arguments.index(workspace)
    assert arguments.index("--tmpfs") < arguments.index("--bind")


async def test_an_isolated_command_goes_with_its_process(tmp_path: Path) -> None:
    """When the process that started it is killed, a command does not live on."""
    require_bubblewrap()
    mark = uuid.uuid4().hex
    program = f"""
import asyncio
from agentscope_like.sandbox import SandboxConfig, SandboxProviderFactory
async def main():
    sandbox = await SandboxProviderFactory.create(SandboxConfig(workspace={str(tmp_path)!r}))
    await sandbox.execute_command("exec -a {mark} sleep 60", timeout=60)
asyncio.run(main())
"""
    process = await asyncio.to_thread(
        subprocess.Popen,
        [sys.executable, "-c", program],
        env={**os.environ, "TMPDIR": str(tmp_path)},  # it does not get to tidy up
    )
    try:
        assert await until(lambda: is_running(f"{mark}\0"), 20)
    finally:
        process.kill()
        process.wait()
    assert await until(lambda: not is_running(f"{mark}\0"))


@pytest.mark.parametrize("place", ["/", "/proc", "/proc/x", "/dev/shm", "/sys", "relative"])
def test_the_system_s_places_are_not_mounted_over(place: str) -> None:
    """A mount at the root, or where the kernel's own file systems are, is refused."""
    with pytest.raises(ConfigurationError):
        VolumeMount("/tmp", place)


async def test_two_mounts_at_one_place_are_refused(tmp_path: Path) -> None:
    """Which of two directories is at a path is not left to chance."""
    with pytest.raises(ConfigurationError, match="cannot both"):
        local(volume_mounts=[VolumeMount("/usr", "/data"), VolumeMount("/opt", "/data")])
    with pytest.raises(ConfigurationError, match="cannot both"):
        local(workspace=str(tmp_path), volume_mounts=[VolumeMount("/usr", str(tmp_path))])
    with pytest.raises(ConfigurationError, match="no such directory"):
        local(workspace=str(tmp_path / "nowhere"))
    (tmp_path / "file").touch()
    with pytest.raises(ConfigurationError, match="not a directory"):
        local(workspace=str(tmp_path / "file"))
