"""`HeldRun`: starts one program on a layer, kept to the working directories and to itself."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from types import TracebackType
from typing import Self

from agentscope_like.exception import ConfigurationError, IsolationError
from agentscope_like.sandbox.held.credentials import HeldCredentials
from agentscope_like.sandbox.held.places import (
    empty_places,
    hidden_places,
    made_caches,
    seen_places,
)
from agentscope_like.sandbox.held.variables import held_environment
from agentscope_like.sandbox.held.watch import HeldLimits, Watch
from agentscope_like.sandbox.isolation import Attempt, Confinement, ConnectionWatch, Profile
from agentscope_like.sandbox.layer import Layer, mounting_words
from agentscope_like.sandbox.mount import VolumeMount
from agentscope_like.sandbox.secret_wall import CoveredSecrets

__all__ = ["TEMPORARY_PLACES", "HeldRun"]

_EVERYTHING = "/"
TEMPORARY_PLACES = {"tmp": "/tmp", "var-tmp": "/var/tmp"}  # noqa: S108 - the command's own
"""Which directory of a session's own is where in a held run."""

_ANYBODYS = 0o1777
_LIMIT = "/usr/bin/prlimit"


class HeldRun:
    """The arguments and descriptors with which one program runs held.

    What it writes in the working directories goes to the layer. It reads the host, but for homes,
    `/run`, credentials and what is hidden; it reaches no network, no daemon and no process of the
    host, and ends with the thread that started it. See `Confinement` for how it is started and
    asked; its first words mount the layer. An `OrphanGuard` should watch its process group: bwrap,
    if killed as it begins, can leave a child that waits for it and runs nothing.

    Args:
        layer: The layer; no other run may have it mounted.
        directory: Where the program starts.
        environment: All of its variables, without secrets; those that tell package managers of the
            missing network are added.
        temporary: A private directory of this session. What the program leaves in `/tmp` and
            `/var/tmp` is in its `tmp` and `var-tmp`.
        home: The home directory of the user.
        hide: More that the program must not see: files, and directories with what is in them.
        credentials: Hides credentials; given again for the next run, that is quicker.
        limits: What the program may take; `excess` tells.
        gated: Whether it waits until `release` is called.

    Attributes:
        words: What goes before the program and its arguments.
        descriptors: The descriptors that the first of them has to inherit.
        status: Descriptor that becomes readable when bwrap has said something.

    Raises:
        IsolationError: Something cannot be set up; the program must not run.
    """

    def __init__(
        self,
        layer: Layer,
        *,
        directory: str,
        environment: Mapping[str, str],
        temporary: str,
        home: str,
        hide: Sequence[str] = (),
        credentials: HeldCredentials | None = None,
        limits: HeldLimits | None = None,
        gated: bool = False,
    ) -> None:
        limits = limits or HeldLimits()
        variables = held_environment(environment)
        with ExitStack() as stack:
            try:
                own = _own_places(temporary, home)
                profile = _profile(layer, own, home=home, environment=variables, hide=hide)
                covered = (credentials or HeldCredentials()).cover(
                    profile, home=home, directories=layer.directories
                )
                self._covered = covered
                stack.callback(covered.close)
                opened = stack.enter_context(layer.descriptors())
                self._connections = ConnectionWatch()
                stack.callback(self._connections.close)
                confinement = stack.enter_context(
                    Confinement(
                        covered.profile,
                        directory=directory,
                        environment=variables,
                        gated=gated,
                        connections=self._connections,
                    )
                )
                mounting = mounting_words(opened)
                self._watch = Watch(limits, [str(layer.folder), temporary])
            except (ConfigurationError, OSError) as error:
                raise IsolationError(f"the command cannot be held: {error}") from error
            self._resources = stack.pop_all()
        self._confinement = confinement
        self.words = (*_limiting_words(limits), *mounting, *confinement.words)
        numbers = [number for each in opened for number in each.numbers]
        self.descriptors = (*numbers, *confinement.descriptors)
        self.status = confinement.status

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
        """Close the descriptors that the first process has inherited."""
        self._confinement.hand_over()

    def release(self) -> None:
        """Let the waiting program start, now or as soon as it waits."""
        self._confinement.release()

    def listen(self) -> bool:
        """Read what bwrap has said, without waiting; return whether there was anything."""
        return self._confinement.listen()

    @property
    def is_released(self) -> bool:
        """Return whether it was released, so that it can no longer be kept from running."""
        return self._confinement.is_released

    @property
    def first_process(self) -> int | None:
        """Return this host's id of the first process in the new namespaces, once it is known."""
        return self._confinement.first_process

    @property
    def exit_status(self) -> int | None:
        """Return the program's exit status; None while it is not known to have run."""
        return self._confinement.exit_status

    def excess(self) -> str | None:
        """Return why the program has to be ended, or None; blocks for some milliseconds.

        Ask some times a second while it runs, in a thread.
        """
        self.listen()
        first = self.first_process
        return None if first is None else self._watch.excess(first)

    def hidden(self) -> CoveredSecrets | None:
        """Return the credentials that were hidden from it, if any; call once, after its end."""
        return self._covered.report()

    def attempts(self) -> tuple[Attempt, ...] | None:
        """Return the addresses that it tried to connect to; None if they are not known.

        Call it after its end, in a thread; some milliseconds may pass.
        """
        return self._connections.attempts()

    def close(self) -> None:
        """Close everything; calling it again does nothing."""
        self._resources.close()


def _own_places(temporary: str, home: str) -> list[VolumeMount]:
    """Make and return the directories that only the runs of this session see."""
    places = dict(TEMPORARY_PLACES)
    for each in made_caches(home):
        places[os.path.join("home", os.path.basename(each))] = each
    mounts = []
    for name, place in places.items():
        path = os.path.join(temporary, name)
        os.makedirs(path, exist_ok=True)
        if place in TEMPORARY_PLACES.values():
            os.chmod(path, _ANYBODYS)
        mounts.append(VolumeMount(path, place))
    return mounts


def _profile(
    layer: Layer,
    own: Sequence[VolumeMount],
    *,
    home: str,
    environment: Mapping[str, str],
    hide: Sequence[str],
) -> Profile:
    hidden = [os.path.realpath(each) for each in (*hide, *hidden_places(home))]
    hidden.append(os.path.realpath(layer.folder.parent))
    (temporary,) = (each.host_path for each in own if each.mount_path == TEMPORARY_PLACES["tmp"])
    return Profile(
        read=(_EVERYTHING, *seen_places(home, environment)),
        write=tuple(layer.directories),
        mounts=tuple(each for each in own if each.host_path != temporary),
        empty=(*empty_places(home), *(each for each in hidden if os.path.isdir(each))),
        hide=tuple(each for each in hidden if os.path.isfile(each)),
        temporary=temporary,
        native=True,
        held=True,
    )


def _limiting_words(limits: HeldLimits) -> Iterator[str]:
    yield from (_LIMIT, "--core=0", f"--fsize={limits.file_bytes}:{limits.file_bytes}", "--")
