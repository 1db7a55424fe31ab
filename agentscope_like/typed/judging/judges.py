"""The built-in tools that judge what a typed tool would do: they decide, and never run."""

from __future__ import annotations

import os
from functools import lru_cache

from agentscope_like.tool.builtin.bash import Bash
from agentscope_like.tool.builtin.files import Read, Write

__all__ = ["Judges", "directory_at", "judges_in"]


class Judges:
    """Bash, Read and Write in one directory, asked in the name of a typed tool.

    Args:
        tool_name: The name of the typed tool, for messages.
        directory: Where relative paths start and commands run.

    Attributes:
        read: Judges what is read.
        write: Judges what is written.
        bash: Judges commands.
    """

    def __init__(self, tool_name: str, directory: str) -> None:
        self.read = Read(cwd=directory)
        self.write = Write(cwd=directory)
        self.bash = Bash(cwd=directory, confine="off")
        # Rules are matched by `ActionRules`: these names are for messages, and for no rule.
        self.read.name = self.write.name = tool_name
        self.bash.name = f"{tool_name}: Bash"


@lru_cache(maxsize=128)
def judges_in(tool_name: str, directory: str) -> Judges:
    """Return the judges of a directory."""
    return Judges(tool_name, directory)


def directory_at(base: str, path: str) -> str:
    """Return the absolute directory that a path leads to from `base`, as the kernel takes `..`."""
    absolute = os.path.join(base, path)
    if ".." in absolute.split(os.sep):
        return os.path.realpath(absolute)
    return os.path.normpath(absolute)
