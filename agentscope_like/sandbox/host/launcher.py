"""Starts commands on this host, in the foreground and in the background."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from typing import Protocol

from agentscope_like.exception import IsolationError, ToolArgumentError
from agentscope_like.sandbox.host.programs import find_bash
from agentscope_like.sandbox.host.started_command import HostCommand, RunningCommand

__all__ = ["HostLauncher", "Launcher", "check_command", "shell_words"]

_MAX_ARGUMENT_BYTES = 131_072
"""MAX_ARG_STRLEN of Linux, execve(2)."""


class Launcher(Protocol):
    """Starts programs in one kind of isolation."""

    async def start(
        self,
        words: Sequence[str],
        *,
        directory: str,
        environment: Mapping[str, str],
        mark: str,
        stdout: int,
        stderr: int,
    ) -> RunningCommand:
        """Start a program as the leader of a session of its own, with an empty standard input.

        Args:
            words: The program and its arguments.
            directory: Where it starts, as it knows the path.
            environment: All of its variables.
            mark: The mark in `environment` that identifies its processes.
            stdout: Descriptor of its standard output.
            stderr: Descriptor of its standard error.

        Raises:
            IsolationError: It could not be isolated and was not started.
        """


class HostLauncher:
    """Starts programs without isolation, or through one that isolates itself and runs them.

    Args:
        prefix: Words to put before those of the program.
    """

    def __init__(self, prefix: Sequence[str] = ()) -> None:
        self._prefix = prefix

    async def start(
        self,
        words: Sequence[str],
        *,
        directory: str,
        environment: Mapping[str, str],
        mark: str,
        stdout: int,
        stderr: int,
    ) -> RunningCommand:
        """Start a program; see `Launcher`."""
        process = subprocess.Popen(  # noqa: ASYNC220 - it has to be this thread's child
            [*self._prefix, *words],
            cwd=directory,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=stderr,
            start_new_session=True,
        )
        return HostCommand(process, mark)


def shell_words(command: str) -> list[str]:
    """Return the argv with which bash runs a command.

    Raises:
        ToolArgumentError: The command cannot be passed to a program.
        IsolationError: There is no bash in the system's directories.
    """
    check_command(command)
    bash = find_bash()
    if bash is None:
        raise IsolationError("there is no bash in the system's directories: install it")
    return [bash, "--norc", "--noprofile", "-c", "--", command]


def check_command(command: str) -> None:
    """Refuse a command that cannot be passed to a program as an argument.

    Raises:
        ToolArgumentError: It has a NUL character, is too long or cannot be encoded.
    """
    try:
        encoded = os.fsencode(command)
    except UnicodeEncodeError as error:
        raise ToolArgumentError(f"The command cannot be encoded ({error}): rewrite it.") from error
    if b"\0" in encoded:
        raise ToolArgumentError("The command contains a NUL character: leave it out.")
    if len(encoded) >= _MAX_ARGUMENT_BYTES:
        raise ToolArgumentError(
            f"The command has {len(encoded):,} bytes and a program can be given "
            f"{_MAX_ARGUMENT_BYTES:,}: write it to a file and run that."
        )
