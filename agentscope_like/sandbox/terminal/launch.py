"""Starts a program on a pseudo-terminal, below a keeper where there can be one."""

from __future__ import annotations

import contextlib
import errno
import os
import subprocess
import termios
from collections.abc import Mapping, Sequence

from msgspec import Struct

from agentscope_like.sandbox.host import find_bash
from agentscope_like.sandbox.isolation import Confinement
from agentscope_like.sandbox.terminal.keeper import (
    foreground_words,
    keeper_words,
    keeper_works,
    order_text,
)
from agentscope_like.sandbox.terminal.screen import COLUMNS, ROWS

__all__ = ["Launch", "ProgramStart"]

# Without a keeper: a leader of a session that opens a terminal is controlled by it. What the
# program's bash is to read first, this one must not.
_ON_TERMINAL = """\
exec <>"$0" >&0 2>&0
[ -z "$1" ] || eval "exec </dev/null >&$1 2>&1 $1>&-"
[ -z "$2" ] || export BASH_ENV="$2"
shift 2
exec "$@"
"""


class ProgramStart(Struct, frozen=True):
    """What is started.

    Attributes:
        words: The program and its arguments.
        directory: Where it starts, as it knows the path.
        environment: All of its variables.
        mark: The mark in its environment that identifies its processes.
        descriptors: Those that it inherits; closed here once it has been started.
        report: A descriptor that is read until it ends; closed here. None for none.
        confinement: What confines it; closed here. None if it is not confined.
        piped: Whether the terminal only controls it, and its output is a pipe, with no input.
    """

    words: tuple[str, ...]
    directory: str
    environment: Mapping[str, str]
    mark: str
    descriptors: tuple[int, ...] = ()
    report: int | None = None
    confinement: Confinement | None = None
    piped: bool = False


class Launch:
    """A program that was started, and the descriptors that this process holds of it.

    Args:
        start: What is started.

    Attributes:
        process: The keeper; without one, the program.
        has_keeper: Whether there is a keeper.
        master: The other end of the terminal.
        told: Where to read the keeper's lines; without one, nothing comes of it.
        output: The program's output if that is a pipe; else None.
        report: As for `ProgramStart`.

    Raises:
        OSError: It cannot be started.
    """

    process: subprocess.Popen[bytes]

    def __init__(self, start: ProgramStart) -> None:
        self._start = start
        self.has_keeper = keeper_works()
        self.report = start.report
        self.output: int | None = None
        self._piped: int | None = None
        self._control: int | None = None
        self._theirs = list(start.descriptors)
        self._ours: list[int] = [] if start.report is None else [start.report]
        try:
            self.master, self._terminal = self._kept(os.openpty())
            termios.tcsetwinsize(self._terminal, (ROWS, COLUMNS))
            self.told, self._told_end = self._kept(os.pipe())
            if start.piped:
                self.output, self._piped = self._kept(os.pipe())
            self.process = self._below_keeper() if self.has_keeper else self._alone()
        except BaseException:
            self.close()
            raise
        finally:
            for descriptor in self._theirs:
                os.close(descriptor)
        if start.confinement is not None:
            start.confinement.hand_over()

    def let_go(self) -> bool:
        """Have the keeper end everything; return whether there was one to tell."""
        control, self._control = self._control, None
        if control is None:
            return False
        os.close(control)
        return True

    def close(self) -> None:
        """Close all descriptors."""
        if self._start.confinement is not None:
            self._start.confinement.close()
        self.let_go()
        while self._ours:
            with contextlib.suppress(OSError):
                os.close(self._ours.pop())

    def _kept(self, ends: tuple[int, int]) -> tuple[int, int]:
        """Keep the first descriptor, which does not block, and hand the second over."""
        ours, theirs = ends
        os.set_blocking(ours, False)
        self._ours.append(ours)
        self._theirs.append(theirs)
        return ends

    def _below_keeper(self) -> subprocess.Popen[bytes]:
        words, environment, directory, given = self._confined()
        control, self._control = os.pipe()
        self._theirs.append(control)
        order = os.memfd_create("order")
        self._theirs.append(order)
        with open(os.dup(order), "wb") as file:
            file.write(order_text(words, environment, self._piped))
        os.lseek(order, 0, os.SEEK_SET)
        return subprocess.Popen(
            keeper_words(control, self._told_end, order),
            stdin=self._terminal,
            stdout=self._terminal,
            stderr=self._terminal,
            cwd=directory,
            env={},
            pass_fds=(control, self._told_end, order, *given),
            start_new_session=True,
        )

    def _alone(self) -> subprocess.Popen[bytes]:
        words, environment, directory, given = self._confined()
        bash = find_bash()
        if bash is None:
            raise FileNotFoundError(errno.ENOENT, "there is no bash in the system's directories")
        output = "" if self._piped is None else str(self._piped)
        first = environment.get("BASH_ENV", "")
        # the terminal has to be there until the program opens it
        self._ours.append(os.dup(self._terminal))
        name = os.ttyname(self._terminal)
        options = ("--norc", "--noprofile", "-c", _ON_TERMINAL)
        return subprocess.Popen(
            [bash, *options, name, output, first, *words],
            stdin=subprocess.DEVNULL,
            cwd=directory,
            env={name: value for name, value in environment.items() if name != "BASH_ENV"},
            pass_fds=given,
            start_new_session=True,
        )

    def _confined(self) -> tuple[Sequence[str], Mapping[str, str], str, tuple[int, ...]]:
        """Return the words, variables, directory and descriptors of what is started."""
        start = self._start
        given = start.descriptors if self._piped is None else (*start.descriptors, self._piped)
        confinement = start.confinement
        if confinement is None:
            return start.words, start.environment, start.directory, given
        given = (*given, *confinement.descriptors)
        before = foreground_words() if self.has_keeper else ()
        return (*confinement.words, *before, *start.words), {}, "/", given
