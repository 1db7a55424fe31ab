"""The `/tmp` and `/var/tmp` of held commands."""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from agentscope_like.paths import is_below
from agentscope_like.sandbox import VolumeMount
from agentscope_like.sandbox.held import TEMPORARY_PLACES
from agentscope_like.tool.builtin.command_checkpoint import private_places
from agentscope_like.tool.builtin.held.locks import locked

if TYPE_CHECKING:
    from agentscope_like.checkpoint import CheckpointStore

__all__ = ["TEMPORARY", "TemporaryDirectory", "kept_by_checkpoints"]

TEMPORARY = "temporary-"
"""How the names of such directories begin."""


class TemporaryDirectory:
    """What the held commands of one `Bash` have as `/tmp` and `/var/tmp`; see `KeptFiles`.

    It is made for the first command, and removed with this object.

    Args:
        store: The folder to make it in, which exists by then.
        private: As for `KeptFiles`.
    """

    def __init__(self, store: Path, private: Sequence[str] = ()) -> None:
        self.private = private
        self._store = store
        self._path: str | None = None
        self._outside: set[tuple[str, str]] = set()

    def begin(self, seen: Sequence[str]) -> str:
        """Return the directory for a command, made if there is none.

        Args:
            seen: Paths of the host that the command sees where they are, also in `/tmp`; or does
                not, where something is hidden.

        Raises:
            OSError: It cannot be made.
        """
        if self._path is None:
            path = os.path.realpath(tempfile.mkdtemp(prefix=TEMPORARY, dir=self._store))
            weakref.finalize(self, _remove, path, locked(Path(path)))
            self._path = path
        for each in (os.path.realpath(one) for one in (*seen, str(self._store))):
            for place in TEMPORARY_PLACES.values():
                if is_below(each, place) and os.path.exists(each):
                    self._outside.add((place, _first_name(each, place)))
        return self._path

    def real_path(self, path: str) -> str | None:
        """Return where the file of a path is on the host, or None: it is the host's own."""
        for place, own in self._own().items():
            if path.startswith(f"{place}/"):
                name = _first_name(path, place)
                is_own = name and (place, name) not in self._outside
                if is_own and os.path.lexists(os.path.join(own, name)):
                    return own + path[len(place) :]
        return None

    def names(self, directory: str) -> Sequence[str]:
        """Return the names in `/tmp` or `/var/tmp` that are no files of the host; else none."""
        own = self._own().get(directory)
        if own is None:
            return ()
        try:
            found = os.listdir(own)
        except OSError:
            return ()
        return [name for name in found if (directory, name) not in self._outside]

    def mounts(self, path: str) -> tuple[VolumeMount, ...]:
        """Return the mounts by which a read sees what held commands left at a path.

        There are none where they left nothing of its first name: a read sees the host's files then.

        Args:
            path: An absolute path.
        """
        real = self.real_path(path)
        for place, own in self._own().items():
            if real is None or not path.startswith(f"{place}/"):
                continue
            names = [name for where, name in sorted(self._outside) if where == place]
            host = [each for each in (f"{place}/{name}" for name in names) if os.path.exists(each)]
            if all(_is_point(own + each[len(place) :], each) for each in host):
                kept = (VolumeMount(each, each, read_only=True) for each in host)
                return VolumeMount(own, place, read_only=True), *kept
        return ()

    def host_ran(self, since_ns: int) -> None:
        """Remove what a command that ran on the host has written anew there, at the same path.

        Args:
            since_ns: When that command began, on the clock of file times.
        """
        for place, own in self._own().items():
            for name in self.names(place):
                try:
                    is_new = os.lstat(f"{place}/{name}").st_ctime_ns >= since_ns
                except OSError:
                    continue  # the host has none
                path = os.path.join(own, name)
                if is_new and os.path.isdir(path) and not os.path.islink(path):
                    shutil.rmtree(path, ignore_errors=True)
                elif is_new:
                    Path(path).unlink(missing_ok=True)

    def _own(self) -> dict[str, str]:
        """Return the directory of each place; none before the first command."""
        if self._path is None:
            return {}
        return {place: os.path.join(self._path, name) for name, place in TEMPORARY_PLACES.items()}


def kept_by_checkpoints(checkpoints: CheckpointStore) -> TemporaryDirectory:
    """Return what a Bash keeps that holds no commands: no temporary files, but checkpoints."""
    return TemporaryDirectory(Path(), private_places(None, checkpoints))


def _is_point(own: str, host: str) -> bool:
    """Return whether a path of the host can be mounted where a command had it as well."""
    is_there = os.path.lexists(own) and not os.path.islink(own)
    return is_there and os.path.isdir(own) == os.path.isdir(host)


def _first_name(path: str, place: str) -> str:
    return path[len(place) + 1 :].partition("/")[0]


def _remove(path: str, lock: int) -> None:
    shutil.rmtree(path, ignore_errors=True)
    os.close(lock)
