"""A workspace with files for commands to be decided in, and what surrounds them."""

from __future__ import annotations

from pathlib import Path

from tests.permission.kit import Surroundings

__all__ = ["filled", "in_workspace"]


def filled(directory: Path, names: str) -> Path:
    """Put files into a directory, and return it without symlinks on the way.

    Args:
        directory: The directory.
        names: The paths of the files, parted by blanks.
    """
    directory = directory.resolve()
    for name in names.split():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x")
    return directory


def in_workspace(work: Path, home: str | None) -> Surroundings:
    """Return what surrounds a command that runs in a workspace, which is its working directory."""
    return Surroundings(directory=str(work), working=(str(work),), root=str(work), home=home)
