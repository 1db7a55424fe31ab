"""Errors of the command line: what was wrong, in one sentence with the fix."""

from __future__ import annotations

from enum import IntEnum

__all__ = ["CliError", "ExitCode"]


class ExitCode(IntEnum):
    """How the program ends.

    Those from 64 on are the ones of sysexits.h; from 128 on, what a shell says of the signal.
    """

    DONE = 0
    FAILED = 1
    USAGE = 64
    NO_INPUT = 66
    SOFTWARE = 70
    IO_ERROR = 74
    CONFIG = 78
    HUNG_UP = 129
    INTERRUPTED = 130
    TERMINATED = 143


class CliError(Exception):
    """A mistake that the person can mend; it is printed without a traceback.

    Args:
        message: What is wrong and how to mend it, in one sentence.
        code: The exit code.
    """

    def __init__(self, message: str, code: ExitCode = ExitCode.USAGE) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
