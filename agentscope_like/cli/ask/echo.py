"""Keeps what is typed while the agent works out of what is shown."""

from __future__ import annotations

import sys
import termios
from collections.abc import Iterator
from contextlib import contextmanager, suppress

__all__ = ["without_echo"]

_LOCAL_MODES = 3


@contextmanager
def without_echo() -> Iterator[None]:
    """Have the terminal not show typed keys meanwhile; the next prompt shows them.

    Does nothing where standard input is no terminal.
    """
    try:
        terminal = sys.stdin.fileno()
        before = termios.tcgetattr(terminal)
    except (OSError, ValueError, AttributeError, termios.error):
        yield
        return
    quiet = [*before]
    quiet[_LOCAL_MODES] &= ~termios.ECHO
    termios.tcsetattr(terminal, termios.TCSANOW, quiet)
    try:
        yield
    finally:
        with suppress(termios.error):  # the terminal is gone
            termios.tcsetattr(terminal, termios.TCSANOW, before)
