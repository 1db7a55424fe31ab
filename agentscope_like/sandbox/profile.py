"""What a command may touch: the facts that an isolation is made of."""

from __future__ import annotations

import os
from collections.abc import Iterable

from msgspec import Struct

from agentscope_like.sandbox.mount import VolumeMount

__all__ = ["EVERYTHING", "Profile", "editing", "reading"]

EVERYTHING = "/"
"""As a path to read: the whole host."""


class Profile(Struct, frozen=True, kw_only=True):
    """What a command may read, write and reach; all that is not named here is not there for it.

    Attributes:
        read: Absolute paths of the host that it sees at their own place.
        write: Absolute paths of the host that it may write to as well; a file that does not exist
            cannot be named, the directory that it is to be made in can.
        mounts: Paths of the host that it sees elsewhere.
        hide: Absolute paths that are empty for it, whatever else is named.
        temporary: Directory of the host that is its `/tmp`; by default, that is the host's own, as
            far as it is named.
        network: Whether it reaches the host's network.
        sockets: Whether it can make the sockets that reach daemons through files, and, without a
            network, those that reach itself; by default it cannot, since a daemon of the host may
            do anything for whoever reaches it.
    """

    read: tuple[str, ...] = ()
    write: tuple[str, ...] = ()
    mounts: tuple[VolumeMount, ...] = ()
    hide: tuple[str, ...] = ()
    temporary: str | None = None
    network: bool = False
    sockets: bool = False


def reading(*, network: bool = False) -> Profile:
    """Return the profile of a command that was decided to only read.

    It sees the whole host, may write nothing but pipes and `/dev/null`, and reaches nobody.

    Args:
        network: Whether it was decided to read from the network, too.
    """
    return Profile(read=(EVERYTHING,), network=network)


def editing(paths: Iterable[str], *, network: bool = False) -> Profile:
    """Return the profile of a command that was decided to write only there.

    Args:
        paths: Absolute paths of the host. For one that does not exist, the nearest directory on
            the way to it that does may be written to, unless that is the root. A program that puts
            another file in the place of one, as `sed -i` does, needs the directory named.
        network: Whether it was decided to use the network.
    """
    write = {_existing(path) for path in paths} - {EVERYTHING}
    return Profile(read=(EVERYTHING,), write=tuple(sorted(write)), network=network)


def _existing(path: str) -> str:
    place = os.path.realpath(path)
    while not os.path.exists(place):
        place = os.path.dirname(place)
    return place
