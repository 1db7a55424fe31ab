"""Finds files of a workspace by the paths that a model writes."""

from __future__ import annotations

import re

from msgspec import Struct

from agentscope_like.exception import RecoverableToolError
from agentscope_like.paths import FileKind, Location, PathError, locate

__all__ = ["Place", "find_place", "invalid_path"]

_DRIVE = re.compile(r"[A-Za-z]:")


class Place(Struct, frozen=True):
    """Where a path of a workspace leads.

    Attributes:
        relative: The path from the workspace's root, without `.`; empty for the root itself.
        location: The same on this host.
    """

    relative: str
    location: Location

    @property
    def root(self) -> str:
        """Return its first name, such as `output`."""
        return self.relative.partition("/")[0]

    @property
    def is_directory(self) -> bool:
        """Return whether a directory is there."""
        return self.location.kind is FileKind.DIRECTORY

    @property
    def is_missing(self) -> bool:
        """Return whether nothing is there."""
        return self.location.kind is FileKind.MISSING


def find_place(directory: str, path: str | None, *, decided: str | None = None) -> Place:
    """Return where a path of a workspace leads.

    Args:
        directory: The workspace, resolved.
        path: The path, relative to the workspace; nothing, `.` or `./` for its root.
        decided: Where it led when the call was decided; None without a decision.

    Raises:
        RecoverableToolError: It is no such path, passes a symlink, or leads elsewhere by now.
    """
    relative = _relative(path or "")
    try:
        location = locate(f"./{relative}", directory=directory)
    except PathError as error:
        raise invalid_path(path or "", str(error)) from None
    if location.resolved != (f"{directory}/{relative}" if relative else directory):
        raise invalid_path(relative, "it passes a symlink; write the file's own path")
    if decided is not None and location.resolved != decided:
        raise invalid_path(relative, "it leads elsewhere than it did a moment ago; call again")
    return Place(relative, location)


def invalid_path(path: str, why: str) -> RecoverableToolError:
    """Return the error for a path that cannot be one of the workspace."""
    return RecoverableToolError("workspace.invalid_path", f"{path!r} cannot be used: {why}.")


def _relative(path: str) -> str:
    if path.startswith(("/", "~")) or _DRIVE.match(path):
        raise invalid_path(path, "write it relative to the workspace, such as output/main.md")
    if "\\" in path:
        raise invalid_path(path, "write / between names, not a backslash")
    names = [name for name in path.split("/") if name not in ("", ".")]
    if ".." in names:
        raise invalid_path(path, "`..` leads out of a directory; name the file from the root")
    return "/".join(names)
