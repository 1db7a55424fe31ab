"""Starts one program confined by a profile."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import platform
import termios
from collections.abc import Mapping
from types import TracebackType
from typing import Any, Self

from msgspec.structs import replace

from agentscope_like.exception import IsolationError
from agentscope_like.sandbox.host import find_bubblewrap
from agentscope_like.sandbox.isolation import landlock
from agentscope_like.sandbox.isolation.bubblewrap import (
    bubblewrap_objection,
    diverted_mount,
    options,
    usable_devices,
)
from agentscope_like.sandbox.isolation.connection_watch import ConnectionWatch, telling_script
from agentscope_like.sandbox.isolation.profile import FORGOTTEN, Profile
from agentscope_like.sandbox.isolation.seccomp import seccomp_program
from agentscope_like.sandbox.mount import VolumeMount

__all__ = ["Confinement"]

_STATUS_BYTES = 4096
_C_INT_BYTES = 4
_OWN_DEVICES = ("/dev/pts", FORGOTTEN)


class Confinement:
    """The arguments and descriptors with which bwrap confines one program.

    It serves one start: `Popen([*confinement.words, *program], pass_fds=confinement.descriptors,
    env={}, cwd="/")` by the thread that outlives the program, then `hand_over()`. bwrap reports
    whether the program ran on a descriptor that the program does not have; an exit status or output
    could come from any of them. Use it as a context manager, or `close` it.

    Making the first one in a process blocks for some 50 ms, to try whether programs can be confined
    here.

    Args:
        profile: What the program may touch.
        directory: Where it starts, as it knows the path.
        environment: All of its variables; those given to `Popen` are bwrap's own.
        gated: Whether the program waits, once everything is set up, until `release` is called.
        connections: Is told of its attempts to connect, if the profile is a held one and there is
            Landlock.

    Attributes:
        words: bwrap and its arguments.
        descriptors: The descriptors that it has to inherit.
        status: Descriptor that becomes readable when bwrap has said something.

    Raises:
        IsolationError: Nothing can be confined here, or not by this profile.
    """

    def __init__(
        self,
        profile: Profile,
        *,
        directory: str,
        environment: Mapping[str, str],
        gated: bool = False,
        connections: ConnectionWatch | None = None,
    ) -> None:
        bwrap = find_bubblewrap()
        reason = bubblewrap_objection(native=profile.native)
        if reason is not None or bwrap is None:
            raise IsolationError(f"commands cannot be isolated on this machine: {reason}")
        if path := diverted_mount(profile):
            raise IsolationError(
                f"{path} cannot be mounted, because a symlink is in its way: remove the link, "
                "which a command may have put there"
            )
        has_rules = profile.native and landlock.works()
        if has_rules:
            environment = landlock.environment_before(environment)
        elif profile.native:
            hidden = [each for each in landlock.open_pipes() if not _can_write(profile, each)]
            profile = replace(profile, hide=(*profile.hide, *hidden))
        arguments = options(profile, directory=directory, environment=environment)
        program = _filter(profile)
        self._said = b""
        self._gate: int | None = None
        self._alive: int | None = None
        self._theirs: list[int] = []
        self.status, status_end = os.pipe()
        os.set_blocking(self.status, False)
        self._theirs.append(status_end)
        arguments += ["--json-status-fd", str(status_end)]
        if gated:
            gate_end, self._gate = os.pipe()
            self._theirs.append(gate_end)
            arguments += ["--block-fd", str(gate_end)]
        arguments += ["--seccomp", str(self._file(program))]
        text = "".join(f"{argument}\0" for argument in arguments)
        before = self._rules(profile, connections) if has_rules else []
        self.words = (bwrap, "--args", str(self._file(os.fsencode(text))), "--", *before)
        self.descriptors = tuple(self._theirs)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def hand_over(self) -> None:
        """Close the descriptors that bwrap has inherited."""
        while self._theirs:
            os.close(self._theirs.pop())

    def release(self) -> None:
        """Let the waiting program start, now or as soon as it waits."""
        if self._gate is not None:
            os.write(self._gate, b"\n")

    @property
    def is_released(self) -> bool:
        """Return whether it was released, so that it can no longer be kept from running."""
        if self._gate is None:
            return True
        left = fcntl.ioctl(self._gate, termios.FIONREAD, bytes(_C_INT_BYTES))
        if any(left):
            return False
        os.close(self._gate)
        self._gate = None
        return True

    def listen(self) -> bool:
        """Read what bwrap has said, without waiting; return whether there was anything."""
        if self.status < 0:
            return False
        try:
            data = os.read(self.status, _STATUS_BYTES)
        except BlockingIOError:
            return False
        self._said += data
        return bool(data)

    @property
    def first_process(self) -> int | None:
        """Return this host's id of the first process in the new namespaces, once it is known."""
        return self._fact("child-pid")

    @property
    def exit_status(self) -> int | None:
        """Return the program's exit status; None while it is not known to have run."""
        while self.listen():
            pass
        return self._fact("exit-code")

    def close(self) -> None:
        """Close everything; calling it again does nothing."""
        self.hand_over()
        if self._alive is not None:  # before the gate, which opens when it is closed
            os.close(self._alive)
            self._alive = None
        if self._gate is not None:
            os.close(self._gate)
            self._gate = None
        if self.status >= 0:
            while self.listen():
                pass
            os.close(self.status)
            self.status = -1

    def _fact(self, name: str) -> int | None:
        for line in self._said.splitlines():
            with contextlib.suppress(ValueError):
                facts: dict[str, Any] = json.loads(line)
                if name in facts:
                    return int(facts[name])
        return None

    def _rules(self, profile: Profile, connections: ConnectionWatch | None) -> list[str]:
        """Return the words that keep the program from writing to pipes of the host."""
        own = [*profile.hide, "/proc", *(() if profile.devices else _OWN_DEVICES)]
        if profile.held:
            # a layer is mounted for the program alone, and its files are others than the host's
            places = (*profile.write, *(each.mount_path for each in _writable_mounts(profile)))
            ruleset = landlock.make_ruleset(usable_devices())
            self._theirs.append(ruleset)
            alive, self._alive = os.pipe()
            self._theirs.append(alive)
            first = ""
            if connections is not None:
                telling = connections.take_descriptor()
                self._theirs.append(telling)
                first = telling_script(telling)
            own = [*own, *places, "/tmp"]  # noqa: S108 - the sandbox's
            return landlock.landlock_words(ruleset, own, alive, first=first)
        writable = (*profile.write, *(each.host_path for each in _writable_mounts(profile)))
        ruleset = landlock.make_ruleset((*writable, *usable_devices()))
        self._theirs.append(ruleset)
        return landlock.landlock_words(ruleset, own)

    def _file(self, data: bytes) -> int:
        """Return the descriptor of a file that has no name, at its beginning."""
        descriptor = os.memfd_create("sandbox")
        self._theirs.append(descriptor)
        os.write(descriptor, data)
        os.lseek(descriptor, 0, os.SEEK_SET)
        return descriptor


def _can_write(profile: Profile, path: str) -> bool:
    return any(path.startswith(f"{place.rstrip('/')}/") for place in profile.write)


def _writable_mounts(profile: Profile) -> list[VolumeMount]:
    return [each for each in profile.mounts if not each.read_only]


def _filter(profile: Profile) -> bytes:
    program = seccomp_program(
        network=profile.network,
        sockets=profile.sockets,
        touching=not profile.processes,
        signals=profile.signals or not profile.processes,
        held=profile.held,
    )
    if program is None:
        raise IsolationError(
            f"the system calls of {platform.machine()} are not known to this version, so no filter "
            "can be made of them"
        )
    return program
