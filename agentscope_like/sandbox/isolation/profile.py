"""`Profile`: what a confined command may read, write and reach."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Literal, TypeAlias

from msgspec import Struct

from agentscope_like.sandbox.mount import VolumeMount

__all__ = [
    "EVERYTHING",
    "FORGOTTEN",
    "Confine",
    "Profile",
    "editing",
    "nearest_existing",
    "reading",
]

Confine: TypeAlias = Literal["auto", "require", "off"]
"""Whether commands are confined: where that works, always, or never."""

FORGOTTEN = "/dev/shm"  # noqa: S108 - the command's own
"""Where a confined command may leave temporary files, which go with it."""

EVERYTHING = "/"
"""As a path to read: the whole host."""


class Profile(Struct, frozen=True, kw_only=True):
    """What a command may read, write and reach; all that is not named here is not there for it.

    Attributes:
        read: Absolute paths of the host that it sees at their own place.
        write: Absolute paths of the host that it may write to as well; a file that does not exist
            cannot be named, the directory that it is to be made in can.
        mounts: Paths of the host that it sees elsewhere.
        keep: Absolute paths that it may not write to although they lie in such a directory.
        hide: Absolute paths that are empty for it, whatever else is named.
        temporary: Directory of the host that is its `/tmp`; by default, that is the host's own, as
            far as it is named.
        network: Whether it reaches the host's network.
        sockets: Whether it can make the sockets that reach daemons through files, and, without a
            network, those that reach itself; by default it cannot, since a daemon of the host may
            do anything for whoever reaches it.
        native: Whether it finds itself on this host, as its user: by the host's name, with the
            user's and, where that is root, everybody's ids and the right to their files. Else it
            is nobody that the host knows.
        processes: Whether it sees the host's processes; it cannot touch them. Only for native ones.
        signals: Whether, where it sees the host's processes, it can send signals all the same.
        devices: Whether it sees the names of the host's devices; it cannot open them.
    """

    read: tuple[str, ...] = ()
    write: tuple[str, ...] = ()
    mounts: tuple[VolumeMount, ...] = ()
    keep: tuple[str, ...] = ()
    hide: tuple[str, ...] = ()
    temporary: str | None = None
    network: bool = False
    sockets: bool = False
    native: bool = False
    processes: bool = False
    signals: bool = False
    devices: bool = False


def reading(*, network: bool = False) -> Profile:
    """Return the profile of a command that was decided to only read.

    It sees the whole host, may write nothing but pipes, `/dev/null` and what is forgotten with it
    in `/dev/shm`, and reaches nobody.

    Args:
        network: Whether it was decided to read from the network, too.
    """
    return Profile(read=(EVERYTHING,), network=network, native=True)


def editing(paths: Iterable[str], *, keep: Iterable[str] = (), network: bool = False) -> Profile:
    """Return the profile of a command that was decided to write only there.

    Args:
        paths: Absolute paths of the host. For one that does not exist, the nearest directory on
            the way to it that does may be written to, unless that is the root. A program that puts
            another file in the place of one, as `sed -i` does, needs the directory named.
        keep: Absolute paths in them that were not decided upon; those that do not exist are passed
            over.
        network: Whether it was decided to use the network.
    """
    write = {nearest_existing(path) for path in paths} - {EVERYTHING}
    kept = {os.path.realpath(path) for path in keep if os.path.exists(path)}
    return Profile(
        read=(EVERYTHING,),
        write=tuple(sorted(write)),
        keep=tuple(sorted(kept - write)),
        network=network,
        native=True,
    )


def nearest_existing(path: str) -> str:
    """Return the path without symlinks, or where that is not there, what is nearest above it."""
    place = os.path.realpath(path)
    while not os.path.exists(place):
        place = os.path.dirname(place)
    return place
