"""Runs commands inside the jail and tells what each of them changed.

Speaks lines of JSON: a list of commands comes in; for each command one report goes out, then one
for what only a slower look at everything shows. Started by `tests.oracle.jail`.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import selectors
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import TypedDict

from agentscope_like.exception import ToolArgumentError
from agentscope_like.shell import CommandAnalysis, Surroundings, analyze
from agentscope_like.tool.builtin.bash.environment.git_programs import (
    GitPlace,
    git_environment,
    git_places,
    repository_keys,
)
from agentscope_like.tool.builtin.bash.environment.inherited_environment import shell_environment
from tests.oracle.housekeeping import unexcused
from tests.oracle.snapshot import Snapshot, describe_changes, look, read_contents
from tests.oracle.world import HOME, INHERITED, MARKS, PROJECT, build_world

__all__ = ["REFUSED", "TIME_LIMIT", "Report", "Server", "main", "serve"]

TIME_LIMIT = 3.0
REFUSED = 126
"""Stands for the exit status of a command that the `Bash` tool refuses to run."""

_MAX_OUTPUT = 4 << 20
_ALL = -1
"""Stands for every process but the first one and the one that sends the signal."""
_PATIENCE = (0.0, 0.01, 0.05, 0.3)
"""How many seconds a command's processes are given to end by themselves, in turns."""
_ENDING_LIMIT = 20.0
"""How many seconds killed processes may take to disappear; a busy machine needs some."""
_NEAR = (HOME, "/tmp", "/run", "/dev/shm")
_FAR = ("/etc", "/var", "/root", "/mnt", "/opt", "/srv")
_OUTGOING = frozenset({"OutNoRoutes", "OutRequests", "ActiveOpens", "OutDatagrams"})
_OUTGOING_6 = frozenset({"Ip6OutNoRoutes", "Ip6OutRequests", "Udp6OutDatagrams"})
_PASSING = ("/tmp", "/var/tmp", "/dev/shm")
_LEFT_BEHIND = tuple(f"made '{directory}/" for directory in _PASSING)


class Report(TypedDict):
    """What one command did.

    `status` is None where it was ended because its time was up; `output` is how its output began.
    """

    changes: list[str]
    status: int | None
    output: str


class Server:
    """Holds what the world looks like while nothing has changed it."""

    def __init__(self) -> None:
        self._environments: dict[tuple[GitPlace, ...], dict[str, str]] = {}
        self._release_canary()
        self._near = look(_NEAR)
        self._contents = read_contents(self._near)
        self._far = look(_FAR)
        self._network = _network_activity()

    def run(self, command: str) -> Report:
        """Run one proven command as the `Bash` tool does and look at what is near."""
        analysis = analyze(command, directory=PROJECT, home=HOME)
        try:
            environment = self._environment(analysis)
        except ToolArgumentError as error:
            return Report(changes=[], status=REFUSED, output=str(error))
        status, output = self.execute(command, environment)
        changes = list(self._changes())
        if status is None:  # it was ended before it could tidy up
            changes = [change for change in changes if not change.startswith(_LEFT_BEHIND)]
        if changes:
            programs = {part.program for part in analysis.parts}
            changes = list(unexcused(changes, programs))
            if not changes:
                self._contents = read_contents(self._near)
        return Report(changes=changes, status=status, output=output[:2000].decode(errors="replace"))

    def look_closely(self) -> Report:
        """Look at everything, contents too."""
        near, far = look(_NEAR), look(_FAR)
        changes = [*describe_changes(self._far, far, passing=_PASSING)]
        if near.keys() == self._near.keys():
            contents = read_contents(near)
            changes += [
                f"changed the content of {path!r}"
                for path, content in contents.items()
                if content != self._contents[path]
            ]
        return Report(changes=changes, status=0, output="")

    def _changes(self) -> Iterator[str]:
        near: Snapshot = look(_NEAR)
        yield from describe_changes(self._near, near, passing=_PASSING)
        self._near = near
        if self._canary.poll() is not None:
            yield "ended a process that is not its own"
        network = _network_activity()
        if network != self._network:
            yield "changed the network, or tried to reach it"
            self._network = network

    def _environment(self, analysis: CommandAnalysis) -> dict[str, str]:
        environment = shell_environment(INHERITED, "0" * 32)
        places = git_places(analysis)
        if places:
            known = self._environments.get(places)
            if known is None:
                around = Surroundings(PROJECT, (PROJECT,), PROJECT, environment.get("HOME"))
                known = git_environment(environment, places, partial(repository_keys, around))
                self._environments[places] = known
            environment |= known
        return environment

    def execute(self, command: str, environment: dict[str, str]) -> tuple[int | None, bytes]:
        """Return the exit status and the output of a command; None where its time was up."""
        process = subprocess.Popen(
            ["/bin/bash", "--norc", "--noprofile", "-c", "--", command],
            cwd=PROJECT,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        deadline = time.monotonic() + TIME_LIMIT
        try:
            output = _drain(process, deadline)
            status: int | None = process.wait(max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            status, output = None, b""
        self._end_others(process)
        if process.stdout:
            process.stdout.close()
        return status, output

    def _end_others(self, process: subprocess.Popen[bytes]) -> None:
        """Let what the command left in the background end, or end it."""
        for wait in _PATIENCE:
            time.sleep(wait)
            process.poll()
            if not self._processes() - self._own:
                return
        is_unharmed = self._canary.poll() is None
        self._kill_all(process)
        if is_unharmed:
            self._release_canary()

    def _kill_all(self, process: subprocess.Popen[bytes]) -> None:
        """Kill every process but the jail's own two, and wait until none of them is left.

        Raises:
            RuntimeError: Some are still there after `_ENDING_LIMIT` seconds.
        """
        deadline = time.monotonic() + _ENDING_LIMIT
        own = {os.getpid(), 1}
        while True:
            with contextlib.suppress(ProcessLookupError):
                os.kill(_ALL, signal.SIGKILL)  # at once: one by one, they may have started others
            process.poll()
            self._canary.poll()
            left = self._processes() - own
            if not left:
                return
            if time.monotonic() > deadline:
                raise RuntimeError(f"processes {sorted(left)} are still there after SIGKILL")
            time.sleep(0.005)

    def _release_canary(self) -> None:
        self._canary = subprocess.Popen(["sleep", "infinity"], stdin=subprocess.DEVNULL)
        self._own = {os.getpid(), 1, self._canary.pid}

    @staticmethod
    def _processes() -> set[int]:
        return {int(name) for name in os.listdir("/proc") if name.isdigit()}


def _drain(process: subprocess.Popen[bytes], deadline: float) -> bytes:
    """Read the output until it ends, there is too much, or time is up."""
    stream = process.stdout
    if stream is None:
        return b""
    parts: list[bytes] = []
    size = 0
    with selectors.DefaultSelector() as selector:
        selector.register(stream, selectors.EVENT_READ)
        while size < _MAX_OUTPUT:
            if not selector.select(max(0.0, deadline - time.monotonic())):
                raise subprocess.TimeoutExpired("bash", TIME_LIMIT)
            data = os.read(stream.fileno(), 1 << 16)
            if not data:
                break
            parts.append(data)
            size += len(data)
    stream.close()
    return b"".join(parts)


def _network_activity() -> tuple[str, ...]:
    """Return the addresses and routes, and the counters of what leaves."""
    found: list[str] = []
    for name in ("fib_trie", "if_inet6"):
        found += _lines(name)
    for route in _lines("ipv6_route"):
        columns = route.split()
        found += [*columns[:6], *columns[8:]]  # between them: how many hold it, and how many asked
    snmp = _lines("snmp")
    for header, values in zip(snmp[::2], snmp[1::2], strict=True):
        counters = zip(header.split(), values.split(), strict=True)
        found += [value for name, value in counters if name in _OUTGOING]
    for counter, value in map(str.split, _lines("snmp6")):
        if counter in _OUTGOING_6:
            found.append(value)
    return tuple(found)


def _lines(name: str) -> list[str]:
    """Return what a file about the network says; nothing where the system has none."""
    with contextlib.suppress(FileNotFoundError), open(f"/proc/net/{name}") as file:
        return file.read().splitlines()
    return []


def _prepare_system() -> None:
    """Fill `/etc` and `/var`, so that a write there works and is seen."""
    shutil.copytree(
        "/oracle/etc",
        "/etc",
        symlinks=True,
        dirs_exist_ok=True,
        ignore_dangling_symlinks=True,
        ignore=_unreadable,
    )
    with open("/etc/hosts", "w") as hosts:
        hosts.write("127.0.0.1 localhost jail\n::1 localhost\n")
    for directory, _, _ in os.walk("/oracle/var"):
        if directory.count("/") < 6:
            os.makedirs(directory.removeprefix("/oracle"), exist_ok=True)


def _unreadable(directory: str, names: list[str]) -> list[str]:
    def kept(path: str) -> bool:
        return os.path.islink(path) or (
            os.access(path, os.R_OK) and (os.path.isfile(path) or os.path.isdir(path))
        )

    return [name for name in names if not kept(os.path.join(directory, name))]


def _say(message: object) -> None:
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def main() -> None:
    """Build the world, then serve until the input ends."""
    serve(Server)


def serve(make: Callable[[], Server]) -> None:
    """Build the world, then run what comes in until the input ends.

    Args:
        make: Returns what runs a command, once the world is there.
    """
    _prepare_system()
    build_world()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CPU, (3600, 3600))
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 26, 1 << 26))
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    os.chdir("/")
    server = make()
    _say({"ready": MARKS})
    for line in sys.stdin:
        for command in json.loads(line):
            report = server.run(command)
            _say(report)
            if report["changes"]:
                return
        _say(server.look_closely())


if __name__ == "__main__":
    main()
