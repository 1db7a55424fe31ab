"""Finds system programs in directories where no workspace can put one."""

from __future__ import annotations

import os

__all__ = ["find_bash", "find_bubblewrap", "find_seatbelt"]

_DIRECTORIES = ("/usr/bin", "/bin", "/usr/local/bin", "/run/current-system/sw/bin")


def find_bash() -> str | None:
    """Return the absolute path of the system's bash, never one that PATH or a workspace names."""
    return _find("bash")


def find_bubblewrap() -> str | None:
    """Return the absolute path of the system's bwrap, or None."""
    return _find("bwrap")


def find_seatbelt() -> str | None:
    """Return the absolute path of macOS's sandbox-exec, or None."""
    return _find("sandbox-exec")


def _find(name: str) -> str | None:
    paths = (f"{directory}/{name}" for directory in _DIRECTORIES)
    return next((path for path in paths if os.access(path, os.X_OK)), None)
