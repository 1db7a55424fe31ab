"""Walks the files of a workspace that its agent sees."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from agentscope_like.exception import RecoverableToolError
from agentscope_like.tool.builtin.file_system import HOST_FILES
from agentscope_like.workspace.places import Place
from agentscope_like.workspace.workspace import Workspace

__all__ = ["Listed", "walk"]


class Listed(Struct, frozen=True):
    """A file or directory of a workspace.

    Attributes:
        relative: Its path from the workspace's root.
        is_directory: Whether it is a directory.
    """

    relative: str
    is_directory: bool


def walk(workspace: Workspace, place: Place, depth: int | None = None) -> Iterator[Listed]:
    """Yield what lies below a place, the nearest first; symlinks and devices are left out.

    Args:
        workspace: The workspace.
        place: Where to begin: the root, whose entries are the roots that the agent sees, a
            directory, or a file, which is yielded itself.
        depth: How many names deep, counted from a visible root or from the place; None for all.

    Raises:
        RecoverableToolError: Nothing is there.
    """
    if place.is_missing:
        raise RecoverableToolError(
            "workspace.file_not_found",
            f"{place.relative} does not exist; workspace.list_files shows what does.",
        )
    if place.relative and not place.is_directory:
        yield Listed(place.relative, is_directory=False)
        return
    level = [place.relative] if place.relative else list(workspace.visible_roots)
    if not place.relative:
        for root in level:
            yield Listed(root, is_directory=True)
    while level and depth != 0:
        found = [listed for directory in level for listed in _entries(workspace, directory)]
        yield from found
        level = [listed.relative for listed in found if listed.is_directory]
        depth = None if depth is None else depth - 1


def _entries(workspace: Workspace, directory: str) -> Iterator[Listed]:
    for entries in HOST_FILES.list([f"{workspace.directory}/{directory}"]):
        for entry in sorted(entries or (), key=lambda each: each.name):
            is_directory = entry.is_dir(follow_symlinks=False)
            if is_directory or entry.is_file(follow_symlinks=False):
                yield Listed(f"{directory}/{entry.name}", is_directory)
