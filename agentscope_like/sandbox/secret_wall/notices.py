"""Covers credentials with notice files and empty directories."""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import tempfile
import weakref
from collections.abc import Iterable

from agentscope_like.paths import is_below
from agentscope_like.sandbox.isolation import FORGOTTEN, Profile
from agentscope_like.sandbox.mount import VolumeMount
from agentscope_like.sandbox.secret_wall.open_watch import OpenWatch
from agentscope_like.sandbox.secret_wall.search import Credential

__all__ = ["NOTICE", "Notices"]

NOTICE = "# Kept secret from this command. Name this file in a command of its own to ask for it.\n"
"""The content of a covered file; a comment, for programs that read it as configuration."""


class Notices:
    """Notices that cover some credentials, in a temporary directory of their own.

    Each credential has its own notice, so that it is known which of them was opened.

    Args:
        credentials: The credentials to cover.

    Raises:
        OSError: They cannot be made.
    """

    def __init__(self, credentials: Iterable[Credential]) -> None:
        place = FORGOTTEN if os.access(FORGOTTEN, os.W_OK | os.X_OK) else None
        self.directory = os.path.realpath(tempfile.mkdtemp(prefix="agentscope-like-", dir=place))
        weakref.finalize(self, shutil.rmtree, self.directory, ignore_errors=True)
        self._mounts = {
            each: _notice(each, os.path.join(self.directory, str(number)))
            for number, each in enumerate(credentials)
        }
        self._idle: list[OpenWatch] = []

    def take_watch(self) -> OpenWatch:
        """Return a watch of the notices for one run.

        Ending a watch waits some milliseconds for the kernel, so that runs hand theirs on.
        """
        if not self._idle:
            return OpenWatch(self.directory)
        watch = self._idle.pop()
        watch.opened()  # what was opened before is not this run's
        return watch

    def give_back(self, watch: OpenWatch) -> None:
        """Keep a watch for a later run."""
        self._idle.append(watch)

    def is_seen_by(self, profile: Profile) -> bool:
        """Return whether a command sees the directory, unless its own directories cover it."""
        has_own = not profile.devices or FORGOTTEN in profile.hide
        return not (has_own and is_below(self.directory, FORGOTTEN))

    def mounts(self) -> tuple[VolumeMount, ...]:
        """Return the mounts that cover the credentials that still exist."""
        return tuple(mount for each, mount in self._mounts.items() if _is_there(each))

    def renew(self, credentials: Iterable[Credential]) -> bool:
        """Copy the credentials' modes and times again; False if these are not all that it covers.

        Notices of the same credentials are used again, since removing them ends their watches.
        """
        if list(credentials) != list(self._mounts) or not self.are_there:
            return False
        for credential, mount in self._mounts.items():
            _copy_status(credential, mount.host_path)
        return True

    @property
    def are_there(self) -> bool:
        """Return whether the notices still exist."""
        return all(os.path.lexists(mount.host_path) for mount in self._mounts.values())


def _notice(credential: Credential, place: str) -> VolumeMount:
    """Make the notice of a credential; it has the credential's mode and modification time."""
    if credential.is_directory:
        os.mkdir(place)
    else:
        with open(place, "x", encoding="utf-8") as file:
            file.write(NOTICE)
    _copy_status(credential, place)
    return VolumeMount(place, credential.path, read_only=True)


def _copy_status(credential: Credential, place: str) -> None:
    with contextlib.suppress(OSError):
        status = os.lstat(credential.path)
        os.utime(place, ns=(status.st_atime_ns, status.st_mtime_ns))
        os.chmod(place, stat.S_IMODE(status.st_mode) & 0o777 | stat.S_IRUSR)


def _is_there(credential: Credential) -> bool:
    with contextlib.suppress(OSError):
        mode = os.lstat(credential.path).st_mode
        return stat.S_ISDIR(mode) if credential.is_directory else stat.S_ISREG(mode)
    return False
