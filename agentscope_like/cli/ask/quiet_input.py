"""Drops keys that were pressed before a person can have read what they would answer."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from contextlib import AbstractContextManager

from prompt_toolkit.input import Input
from prompt_toolkit.input.typeahead import clear_typeahead
from prompt_toolkit.key_binding import KeyPress
from prompt_toolkit.keys import Keys
from typing_extensions import override

__all__ = ["QUIET_SECONDS", "QuietInput"]

QUIET_SECONDS = 0.3
"""How long a question takes no answer after it was drawn."""

_ALWAYS = (Keys.ControlC, Keys.CPRResponse)


class QuietInput(Input):
    """An input whose keys are dropped for a time; Ctrl-C is always heard.

    Args:
        inner: Where keys come from.
        clock: Returns the time, in seconds.
    """

    def __init__(self, inner: Input, clock: Callable[[], float] = time.monotonic) -> None:
        self._inner = inner
        self._clock = clock
        self._hears_from = -math.inf

    def be_quiet(self) -> None:
        """Forget what was typed, and drop what is typed from now on for the time of a question."""
        _flush_terminal(self._inner)
        clear_typeahead(self._inner)
        self._inner.flush_keys()
        self._hears_from = self._clock() + QUIET_SECONDS

    def drawn(self) -> None:
        """Note that the question was drawn just now, unless its time is over."""
        if self._clock() < self._hears_from:
            self._hears_from = self._clock() + QUIET_SECONDS

    def _heard(self, keys: list[KeyPress]) -> list[KeyPress]:
        if self._clock() >= self._hears_from:
            return keys
        return [key for key in keys if key.key in _ALWAYS]

    @override
    def read_keys(self) -> list[KeyPress]:
        return self._heard(self._inner.read_keys())

    @override
    def flush_keys(self) -> list[KeyPress]:
        return self._heard(self._inner.flush_keys())

    @override
    def fileno(self) -> int:
        return self._inner.fileno()

    @override
    def typeahead_hash(self) -> str:
        return self._inner.typeahead_hash()

    @override
    def flush(self) -> None:
        self._inner.flush()

    @property
    @override
    def closed(self) -> bool:
        return self._inner.closed

    @override
    def raw_mode(self) -> AbstractContextManager[None]:
        return self._inner.raw_mode()

    @override
    def cooked_mode(self) -> AbstractContextManager[None]:
        return self._inner.cooked_mode()

    @override
    def attach(self, input_ready_callback: Callable[[], None]) -> AbstractContextManager[None]:
        return self._inner.attach(input_ready_callback)

    @override
    def detach(self) -> AbstractContextManager[None]:
        return self._inner.detach()

    @override
    def close(self) -> None:
        self._inner.close()


def _flush_terminal(inner: Input) -> None:
    """Drop what the terminal still holds."""
    import termios

    try:
        termios.tcflush(inner.fileno(), termios.TCIFLUSH)
    except (OSError, ValueError, NotImplementedError, termios.error):
        return
