"""Runs commands by a real bash in a jail of bubblewrap, and says what each of them changed.

Inside there is no network, the system is read-only, and the home, the project, `/tmp`, `/etc` and
`/var` live in memory. `tests.oracle.world` says what lies there, `tests.oracle.server` runs the
commands. A jail in which something changed is thrown away for a new one.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import Self

import agentscope_like
from tests.oracle.server import Report
from tests.oracle.world import HOME, PROJECT
from tests.permission.kit import analyze

__all__ = ["Jail", "Outcome", "is_proven", "jail_objection"]

_CHECKOUT = Path(agentscope_like.__file__).resolve().parent.parent
_LINKED = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")
_SHOWN = ("/var/lib/dpkg", "/var/lib/apt/lists", "/var/cache/man", "/sys")
_DIRECTORIES = ("/tmp", "/etc", "/var/tmp", "/run", "/root", "/mnt", "/opt", "/srv", "/home")
_KERNEL = ("/proc/sys", "/proc/sysrq-trigger", "/proc/irq", "/proc/bus", "/proc/fs", "/proc/mtrr")
"""What root may write to without any capability, and what is then the whole machine's."""

_BATCH = 50


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one command did.

    Attributes:
        command: The command.
        changes: What is other than before; empty for what only reads.
        status: Its exit status; None where it was ended because its time was up.
        output: The beginning of what it printed.
    """

    command: str
    changes: tuple[str, ...]
    status: int | None
    output: str = ""

    @property
    def ran(self) -> bool:
        """Return whether bash found the program and it did not run out of time."""
        return self.status is not None and self.status not in (126, 127)


def is_proven(command: str) -> bool:
    """Return whether the engine says that the command only reads, run in the jail's project."""
    return analyze(command, directory=PROJECT, home=HOME).read_only


@lru_cache(maxsize=1)
def jail_objection() -> str | None:
    """Return why commands cannot be jailed on this machine, or None."""
    for program in ("bwrap", "git"):
        if shutil.which(program) is None:
            return f"needs {program} (Debian: apt-get install bubblewrap git)"
    done = subprocess.run(
        [*_arguments(), "true"], capture_output=True, text=True, timeout=20, check=False
    )
    if done.returncode:
        return f"bubblewrap cannot make a jail here: {done.stderr.strip()[-200:]}"
    return None


class Jail:
    """Runs commands one after the other; use it as a context manager.

    Args:
        server: The module that runs them inside, and its arguments.
        may_confine: Whether it may make namespaces itself.
    """

    def __init__(self, *server: str, may_confine: bool = False) -> None:
        self._server = server or ("tests.oracle.server",)
        self._may_confine = may_confine
        self._process: subprocess.Popen[str] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._close()

    def run(self, commands: Sequence[str]) -> Iterator[Outcome]:
        """Yield the outcome of each command, in order; each finds the world unchanged."""
        waiting = iter(commands)
        while batch := list(islice(waiting, _BATCH)):
            outcomes = self._run_batch(batch)
            if len(outcomes) > len(batch):
                outcomes = self._run_singly(batch)
            yield from outcomes

    def _run_batch(self, batch: Sequence[str]) -> list[Outcome]:
        """Return the outcomes, and one more where something else has changed in the end."""
        outcomes: list[Outcome] = []
        while len(outcomes) < len(batch):
            rest = batch[len(outcomes) :]
            server = self._open()
            self._send(server, rest)
            for command in rest:
                outcomes.append(self._outcome(server, command))
                if outcomes[-1].changes:
                    self._close()
                    break
            else:
                last = self._outcome(server, "; ".join(rest))
                if last.changes:
                    self._close()
                    outcomes.append(last)
        return outcomes

    def _run_singly(self, batch: Sequence[str]) -> list[Outcome]:
        """Run each command in its own batch, to tell which one changed what is looked at last."""
        outcomes: list[Outcome] = []
        for command in batch:
            *_, last = self._run_batch([command])
            outcomes.append(Outcome(command, last.changes, last.status, last.output))
        return outcomes

    @staticmethod
    def _send(server: subprocess.Popen[str], commands: Sequence[str]) -> None:
        if server.stdin is None:
            raise RuntimeError("The jail has no input.")
        server.stdin.write(json.dumps(commands) + "\n")
        server.stdin.flush()

    @staticmethod
    def _outcome(server: subprocess.Popen[str], command: str) -> Outcome:
        line = server.stdout.readline() if server.stdout else ""
        if not line:
            return Outcome(command, ("ended the jail's own process",), None)
        report: Report = json.loads(line)
        return Outcome(command, tuple(report["changes"]), report["status"], report["output"])

    def _open(self) -> subprocess.Popen[str]:
        if self._process is None:
            self._process = subprocess.Popen(
                [
                    *_arguments(may_confine=self._may_confine),
                    *(sys.executable, "-B", "-m", *self._server),
                ],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                bufsize=1,
            )
            line = self._process.stdout.readline() if self._process.stdout else ""
            if not line:
                self._close()
                raise RuntimeError("The jail did not start; its error is above.")
        return self._process

    def _close(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                stream.close()


def _arguments(*, may_confine: bool = False) -> list[str]:
    """Return the command line that starts a program in a new jail."""
    arguments = ["bwrap", "--unshare-all", "--unshare-user", "--die-with-parent", "--new-session"]
    arguments += ["--clearenv", "--setenv", "PATH", "/usr/bin:/bin", "--setenv", "HOME", "/root"]
    arguments += ["--setenv", "PYTHONPATH", str(_CHECKOUT), "--setenv", "LANG", "C.UTF-8"]
    if may_confine:
        arguments += ["--uid", "0", "--gid", "0", "--cap-add", "ALL", "--hostname", "jail"]
    else:
        arguments += ["--cap-drop", "ALL", "--cap-add", "CAP_NET_ADMIN", "--hostname", "jail"]
    arguments += ["--ro-bind", "/usr", "/usr", "--proc", "/proc", "--dev", "/dev"]
    for name in _LINKED:
        if os.path.islink(f"/{name}"):
            arguments += ["--symlink", os.readlink(f"/{name}"), f"/{name}"]
        elif os.path.isdir(f"/{name}"):
            arguments += ["--ro-bind", f"/{name}", f"/{name}"]
    for path in _DIRECTORIES:
        arguments += ["--dir", path]
    for path in ("/etc", "/var"):
        arguments += ["--ro-bind", path, f"/oracle{path}"]
    for path in _SHOWN:
        arguments += ["--ro-bind-try", path, path]
    for path in (*_KERNEL, *_python_places()):
        arguments += ["--ro-bind-try", path, path]
    return [*arguments, "--chdir", "/", "--"]


def _python_places() -> list[str]:
    """Return the directories that this Python and the project need, none inside another."""
    places = {str(_CHECKOUT), sys.prefix, sys.base_prefix, os.path.realpath(sys.base_prefix)}
    places |= {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
    found: list[str] = []
    for place in sorted(places):
        if not place.startswith("/usr/") and not any(
            place == kept or place.startswith(f"{kept}/") for kept in found
        ):
            found.append(place)
    return found
