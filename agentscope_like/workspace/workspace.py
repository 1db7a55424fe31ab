"""Defines `Workspace`, the directory in which one run works."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Iterator
from pathlib import Path

from agentscope_like.checkpoint import CheckpointStore, FileChange, FileVersion, recorded
from agentscope_like.exception import ConfigurationError, RecoverableToolError
from agentscope_like.paths import Location
from agentscope_like.profile import WorkspacePolicy
from agentscope_like.tool.builtin.file_system import (
    HOST_FILES,
    FileContent,
    FileToolError,
    explain,
    read_whole,
)
from agentscope_like.workspace.persistence import PersistentRoot
from agentscope_like.workspace.places import Place, find_place
from agentscope_like.workspace.read_tracker import ReadTracker

__all__ = ["HIDDEN", "Workspace"]

HIDDEN = ("input", "tool-results", "model-responses", "checkpoints", "events.jsonl")
"""Storage of the run beside its roots, which its agent neither sees nor searches."""


class Workspace:
    """The files of one run: roots that its agent sees, and storage that it does not.

    Args:
        directory: Where it is; made if it is missing, for its owner alone.
        run_id: The run, which checkpoints are filed under.
        policy: The roots that the agent sees, and those that it may write in.
        checkpoints: Keeps what files were; by default, in the workspace's own storage.
        persistent: Where `persist/` comes from, and goes to when the run finishes; None if it is
            not kept.

    Raises:
        ConfigurationError: The directory cannot be used.
    """

    def __init__(
        self,
        directory: str | os.PathLike[str],
        *,
        run_id: str,
        policy: WorkspacePolicy | None = None,
        checkpoints: CheckpointStore | None = None,
        persistent: str | os.PathLike[str] | None = None,
    ) -> None:
        self.run_id = run_id
        self.policy = policy or WorkspacePolicy()
        try:
            self.directory = _made(directory, WorkspacePolicy().visible_roots)
        except OSError as error:
            raise ConfigurationError(
                f"the workspace {os.fspath(directory)} cannot be used: {error}"
            ) from error
        storage = Path(self.directory, "checkpoints", "checkpoints.db")
        self.checkpoints = CheckpointStore(storage) if checkpoints is None else checkpoints
        self.tracker = ReadTracker()
        self.persistent = None if persistent is None else PersistentRoot(persistent)
        if self.persistent is not None:
            self.persistent.check_out(Path(self.directory))

    def for_child(self, policy: WorkspacePolicy) -> Workspace:
        """Return the same files for a child task.

        It sees what both policies show, and knows nothing of what this agent has read.
        """
        child = object.__new__(type(self))
        child.__dict__.update(self.__dict__)
        child.tracker = ReadTracker()
        child.persistent = None
        visible = tuple(root for root in self.visible_roots if root in policy.visible_roots)
        writable = tuple(
            root for root in visible if policy.takes_writes(root) and root in self.writable_roots
        )
        child.policy = WorkspacePolicy(visible_roots=visible, writable_roots=writable)
        return child

    @property
    def visible_roots(self) -> tuple[str, ...]:
        """Return the names of the directories that the agent sees."""
        return self.policy.visible_roots

    @property
    def writable_roots(self) -> tuple[str, ...]:
        """Return the names of the directories that the agent may write in."""
        return tuple(root for root in self.visible_roots if self.policy.takes_writes(root))

    @property
    def working_directories(self) -> tuple[str, ...]:
        """Return the writable roots as working directories of a permission context."""
        return tuple(f"{self.directory}/{root}" for root in self.writable_roots)

    def find(self, path: str | None, *, decided: str | None = None) -> Place:
        """Return where a path leads that the agent may see.

        Args:
            path: Relative to the workspace; nothing for its root.
            decided: Where it led when the call was decided; None without a decision.

        Raises:
            RecoverableToolError: It cannot be used, or the agent does not see it.
        """
        place = find_place(self.directory, path, decided=decided)
        if place.relative and place.root not in self.visible_roots:
            raise RecoverableToolError(
                "workspace.not_visible",
                f"{place.relative} is not there: the workspace has {self._listed()}.",
            )
        return place

    def find_writable(self, path: str, *, decided: str | None = None) -> Place:
        """Return where a path leads that the agent may write.

        Args:
            path: Relative to the workspace.
            decided: Where it led when the call was decided; None without a decision.

        Raises:
            RecoverableToolError: It cannot be used, or the agent may not write there.
        """
        place = self.find(path, decided=decided)
        if "/" in place.relative and place.root in self.writable_roots:
            return place
        roots = ", ".join(f"{root}/" for root in self.writable_roots) or "no directory"
        raise RecoverableToolError(
            "workspace.not_writable",
            f"{place.relative or 'The root'} cannot be written. Files may be written in {roots}.",
        )

    def read(self, place: Place) -> FileContent:
        """Return the content of a file.

        Raises:
            RecoverableToolError: There is no such file, or it cannot be read.
        """
        if place.is_directory:
            raise RecoverableToolError(
                "workspace.path_is_directory",
                f"{place.relative or 'The root'} is a directory: name a file; "
                "workspace.list_files lists them.",
            )
        if place.is_missing:
            raise RecoverableToolError(
                "workspace.file_not_found",
                f"{place.relative} does not exist; workspace.list_files lists what does.",
            )
        with _explained(place):
            return read_whole(HOST_FILES, place.location)

    def write(
        self, place: Place, before: FileContent | None, data: bytes, *, summary: str
    ) -> tuple[FileContent, int]:
        """Write a file whole, and keep what it was.

        Args:
            place: The file.
            before: What it has to be still; None where it must not exist.
            data: What it becomes.
            summary: What is done, for the checkpoint.

        Returns:
            What the file is now, and the number of the checkpoint.

        Raises:
            RecoverableToolError: It is another one by now, or the system refuses.
            CheckpointError: What it was cannot be kept; nothing is written then.
        """
        location = place.location
        old = None if before is None else FileVersion(before.data, _mode(before))
        new = FileVersion(data, 0o644 if old is None else old.mode)
        change = FileChange(location.resolved, old, new)
        with (
            _explained(place),
            recorded(
                self.checkpoints, [change], session_id=self.run_id, summary=summary
            ) as checkpoint_id,
        ):
            after = _put(location, before, data)
        return after, checkpoint_id

    def _listed(self) -> str:
        return ", ".join(f"{root}/" for root in self.visible_roots) or "nothing to see"


def _put(location: Location, before: FileContent | None, data: bytes) -> FileContent:
    if before is None:
        return HOST_FILES.create(location, data, _go_on)
    return HOST_FILES.replace(location, data, before, _go_on)


def _go_on() -> None:
    """Check nothing: a write that has begun is made."""


@contextlib.contextmanager
def _explained(place: Place) -> Iterator[None]:
    """Raise what the system refuses as an error for the model."""
    try:
        yield
    except FileToolError as error:
        raise RecoverableToolError("workspace.io_error", error.message) from None
    except FileExistsError:
        raise _stale(place) from None
    except OSError as error:
        if error.errno == errno.ESTALE:
            raise _stale(place) from None
        told = explain(error, place.relative).message
        raise RecoverableToolError("workspace.io_error", told) from None


def _stale(place: Place) -> RecoverableToolError:
    return RecoverableToolError(
        "workspace.stale_file",
        f"{place.relative} changed since it was read: read it in full, then write again.",
    )


def _mode(content: FileContent) -> int:
    return stat.S_IMODE(content.status.st_mode)


def _made(directory: str | os.PathLike[str], roots: tuple[str, ...]) -> str:
    """Make a directory and its roots, and return its resolved path."""
    os.makedirs(directory, mode=0o700, exist_ok=True)
    resolved = os.path.realpath(directory)
    for root in roots:
        path = os.path.join(resolved, root)
        os.makedirs(path, exist_ok=True)
        if os.path.islink(path):
            raise OSError(f"{path} is a symlink")
    return resolved
