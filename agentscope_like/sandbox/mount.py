"""Maps the mounted directories of the host to their paths in a sandbox."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from agentscope_like.exception import ConfigurationError

__all__ = ["MountTable", "VolumeMount"]

_RESERVED = ("/", "/proc", "/dev", "/sys")


@dataclass(frozen=True, slots=True)
class VolumeMount:
    """A directory or file of the host that a sandbox has (seed 003, 1.3).

    Args:
        host_path: Absolute path on the host; `~` stands for the user's home.
        mount_path: Absolute path that commands in the sandbox know it by; inside another mount that
            is read-only, a directory that is there.
        read_only: Whether nothing may be written there; by default, it may.

    Raises:
        ConfigurationError: A path is not absolute, or the mount would replace the system's own.
    """

    host_path: str
    mount_path: str
    read_only: bool = False

    def __post_init__(self) -> None:
        host = os.path.expanduser(os.fspath(self.host_path))
        inside = posixpath.normpath(os.fspath(self.mount_path))
        for path in (host, inside):
            if not path.startswith("/") or "\0" in path:
                raise ConfigurationError(
                    f"a volume mount has the path {path!r}, and only absolute ones mean the same "
                    "everywhere: write it from the root on"
                )
        inside = "/" + inside.lstrip("/")
        if inside in _RESERVED or inside.startswith(("/proc/", "/dev/", "/sys/")):
            raise ConfigurationError(
                f"{host} cannot be mounted at {inside}, which is the system's own: choose another "
                "`mount_path`"
            )
        object.__setattr__(self, "host_path", os.path.realpath(host))
        object.__setattr__(self, "mount_path", inside)

    @property
    def is_moved(self) -> bool:
        """Return whether its path in the sandbox differs from the host's."""
        return self.host_path != self.mount_path


class MountTable:
    """Translates paths between a host and a sandbox, component by component.

    Args:
        mounts: Of two with the same `mount_path`, the later counts.
    """

    def __init__(self, mounts: Iterable[VolumeMount]) -> None:
        self._by_path = {mount.mount_path: mount for mount in mounts}

    def __iter__(self) -> Iterator[VolumeMount]:
        return iter(self._by_path.values())

    def at(self, inside: str) -> VolumeMount | None:
        """Return what is mounted at exactly this path."""
        return self._by_path.get(inside)

    def leads_to_mount(self, inside: str) -> bool:
        """Return whether something is mounted below this path."""
        return any(path.startswith(f"{inside.rstrip('/')}/") for path in self._by_path)

    def to_host(self, inside: str) -> str | None:
        """Return the host's name of a path in the sandbox, symlinks left as they are.

        The longest `mount_path` counts; None where nothing of the host is there.
        """
        path = "/" + posixpath.normpath(inside).lstrip("/")
        place = path
        while True:
            if mount := self._by_path.get(place):
                return mount.host_path + path[len(place) :]
            if place == "/":
                return None
            place = posixpath.dirname(place)

    def to_inside(self, host: str) -> str | None:
        """Return the sandbox's name of a path of the host, or None where it has none."""
        path = os.path.realpath(host)
        found = [
            mount
            for mount in self._by_path.values()
            if path == mount.host_path or path.startswith(f"{mount.host_path.rstrip('/')}/")
        ]
        if not found:
            return None
        mount = max(found, key=lambda mount: len(mount.host_path))
        return posixpath.normpath(mount.mount_path + path[len(mount.host_path.rstrip("/")) :])
