"""Defines `TerminalAction`, what to do in a terminal."""

from __future__ import annotations

import os
import re
from typing import Self

from pydantic import Field, model_validator

from agentscope_like.typed.action import Action

__all__ = ["ExecuteBashAction", "TerminalAction"]

MAX_TIMEOUT_SECONDS = 86_400.0
HARMLESS_KEYS = frozenset({"", "C-c", "C-d"})
"""What is typed without a question: nothing, an interruption, the end of the input."""

_CONTROL = 0x1F
_KEY = re.compile(r"C-([a-z\[\\\]^_])")


class TerminalAction(Action):
    """What to do in the terminal (seed 004, "execute_bash").

    Attributes:
        command: What bash runs, or what is typed into the program that runs.
        is_input: Whether it is for the program that runs.
        timeout: Seconds until the command is ended; for input, how long to wait for what follows.
        reset: Whether to end what runs and to start anew; with no command.
    """

    command: str = Field(
        default="",
        description=(
            "What bash runs; or nothing to see more, or `C-c` or `C-d` for the running program."
        ),
    )
    is_input: bool = Field(
        default=False, description="Whether this is typed into the running program, with Enter."
    )
    timeout: float | None = Field(
        default=None,
        gt=0,
        le=MAX_TIMEOUT_SECONDS,
        description="Seconds until the command is ended; without, it may go on running.",
    )
    reset: bool = Field(
        default=False, description="Whether to end what runs and to start anew; alone."
    )

    @model_validator(mode="after")
    def _refuse_two_things(self) -> Self:
        if self.reset and (self.command or self.is_input):
            raise ValueError("`reset` stands alone: send the command or input in the next call")
        return self

    @property
    def is_key(self) -> bool:
        """Return whether nothing is begun or answered by it."""
        is_blank = not self.is_input and not self.command.strip()
        return self.reset or is_blank or self.command in HARMLESS_KEYS

    @property
    def keys(self) -> bytes:
        """Return the bytes to type: of a key such as `C-c`, or of the text and Enter."""
        key = _KEY.fullmatch(self.command)
        if key is not None:
            return bytes([ord(key[1].upper()) & _CONTROL])
        if self.is_key:
            return b""
        return os.fsencode(self.command.removesuffix("\n").replace("\n", "\r") + "\r")


ExecuteBashAction = TerminalAction
