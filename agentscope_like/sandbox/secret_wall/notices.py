"""What a command finds in the place of credentials: notice files and empty directories."""

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
from agentscope_like.sandbox.secret_wall.search import Credential

__all__ = ["NOTICE", "Notices"]

NOTICE = "# Kept secret from this command. Name this file in a command of its own to ask for it.\n"
"""The content of a covered file; a comment, for programs that read it as configuration."""


class Notices:
    """Notices for some credentials, in a directory of their own that goes when this goes.

    Each credential has a notice of its own, so that it can be told which of them was opened.

    Args:
        credentials: What they take the place of.

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

    def is_seen_by(self, profile: Profile) -> bool:
        """Return whether a command would find the directory: not in what it has of its own."""
        has_own = not profile.devices or FORGOTTEN in profile.hide
        return not (has_own and is_below(self.directory, FORGOTTEN))

    def mounts(self) -> tuple[VolumeMount, ...]:
        """Return what covers the credentials that are still there."""
        return tuple(mount for each, mount in self._mounts.items() if _is_there(each))

    @property
    def are_there(self) -> bool:
        """Return whether nobody has removed the notices."""
        return all(os.path.lexists(mount.host_path) for mount in self._mounts.values())


def _notice(credential: Credential, place: str) -> VolumeMount:
    """Make the notice of a credential; it has the credential's mode and time of change."""
    if credential.is_directory:
        os.mkdir(place)
    else:
        with open(place, "x", encoding="utf-8") as file:
            file.write(NOTICE)
    with contextlib.suppress(OSError):
        status = os.lstat(credential.path)
        os.utime(place, ns=(status.st_atime_ns, status.st_mtime_ns))
        os.chmod(place, stat.S_IMODE(status.st_mode) & 0o777 | stat.S_IRUSR)
    return VolumeMount(place, credential.path, read_only=True)


def _is_there(credential: Credential) -> bool:
    with contextlib.suppress(OSError):
        mode = os.lstat(credential.path).st_mode
        return stat.S_ISDIR(mode) if credential.is_directory else stat.S_ISREG(mode)
    return False
