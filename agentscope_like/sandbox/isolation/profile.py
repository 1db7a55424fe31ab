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
    """What a command may read, write and reach; nothing else exists for it.

    Attributes:
        read: Absolute paths of the host that it sees at the same path.
        write: Absolute paths of the host that it may also write to. A file that does not exist
            cannot be listed, but the directory to create it in can.
        mounts: Paths of the host that it sees at another path.
        keep: Absolute paths in such directories that it may not write to.
        hide: Absolute paths that are empty for it, whatever else is listed.
        empty: Absolute paths of directories that are empty for it but for what else is listed below
            them, and that it cannot write to. Those that do not exist are skipped.
        temporary: Directory of the host that is its `/tmp`; by default the host's own, as far as it
            is listed.
        network: Whether it reaches the host's network.
        sockets: Whether it can make UNIX sockets and, without a network, IP sockets to itself. By
            default it cannot, since a daemon of the host may do anything for its clients.
        native: Whether it runs as the user of this host: with the host's name, the user's id and,
            if that is root, all ids and access to their files. Else it runs as a user that the host
            does not know.
        processes: Whether it sees the host's processes, without access. Only for native profiles.
        signals: Whether it can send signals to the host's processes that it sees.
        devices: Whether it sees the names of the host's devices; it cannot open them.
        held: Whether nobody decided what it does, so that it is kept to its own: it ends with the
            thread that started it, has a network with nothing but itself, UNIX sockets in pairs
            only, a `/dev` that cannot be filled, a `/var/tmp` beside its `/tmp`, and cannot make
            devices, set-id bits or attributes of files. Only for native profiles.
    """

    read: tuple[str, ...] = ()
    write: tuple[str, ...] = ()
    mounts: tuple[VolumeMount, ...] = ()
    keep: tuple[str, ...] = ()
    hide: tuple[str, ...] = ()
    empty: tuple[str, ...] = ()
    temporary: str | None = None
    network: bool = False
    sockets: bool = False
    native: bool = False
    processes: bool = False
    signals: bool = False
    devices: bool = False
    held: bool = False


def reading(*, network: bool = False) -> Profile:
    """Return the profile of a command that was allowed to only read.

    It sees the whole host, writes only to pipes, `/dev/null` and a private `/dev/shm`, and has no
    network.

    Args:
        network: Whether it was allowed to read from the network, too.
    """
    return Profile(read=(EVERYTHING,), network=network, native=True)


def editing(paths: Iterable[str], *, keep: Iterable[str] = (), network: bool = False) -> Profile:
    """Return the profile of a command that was allowed to write only to these paths.

    Args:
        paths: Absolute paths of the host. For one that does not exist, its nearest existing parent
            may be written to, unless that is the root. A program that replaces a file by another,
            as `sed -i` does, needs the directory.
        keep: Absolute paths in them that must not be written; those that do not exist are skipped.
        network: Whether it was allowed to use the network.
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
    """Return the path without symlinks, or its nearest existing parent."""
    place = os.path.realpath(path)
    while not os.path.exists(place):
        place = os.path.dirname(place)
    return place
