"""One start of a program is kept by the kernel to what was decided."""

from __future__ import annotations

import gc
import os
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from agentscope_like.exception import IsolationError
from agentscope_like.sandbox import VolumeMount
from agentscope_like.sandbox.isolation import confinement as confinement_module
from agentscope_like.sandbox.isolation import landlock
from agentscope_like.sandbox.isolation.bubblewrap import system_paths
from agentscope_like.sandbox.isolation.confinement import Confinement
from agentscope_like.sandbox.isolation.profile import Profile, editing, reading
from agentscope_like.sandbox.isolation.violation import find_violation
from tests.sandbox.kit import require_bubblewrap

ENVIRONMENT = {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8", "TMPDIR": "/dev/shm"}


class Done(NamedTuple):
    """How a command ended: what Popen says, what bwrap says, and what was printed."""

    code: int
    status: int | None
    output: str


def run(profile: Profile, command: str, directory: Path | str = "/", **own: str) -> Done:
    """Run a command as the Bash tool would."""
    confined = Confinement(profile, directory=str(directory), environment=ENVIRONMENT | own)
    with confined:
        process = subprocess.Popen(
            [*confined.words, "/usr/bin/bash", "--norc", "-c", command],
            pass_fds=confined.descriptors,
            env={},
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        confined.hand_over()
        output, _ = process.communicate(timeout=30)
        return Done(process.returncode, confined.exit_status, output)


@pytest.fixture(autouse=True)
def _bubblewrap() -> None:
    require_bubblewrap()


def test_a_read_reads_what_the_host_has(tmp_path: Path) -> None:
    """A proven read finds the host's files, git's and /tmp's included, as they are."""
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    (tmp_path / "file").write_text("b\na\n")
    done = run(reading(), "sort file; cat <<< here; git status --short; pwd; id -u", tmp_path)
    assert done == Done(0, 0, f"a\nb\nhere\n?? file\n{tmp_path}\n{os.getuid()}\n")


def test_a_read_that_writes_fails_and_says_so(tmp_path: Path) -> None:
    """Wherever it writes, nothing is written, and the violation names what the program said."""
    (tmp_path / "file").write_text("kept")
    for command in (
        "echo x > file",
        "touch new",
        "rm file",
        "chmod 777 file",
        "echo x > /tmp/new-file-of-a-test",
        "mkdir ~/new-directory-of-a-test",
    ):
        done = run(reading(), f"HOME={Path.home()}; {command}", tmp_path)
        assert done.status not in (0, None), command
        violation = find_violation(reading(), done.status, done.output, command)
        assert violation is not None, done.output
        assert violation.kind == "write"
        assert "Read-only file system" in violation.message
    assert os.listdir(tmp_path) == ["file"]
    assert (tmp_path / "file").read_text() == "kept"


def test_an_edit_writes_where_it_may(tmp_path: Path) -> None:
    """A command that may write in a directory does, below it too, and nowhere else."""
    work, other = tmp_path / "work", tmp_path / "other"
    work.mkdir()
    other.mkdir()
    profile = editing([str(work)])
    done = run(profile, "mkdir -p a/b && echo x > a/b/c && mv a/b/c d && cat d", work)
    assert done == Done(0, 0, "x\n")
    done = run(profile, f"cp d {other}/d", work)
    assert done.status == 1
    assert find_violation(profile, done.status, done.output, f"cp d {other}/d")
    assert os.listdir(other) == []


@pytest.fixture
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Return the path of a socket that somebody listens on, as a container engine's."""
    path = str(tmp_path_factory.mktemp("daemon") / "socket")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(path)
        server.listen()
        yield path


def test_a_read_reaches_nobody(daemon: str) -> None:
    """Neither the network nor a daemon's socket is reached without having been decided."""
    connect = (
        f'python3 -c \'import socket; socket.socket(socket.AF_UNIX).connect("{daemon}"); '
        'print("reached")\''
    )
    done = run(reading(), connect)
    assert "reached" not in done.output
    violation = find_violation(reading(), done.status, done.output, connect)
    assert violation is not None
    assert violation.kind == "network"
    assert "reached" not in run(reading(network=True), connect).output
    assert find_violation(reading(network=True), 1, "Network is unreachable", "curl x") is None
    assert run(Profile(read=("/",), sockets=True), connect).output == "reached\n"


TOUCHED = "touch: cannot touch 'made': Read-only file system"
BASH = "/usr/bin/bash: line 1: made: Read-only file system"


@pytest.mark.parametrize(
    ("command", "output"),
    [
        ("touch made; echo done", TOUCHED),
        ("cd x && /usr/bin/touch made | cat", TOUCHED),
        ("ls | xargs touch", TOUCHED),
        ("if true; then touch made; fi", TOUCHED),
        ("echo x > made; true", BASH),
        ("curl -s x; true", "curl: (6) Could not resolve host: x"),
    ],
)
def test_a_complaint_of_a_command_that_goes_on_is_a_violation(command: str, output: str) -> None:
    """Its status is that of what came last; the line begins as the program's own complaint does."""
    violation = find_violation(reading(), 0, f"before\n{output}\ndone\n", command)
    assert violation is not None
    assert violation.evidence == output


@pytest.mark.parametrize(
    ("command", "output"),
    [
        ("echo Read-only file system", "Read-only file system"),
        ("cat build.log", TOUCHED),
        ("cat build.log", BASH),
        ("grep touch build.log", TOUCHED),
        ("git log --grep=touch", TOUCHED),
        ("grep -r touch .", f"build.log:{TOUCHED}"),
        ("cat touch-screens.md", TOUCHED),
        ("touch made", "touch: cannot touch 'made': Permission denied"),
    ],
)
def test_what_a_successful_command_only_printed_is_none(command: str, output: str) -> None:
    """It may show a file that tells of other programs' complaints."""
    assert find_violation(reading(), 0, f"{output}\n", command) is None
    assert find_violation(reading(), 1, "No such file or directory", command) is None


@pytest.mark.parametrize(
    "said",
    [
        "sed: couldn't open temporary file ./sedX: Read-only file system",
        "OSError: [Errno 30] Das Dateisystem ist nur lesbar: 'x'",
        "Error: EROFS: read-only file system, open 'x'",
        "open x: read-only file system",
        "error: could not create `x`: Read-only file system (os error 30)",
        "cannot open x: Read-only file system at -e line 1.",
        "java.io.FileNotFoundException: x (Read-only file system)",
        "Error: in prepare, attempt to write a readonly database (8)",
    ],
)
def test_languages_have_their_own_ways_to_complain(said: str) -> None:
    """C, Python, Node.js, Go, Rust, Perl, Java and SQLite are understood."""
    violation = find_violation(reading(), 1, said, "x")
    assert violation is not None
    assert violation.kind == "write"


def test_the_host_s_processes_are_out_of_reach() -> None:
    """A confined program does not signal anybody outside, while it does those inside."""
    done = run(reading(), f"kill -0 {os.getpid()} || kill -0 $$ && echo inside")
    assert "No such process" in done.output
    assert done.output.endswith("inside\n")


@pytest.mark.parametrize("profile", [reading(), Profile(read=system_paths())])
def test_the_kernel_s_settings_cannot_be_written(profile: Profile) -> None:
    """Not even root, who needs no capability for it, changes the host through /proc."""
    done = run(
        profile, "find /proc -path '/proc/[0-9]*' -prune -o -type f -writable -print 2>/dev/null"
    )
    assert done.output == ""
    value = Path("/proc/sys/kernel/core_pattern").read_bytes()
    done = run(profile, "cat /proc/sys/kernel/core_pattern > /proc/sys/kernel/core_pattern")
    assert "Read-only file system" in done.output or "Permission denied" in done.output
    assert Path("/proc/sys/kernel/core_pattern").read_bytes() == value
    assert run(profile, "echo shell > /proc/self/comm").status == 0


def test_a_program_that_was_not_run_has_no_status() -> None:
    """When isolating fails, that is known for sure, and not from an exit status."""
    done = run(reading(), "true", "/nowhere")
    assert done.code != 0
    assert done.status is None
    assert run(reading(), "exit 1").status == 1
    assert run(reading(), "kill -9 $$").status == 137


def test_without_bubblewrap_there_is_no_way_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where nothing can be confined, asking for it is an error."""
    monkeypatch.setattr(confinement_module, "bubblewrap_objection", lambda **_: "not here")
    with pytest.raises(IsolationError, match="not here"):
        Confinement(reading(), directory="/", environment={})


def test_no_descriptor_is_left(tmp_path: Path) -> None:
    """Whatever happens, all that was opened is closed again."""
    gc.collect()  # tools of other tests have descriptors, too
    before = len(os.listdir("/proc/self/fd"))
    run(reading(), "true")
    with Confinement(reading(), directory="/", environment={}, gated=True):
        pass
    (tmp_path / "link").symlink_to("/")
    mounts = (
        VolumeMount(str(tmp_path), "/w"),
        VolumeMount("/usr", "/w/link/below"),
    )
    with pytest.raises(IsolationError, match="symlink"):
        Confinement(Profile(mounts=mounts), directory="/", environment={})
    assert len(os.listdir("/proc/self/fd")) == before


def test_hidden_paths_are_empty(tmp_path: Path) -> None:
    """What is hidden is empty, a file or a directory, though all around it is there."""
    (tmp_path / "dir").mkdir()
    (tmp_path / "dir" / "key").write_text("secret")
    (tmp_path / "key").write_text("secret")
    (tmp_path / "open").write_text("open")
    profile = Profile(read=("/",), hide=(str(tmp_path / "dir"), str(tmp_path / "key")))
    done = run(profile, "cat open; ls -A dir; cat key 2>/dev/null", tmp_path)
    assert done.output == "open"


@pytest.fixture(params=["landlock", "hidden"])
def guarded(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Try both ways to keep pipes from being written to."""
    way = str(request.param)
    if way == "hidden":
        monkeypatch.setattr(landlock, "works", lambda: False)
    elif not landlock.works():
        pytest.skip("this kernel has no Landlock")
    return way


@pytest.mark.parametrize("kind", ["read", "edit"])
def test_a_pipe_of_the_host_is_not_written_to(tmp_path: Path, guarded: str, kind: str) -> None:
    """Writing to a named pipe changes no file system, so a read-only mount would let it through."""
    del guarded
    (work := tmp_path / "work").mkdir()
    os.mkfifo(tmp_path / "control")
    reader = os.open(tmp_path / "control", os.O_RDWR | os.O_NONBLOCK)
    try:
        done = run(
            reading() if kind == "read" else editing([str(work)]),
            f"timeout 2 bash -c 'echo evil > {tmp_path}/control'; echo is $?",
        )
        with pytest.raises(BlockingIOError):
            os.read(reader, 100)
        assert "Permission denied" in done.output
    finally:
        os.close(reader)


def test_what_may_be_written_is_written_as_before(tmp_path: Path, guarded: str) -> None:
    """Files, a command's own pipes, and devices that keep nothing are no pipes of the host."""
    del guarded
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    commands = (
        "echo x > a/f && mv a/f b/g && ln b/g a/h && cat a/h",
        "echo y | tee /dev/null | cat > a/y; cat a/y",
        "mkfifo p; (cat p &) ; echo through > p; sleep 0.1",
        "echo z > /dev/shm/z; mkdir /dev/shm/d; mv /dev/shm/z /dev/shm/d/z; cat /dev/shm/d/z",
        "cat <(echo s); echo out > /dev/stdout",
        'test -z "$PERL_BADLANG" && echo clean',
    )
    done = run(editing([str(tmp_path)]), "; ".join(commands), tmp_path)
    assert done.output.split() == ["x", "y", "through", "z", "s", "out", "clean"]


def test_variables_of_the_interpreter_reach_the_command_alone(tmp_path: Path, guarded: str) -> None:
    """What starts the rules loads no file that the command's environment names for Perl."""
    del guarded
    (tmp_path / "Evil.pm").write_text(f"open my $file, '>', '{tmp_path}/loaded'; 1;")
    own = {"PERL5OPT": f"-I{tmp_path} -MEvil", "PERL5LIB": "a\nb", "PERL_BADLANG": "0"}
    shown = 'printf %s "$PERL5OPT|$PERL5LIB|$PERL_BADLANG|${!AGENTSCOPE*}|${!PERL*}"'
    done = run(editing([str(tmp_path)]), shown, tmp_path, **own)
    names = " ".join(sorted(own))
    assert done.output == f"{own['PERL5OPT']}|a\nb|0||{names}"
    assert not (tmp_path / "loaded").exists()
