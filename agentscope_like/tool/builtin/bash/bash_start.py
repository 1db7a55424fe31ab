"""Starts bash for a command, so that it reports the state that it ends in."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

from msgspec import Struct

from agentscope_like.tool.builtin.bash.descriptors import Descriptors

if TYPE_CHECKING:
    from agentscope_like.sandbox.isolation import Confinement, Profile

__all__ = [
    "BashStart",
    "as_bash_finds",
    "bash_start",
    "confined_by",
    "reported_directory",
    "reported_variables",
]

# Read by bash before the command, as BASH_ENV. Reports the shell's last directory when it exits;
# neither the command nor the programs that it runs find a trace of it but this trap.
_PROLOGUE = """\
trap '{{ {reported} >&{report}; }} 2>/dev/null' EXIT
unset BASH_ENV
exec {prologue}<&-
"""

_DIRECTORY = "builtin pwd -P"
_DIRECTORY_AND_VARIABLES = r'{ builtin pwd -P && builtin printf "\0" && /usr/bin/env -0; }'

_OPTIONS = ("--norc", "--noprofile", "-c")

# Runs a command that is read from a descriptor: bwrap, which stays, does not show it to a command
# that looks for itself among the host's processes.
_UNSEEN = """\
IFS= read -r -d '' command <&$1
eval "exec $1<&-"
BASH_ENV=/dev/fd/$2 exec "$0" --norc --noprofile -c -- "$command"
"""


class BashStart(Struct, frozen=True):
    """What starts `bash --norc --noprofile -c -- COMMAND`.

    Attributes:
        words: The program and its arguments.
        environment: All of its variables.
        inherited: The descriptors that it has to inherit.
        report: The descriptor to read its report from, once it has ended.
    """

    words: tuple[str, ...]
    environment: Mapping[str, str]
    inherited: tuple[int, ...]
    report: int


def bash_start(
    command: str,
    *,
    bash: str,
    environment: Mapping[str, str],
    descriptors: Descriptors,
    unseen: bool,
    reports_variables: bool = False,
) -> BashStart:
    """Return what starts bash for a command.

    Args:
        command: The text to run.
        bash: Absolute path of bash.
        environment: Its whole environment, except for variables of this module.
        descriptors: Keeps the descriptors that are opened.
        unseen: Whether the command must not stand in the arguments of a program that stays.
        reports_variables: Whether it reports its exported variables, too.
    """
    report, report_end = descriptors.pipe(high=True)
    prologue, prologue_end = descriptors.pipe(high=True, read_by_shell=True)
    reported = _DIRECTORY_AND_VARIABLES if reports_variables else _DIRECTORY
    text = _PROLOGUE.format(reported=reported, report=report_end, prologue=prologue)
    os.write(prologue_end, text.encode())
    descriptors.close(prologue_end)
    if not unseen:
        shown = (bash, *_OPTIONS, "--", command)
        variables = {**environment, "BASH_ENV": f"/dev/fd/{prologue}"}
        return BashStart(shown, variables, (report_end, prologue), report)
    text_end = descriptors.file(command)
    words = (bash, *_OPTIONS, "--", _UNSEEN, bash, f"{text_end}", f"{prologue}")
    return BashStart(words, dict(environment), (report_end, prologue, text_end), report)


def confined_by(profile: Profile, directory: str, environment: Mapping[str, str]) -> Confinement:
    """Return the confinement of a command that starts in a directory.

    Raises:
        IsolationError: It cannot be confined.
    """
    from agentscope_like.sandbox.isolation import Confinement

    found = as_bash_finds(directory, environment)
    return Confinement(profile, directory=found, environment=environment)


def reported_directory(report: bytes) -> str | None:
    """Return the directory that a report begins with; None where there is none."""
    line = report.partition(b"\0")[0]
    directory = os.fsdecode(line[:-1])
    return directory if line.endswith(b"\n") and directory.startswith("/") else None


def reported_variables(report: bytes) -> dict[str, str] | None:
    """Return the exported variables of a report; None where it has none."""
    _, _, rest = report.partition(b"\0")
    if not rest.endswith(b"\0"):
        return None
    pairs = (os.fsdecode(each).partition("=") for each in rest[:-1].split(b"\0"))
    return {name: value for name, _, value in pairs}


def as_bash_finds(directory: str, environment: Mapping[str, str]) -> str:
    """Return the name that bash itself would find for a directory."""
    inherited = environment.get("PWD", "")
    with contextlib.suppress(OSError):
        if inherited.startswith("/") and os.path.samefile(inherited, directory):
            return inherited
    return os.path.realpath(directory)
