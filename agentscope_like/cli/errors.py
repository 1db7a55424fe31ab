"""Defines the exit codes, and the error that is printed as one sentence with its fix."""

from __future__ import annotations

from enum import IntEnum

__all__ = ["CliError", "ExitCode"]


class ExitCode(IntEnum):
    """The exit codes of the program.

    Codes from 64 on are those of sysexits.h; from 128 on, 128 plus the number of a signal.
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
    """An error that the person can fix; it is printed without a traceback.

    Args:
        message: What is wrong and how to fix it, in one sentence.
        code: The exit code.
    """

    def __init__(self, message: str, code: ExitCode = ExitCode.USAGE) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
