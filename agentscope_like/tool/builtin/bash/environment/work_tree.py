"""Finds the git work tree that a directory lies in, without running git."""

from __future__ import annotations

import os
from collections.abc import Mapping

__all__ = ["MAX_CONFIG_BYTES", "work_tree_of"]

MAX_CONFIG_BYTES = 1 << 18
"""The maximum size of a repository's configuration; beyond it, the work tree is unknown."""

_ELSEWHERE = frozenset(
    {
        *("GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_CEILING_DIRECTORIES"),
        *("GIT_DISCOVERY_ACROSS_FILESYSTEM", "GIT_CONFIG", "GIT_CONFIG_PARAMETERS"),
    }
)
"""Variables with which git looks for a repository in another way (git(1), "The Git Repository")."""


def work_tree_of(directory: str, environment: Mapping[str, str]) -> str | None:
    """Return the output of `git rev-parse --show-toplevel` in a directory, or None if unknown.

    The work tree is the nearest parent directory with a `.git` directory. It is unknown for linked
    work trees, submodules, bare repositories, and configuration that sets a work tree
    (gitrepository-layout(5), git-config(1), "core.worktree").

    Args:
        directory: An absolute directory.
        environment: The variables that git would see.
    """
    if not _ELSEWHERE.isdisjoint(environment):
        return None
    try:
        place = os.path.realpath(directory, strict=True)
        while not os.path.lexists(os.path.join(place, ".git")):
            parent = os.path.dirname(place)
            if parent == place or os.path.lexists(os.path.join(place, "HEAD")):
                return None
            place = parent
        return place if _is_plain(os.path.join(place, ".git")) else None
    except OSError:
        return None


def _is_plain(repository: str) -> bool:
    """Return whether a `.git` is the directory of a repository with the work tree around it."""
    if os.path.islink(repository) or not os.path.isfile(os.path.join(repository, "HEAD")):
        return False
    with open(os.path.join(repository, "config"), "rb") as file:
        text = file.read(MAX_CONFIG_BYTES + 1)
    return len(text) <= MAX_CONFIG_BYTES and b"worktree" not in text.lower()
