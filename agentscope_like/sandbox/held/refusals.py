"""Tells the model what a held run was refused, so that it does not look for a fault in the code."""

from __future__ import annotations

import ipaddress
import os
import re
import stat
from collections.abc import Iterator, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Protocol

from msgspec import Struct

from agentscope_like.paths import is_below
from agentscope_like.sandbox.isolation import Attempt, Complaint, find_complaints

__all__ = ["HeldEnd", "Machine", "Refusal", "RefusalKind", "find_refusal"]

_NAME_SERVICE = 53
_MOST_NAMED = 3
_LISTENING = "0A"

_TEMPORARY = ("/tmp", "/var/tmp", "/dev/shm", "/proc")  # noqa: S108 - the command's own
_PATH = re.compile(r"""(?<![\w.:/~-])(/[^\s'"`:,;()<>\[\]{}]+)""")
_SPEAKER = re.compile(r"^/\S+: (?=line \d+: )")
_ERROR = re.compile(r"(?:E +|Exception in thread \S+ )?[\w./$-]+: |npm err", re.IGNORECASE)
_LOOPBACK_PORT = re.compile(
    r"(?:\blocalhost|\b127(?:\.\d+){3}|(?<![\w:])::1)\]?\"?(?: \([\w.:]+\))?(?::|,? port )(\d+)"
)


class RefusalKind(StrEnum):
    """What a held run was refused.

    Attributes:
        NETWORK: To reach another machine.
        SERVICE: To reach a service of this machine.
        PIPE: To use a named pipe, a socket or a device of this machine.
        PLACE: To write outside of the working directories.
        HIDDEN: To see a file.
        LINK: To make a hard link that looks like the file.
    """

    NETWORK = "network"
    SERVICE = "service"
    PIPE = "pipe"
    PLACE = "place"
    HIDDEN = "hidden"
    LINK = "link"


_TEXTS = {
    RefusalKind.NETWORK: "no network in this run",
    RefusalKind.SERVICE: "services of this machine cannot be reached from this run",
    RefusalKind.PIPE: "pipes, sockets and devices of this machine cannot be used in this run",
    RefusalKind.PLACE: "this run can write only to the working directories and to /tmp",
    RefusalKind.HIDDEN: "some files are hidden from this run",
    RefusalKind.LINK: (
        "a hard link to a file of the project looks like another file in this run; without hard "
        "links (git clone --no-hardlinks) it works"
    ),
}
_REMEDY = "If it is needed, call again with escalate=true; a person is asked."


class Refusal(Struct, frozen=True):
    """What a held run was refused, as far as that is known.

    Attributes:
        kind: What.
        detail: Which addresses or paths, for a person; empty if they are not known.
        is_told: Whether a program complained of it. Otherwise it is only known to have tried.
    """

    kind: RefusalKind
    detail: str = ""
    is_told: bool = True

    @property
    def text(self) -> str:
        """Return it in a few sentences for the model, with what it can do."""
        return f"{self.message} {_REMEDY}"

    @property
    def message(self) -> str:
        """Return it in one or two sentences."""
        tried = f" ({self.detail})" if self.detail else ""
        fault = ". Not a fault of the code." if self.is_told else "; that may be why it failed."
        return f"Held: {_TEXTS[self.kind]}{tried}{fault}"


class HeldEnd(Struct, frozen=True, kw_only=True):
    """A held run that has ended.

    Attributes:
        command: Its text.
        output: What it printed, or the beginning and the end of that.
        status: Its exit status; None if it was ended.
        directories: The working directories.
        home: The home directory.
        opened: The hidden credentials that it opened.
        hidden: What else was hidden from it.
        attempts: What it tried to connect to; None if that is not known.
    """

    command: str
    output: str
    status: int | None
    directories: tuple[str, ...]
    home: str
    opened: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()
    attempts: tuple[Attempt, ...] | None = None


class Machine(Protocol):
    """What is asked about the machine outside of the run."""

    def listens(self, port: int) -> bool:
        """Return whether a service listens on a port."""

    def has(self, path: str) -> bool:
        """Return whether a path exists."""

    def is_special(self, path: str) -> bool:
        """Return whether a path is a named pipe, a socket or a device."""


class _ThisMachine:
    """This machine."""

    def listens(self, port: int) -> bool:
        """Return whether a service listens on a port."""
        return port in _listening_ports()

    def has(self, path: str) -> bool:
        """Return whether a path exists."""
        return os.path.lexists(path)

    def is_special(self, path: str) -> bool:
        """Return whether a path is a named pipe, a socket or a device."""
        try:
            mode = os.stat(path).st_mode
        except (OSError, ValueError):
            return False
        return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def find_refusal(end: HeldEnd, machine: Machine | None = None) -> Refusal | None:
    """Return what a held run was refused, or None; may look at files, so call it in a thread.

    The last complaint of its programs counts, if what it says can be true. Where the attempts to
    connect are known, no message about the network counts without one.

    Args:
        end: The run.
        machine: What is there outside of the run; by default this machine.
    """
    return _Search(end, machine or _ThisMachine()).found()


class _Search:
    """The search in one run."""

    def __init__(self, end: HeldEnd, machine: Machine) -> None:
        self._end = end
        self._machine = machine
        self._is_silent = not end.output.strip()
        self._failed = end.status != 0

    def found(self) -> Refusal | None:
        end = self._end
        said = find_complaints(
            ("unreached", "family", "refused", "daemon"),
            output=end.output,
            status=end.status,
            command=end.command,
        )
        about_files = list(
            find_complaints(
                ("read_only", "denied", "missing", "database", "link"),
                output=end.output,
                status=end.status,
                command=end.command,
            )
        )
        if any(each.kind == "link" for each in about_files):
            return Refusal(RefusalKind.LINK)
        return (
            _last(map(self._of_network, said))
            or _last(map(self._of_file, about_files))
            or self._untold_network()
            or self._untold_hidden()
        )

    # The network

    def _of_network(self, complaint: Complaint) -> Refusal | None:
        if complaint.kind in ("family", "daemon"):
            return Refusal(RefusalKind.SERVICE, _listed(_paths(complaint.line)))
        is_own = _LOOPBACK_PORT.search(complaint.line) is not None
        if is_own or complaint.kind == "refused":
            own = self._own_services(complaint.line)
            if own is not None or is_own:
                return own
        if self._end.attempts is not None:
            outside = self._outside()
            return self._network(outside, complaint.where) if outside else None
        is_error = complaint.kind == "unreached" and _ERROR.match(complaint.line)
        return self._network((), complaint.where) if is_error else None

    def _untold_network(self) -> Refusal | None:
        """Return what is known from the attempts alone, if the run failed or said nothing."""
        if not (self._failed or self._is_silent):
            return None
        if outside := self._outside():
            return self._network(outside, "", is_told=self._is_silent)
        return self._own_services("") if self._is_silent else None

    def _outside(self) -> list[Attempt]:
        return [each for each in self._end.attempts or () if not _is_loopback(each)]

    def _network(self, outside: Sequence[Attempt], where: str, *, is_told: bool = True) -> Refusal:
        named = [_shown(each) for each in outside if each.port != _NAME_SERVICE]
        tried = _listed(named or ([where] if where else []))
        if not tried and outside:
            tried = "tried to look up a name"
        return Refusal(RefusalKind.NETWORK, tried, is_told)

    def _own_services(self, line: str) -> Refusal | None:
        """Return the services of this machine that were tried, by a message or by the attempts."""
        ports = [int(port) for port in _LOOPBACK_PORT.findall(line)]
        if not ports:
            ports = [each.port for each in self._end.attempts or () if _is_loopback(each)]
        own = [f"port {port}" for port in dict.fromkeys(ports) if self._machine.listens(port)]
        return Refusal(RefusalKind.SERVICE, _listed(own)) if own else None

    # Files

    def _of_file(self, complaint: Complaint) -> Refusal | None:
        paths = [each for each in _paths(complaint.line) if not self._is_own(each)]
        if complaint.kind == "read_only":
            is_true = any(map(self._could_be_tried, paths)) or not _paths(complaint.line)
            return Refusal(RefusalKind.PLACE, _listed(paths[-1:])) if is_true else None
        if complaint.kind == "database":
            paths = paths or [each for each in _paths(self._end.command) if not self._is_own(each)]
            return Refusal(RefusalKind.PLACE, _listed(paths[-1:])) if paths else None
        for path in (*paths, *self._relative(complaint.line)):
            if complaint.kind == "denied" and self._machine.is_special(path):
                return Refusal(RefusalKind.PIPE, _listed([path]))
            if any(is_below(path, each) for each in self._end.hidden):
                return Refusal(RefusalKind.HIDDEN, _listed([path]))
            is_of_home = is_below(path, self._end.home) and complaint.kind == "missing"
            if is_of_home and not self._is_own(path) and self._machine.has(path):
                return Refusal(RefusalKind.HIDDEN, _listed([path]))
        return None

    def _untold_hidden(self) -> Refusal | None:
        if self._end.opened and self._failed:
            return Refusal(RefusalKind.HIDDEN, _listed(self._end.opened), is_told=False)
        return None

    def _is_own(self, path: str) -> bool:
        """Return whether the run could write to a path."""
        return any(is_below(path, each) for each in (*self._end.directories, *_TEMPORARY))

    def _could_be_tried(self, path: str) -> bool:
        """Return whether a path can be what the kernel refused: its directory is there."""
        return is_below(path, self._end.home) or self._machine.has(os.path.dirname(path))

    def _relative(self, line: str) -> Iterator[str]:
        """Yield the hidden paths that a line names relative to a working directory."""
        for path in self._end.hidden:
            for directory in self._end.directories:
                name = os.path.relpath(path, directory)
                if is_below(path, directory) and name in line:
                    yield path


def _last(found: Iterator[Refusal | None]) -> Refusal | None:
    """Return the last refusal, of those that tell where if there are any."""
    last = None
    for each in found:
        if each is not None and (each.detail or last is None or not last.detail):
            last = each
    return last


def _paths(line: str) -> list[str]:
    """Return the absolute paths in a line, other than that of bash where it speaks."""
    found = _PATH.findall(_SPEAKER.sub("", line))
    return [os.path.normpath(each.rstrip(".")) for each in found]


def _is_loopback(attempt: Attempt) -> bool:
    """Return whether an attempt is one to reach the run itself; names are looked up elsewhere."""
    address = ipaddress.ip_address(attempt.host)
    is_own = address.is_loopback or address.is_unspecified
    return is_own and attempt.port != _NAME_SERVICE


def _shown(attempt: Attempt) -> str:
    host = f"[{attempt.host}]" if ":" in attempt.host else attempt.host
    return f"{host}:{attempt.port}"


def _listed(places: Sequence[str]) -> str:
    more = len(places) - _MOST_NAMED
    named = ", ".join(places[:_MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
    return f"tried {named}" if named else ""


def _listening_ports() -> set[int]:
    """Return the ports on which services of this machine listen."""
    found: set[int] = set()
    for name in ("tcp", "tcp6"):
        try:
            lines = Path("/proc/net", name).read_text().splitlines()[1:]
        except OSError:
            continue
        for _, local, _, state, *_ in map(str.split, lines):
            if state == _LISTENING:
                found.add(int(local.rpartition(":")[2], 16))
    return found
