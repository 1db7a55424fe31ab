"""The results that a sandbox returns."""

from __future__ import annotations

from msgspec import Struct

__all__ = ["CommandResult", "ExecutionResult", "FileInfo"]


class CommandResult(Struct, frozen=True):
    """The result of a command (seed 003, 5.2).

    Attributes:
        success: Whether its exit status was 0.
        stdout: Its standard output; of more than a megabyte, the beginning and the end.
        stderr: Its standard error, cut like `stdout`.
        return_code: Its exit status; 128 + N where signal N ended it; -1 where its time was up.
        execution_time: Seconds that it ran.
        timed_out: Whether it was ended because its time was up.
    """

    success: bool
    stdout: str
    stderr: str
    return_code: int
    execution_time: float
    timed_out: bool = False


class ExecutionResult(Struct, frozen=True):
    """The result of a Python program.

    Attributes:
        success: Whether it ran to its end without an error.
        output: Its standard output.
        execution_time: Seconds that it ran, the installation of its requirements included.
        error: What went wrong, such as its traceback; None where nothing did.
        installed_packages: The requirements that were installed for it.
    """

    success: bool
    output: str
    execution_time: float
    error: str | None = None
    installed_packages: tuple[str, ...] = ()


class FileInfo(Struct, frozen=True):
    """An entry of a directory in a sandbox.

    Attributes:
        name: Its name.
        path: Its absolute path in the sandbox.
        is_dir: Whether it is a directory; a symlink to one is not.
        size: Bytes of a regular file, 0 for anything else.
    """

    name: str
    path: str
    is_dir: bool
    size: int
