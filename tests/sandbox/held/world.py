"""A small world to attack: files, sockets, a named pipe and a process, and what becomes of them."""

from __future__ import annotations

import contextlib
import os
import select
import shutil
import socket
import stat
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from agentscope_like.sandbox.held import HeldCredentials, HeldLimits, HeldRun
from agentscope_like.sandbox.isolation import Attempt, reading
from agentscope_like.sandbox.isolation.confinement import Confinement
from agentscope_like.sandbox.layer import Layer

__all__ = ["OTHER_USER", "PYTHON", "SECRET", "World", "place_of_worlds"]

OTHER_USER = 65534
PYTHON = "/usr/bin/python3"
SECRET = "planted-secret"

_NAMESPACE = [
    *("unshare", "--mount", "--propagation", "private", "--pid", "--fork"),
    *("--ipc", "--uts", "--net", "--"),
]
_OF_USER = ["--user", "--map-root-user"]
_MOMENT = 0.01
"""How long a signal may take to be seen in /proc."""

_PLACES = ("/srv", "/opt", "/var/lib")


def place_of_worlds() -> str | None:
    """Return a directory that a held command sees as it is, unlike /tmp; None where there is none.

    Then worlds are below /tmp, and more than one wall holds some attacks.
    """
    return next((each for each in _PLACES if os.access(each, os.W_OK)), None)


class World:
    """What attacks find, and a look at what became of it; use it as a context manager.

    Attributes:
        attempts: What the last held run tried to connect to.
        opened: The hidden credentials that it opened.
    """

    def __init__(self, place: str | None = None) -> None:
        where = place or place_of_worlds()
        self.top = Path(os.path.realpath(tempfile.mkdtemp(prefix="held-", dir=where)))
        self.project = self.top / "project"
        self.home = self.top / "home"
        self.outside = self.top / "outside"
        self.store = self.top / "store"
        self.temporary = self.top / "temporary"
        self.attempts: tuple[Attempt, ...] | None = None
        self.opened: tuple[str, ...] = ()
        self._stack = contextlib.ExitStack()

    def __enter__(self) -> World:
        self.top.chmod(0o755)
        for path, text in (
            (self.project / "src" / "a.py", "a\n"),
            (self.project / "src" / "inner" / "b.py", "b\n"),
            (self.project / ".git" / "config", "[core]\n"),
            (self.project / ".git" / "hooks" / "sample", "x\n"),
            (self.project / "conf" / ".env", f"KEY={SECRET}\n"),
            (self.home / ".ssh" / "id_rsa", f"{SECRET}\n"),
            (self.home / ".aws" / "credentials", f"{SECRET}\n"),
            (self.home / ".cargo" / "credentials.toml", f"{SECRET}\n"),
            (self.home / "letters" / "private.txt", f"{SECRET}\n"),
            (self.home / ".bashrc", "x\n"),
            (self.outside / "file", "kept\n"),
            (self.outside / "hidden", f"{SECRET}\n"),
            (self.store / "other" / "0" / "upper" / "text", f"{SECRET}\n"),
        ):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        os.link(self.project / "conf" / ".env", self.project / "notes")
        (self.project / "shown").symlink_to(self.project / "conf" / ".env")
        self.temporary.mkdir()
        self._pipe = self._made_pipe(self.outside / "pipe")
        self._sockets = dict(self._made_sockets())
        self.victim = subprocess.Popen(
            ["/bin/sleep", "60"], env={"MARK": SECRET}, start_new_session=True
        )
        self._stack.callback(self._end_victim)
        self._before = self._seen()
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()
        shutil.rmtree(self.top, ignore_errors=True)

    @property
    def variables(self) -> dict[str, str]:
        """Return what attacks know of the world."""
        listening = self._sockets
        return {
            "PATH": "/usr/bin:/bin:/usr/sbin:/sbin",
            "HOME": str(self.home),
            "PROJECT": str(self.project),
            "OUTSIDE": str(self.outside),
            "STORE": str(self.store),
            "PIPE": str(self.outside / "pipe"),
            "PORT": str(listening["tcp"].getsockname()[1]),
            "UDP": str(listening["udp"].getsockname()[1]),
            "STREAM": str(self.outside / "stream"),
            "DATAGRAM": str(self.outside / "datagram"),
            "ABSTRACT": self.top.name,
            "VICTIM": str(self.victim.pid),
            "SECRET_TEXT": SECRET[::-1],
        }

    def damage(self, output: str = "") -> list[str]:
        """Return what an attack achieved: what it says itself, and what became of the world."""
        time.sleep(_MOMENT)
        found = []
        if "OUT" in output.split():
            found.append("says so")
        if SECRET in output:
            found.append("shows a secret")
        if self._seen() != self._before:
            found.append("changed files")
        if _state(self.victim.pid) not in "RSD":
            found.append("reached the process")
        listening = [self._pipe, *(each.fileno() for each in self._sockets.values())]
        readable, _, _ = select.select(listening, [], [], 0)
        if readable:
            found.append("was heard")
        return found

    def held(
        self,
        words: Sequence[str],
        *,
        limits: HeldLimits | None = None,
        credentials: HeldCredentials | None = None,
        seconds: float = 20,
    ) -> tuple[str, int | None, Layer]:
        """Run a program held; return its output, its status and its layer."""
        layer = Layer.make(self.store, [str(self.project)])
        hide = (str(self.outside / "hidden"),)
        with HeldRun(
            layer,
            directory=str(self.project),
            environment=self.variables,
            temporary=str(self.temporary),
            home=str(self.home),
            hide=hide,
            credentials=credentials,
            limits=limits,
        ) as run:
            output = _output([*run.words, *words], {}, run.descriptors, "/", seconds)
            self.attempts = run.attempts()
            hidden = run.hidden()
            self.opened = () if hidden is None else hidden.opened
            return output, run.exit_status, layer

    def elsewhere(self, wall: str, words: Sequence[str]) -> str:
        """Run a program where a wall is missing; return its output.

        Args:
            wall: "host", unconfined; "namespace", as root of throw-away namespaces; "read", as a
                proven read; "inherit", unconfined with an open directory.
            words: The program.
        """
        directory, variables = str(self.project), self.variables
        if wall == "namespace":
            own = [] if os.geteuid() == 0 else _OF_USER
            return _output(
                [*_NAMESPACE[:1], *own, *_NAMESPACE[1:], *words], variables, (), directory
            )
        if wall == "read":
            with Confinement(reading(), directory=directory, environment=variables) as confined:
                return _output([*confined.words, *words], {}, confined.descriptors, "/")
        inherited = []
        if wall == "inherit":
            inherited.append(os.open(self.outside, os.O_RDONLY | os.O_DIRECTORY))
        try:
            return _output(words, variables, inherited, directory)
        finally:
            for each in inherited:
                os.close(each)

    def _made_pipe(self, path: Path) -> int:
        os.mkfifo(path)
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        self._stack.callback(os.close, descriptor)
        return descriptor

    def _made_sockets(self) -> Iterator[tuple[str, socket.socket]]:
        places: tuple[tuple[str, int, int, str | tuple[str, int]], ...] = (
            ("tcp", socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", 0)),
            ("udp", socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", 0)),
            ("stream", socket.AF_UNIX, socket.SOCK_STREAM, str(self.outside / "stream")),
            ("datagram", socket.AF_UNIX, socket.SOCK_DGRAM, str(self.outside / "datagram")),
            ("abstract", socket.AF_UNIX, socket.SOCK_STREAM, f"\0{self.top.name}"),
        )
        for name, family, kind, address in places:
            made = self._stack.enter_context(socket.socket(family, kind))
            made.bind(address)
            if kind == socket.SOCK_STREAM:
                made.listen()
            yield name, made

    def _end_victim(self) -> None:
        self.victim.kill()
        self.victim.wait()

    def _seen(self) -> dict[str, tuple[int, int, bytes]]:
        """Return mode, owner and content of what no held command may change."""
        found = {}
        for top in (self.project, self.home, self.outside, self.store / "other"):
            for path in (top, *top.rglob("*")) if top.exists() else ():
                status = path.lstat()
                content = path.read_bytes() if stat.S_ISREG(status.st_mode) else b""
                found[str(path)] = (status.st_mode, status.st_uid, content)
        return found


def _output(
    words: Sequence[str],
    variables: dict[str, str],
    descriptors: Sequence[int],
    directory: str,
    seconds: float = 20,
) -> str:
    """Run a program; return what it printed."""
    done = subprocess.run(
        words,
        pass_fds=descriptors,
        env=variables,
        cwd=directory,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        errors="replace",
        text=True,
        timeout=seconds,
        check=False,
        start_new_session=True,
    )
    return done.stdout


def _state(pid: int) -> str:
    """Return the letter of a process's state, as proc(5) has it."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][0]
