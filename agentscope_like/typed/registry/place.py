"""Finds the line of the program that registers a tool, for messages."""

from __future__ import annotations

import inspect

__all__ = ["calling_place"]

_PACKAGE = __name__.rpartition(".")[0]


def calling_place() -> str:
    """Return the file and line of the first caller outside of the registry."""
    frame = inspect.currentframe()
    while frame is not None and str(frame.f_globals.get("__name__")).startswith(_PACKAGE):
        frame = frame.f_back
    return "?" if frame is None else f"{frame.f_code.co_filename}:{frame.f_lineno}"
