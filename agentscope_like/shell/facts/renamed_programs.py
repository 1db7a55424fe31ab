"""Yields the commands of programs that a link or a copy gives another name, for deny rules."""

from __future__ import annotations

import os
from collections.abc import Iterator

from agentscope_like.paths import PathError, TooManyFilesError
from agentscope_like.shell.analysis import CommandAnalysis, Part
from agentscope_like.shell.catalog import program_name
from agentscope_like.shell.facts.possible_commands import bare_name
from agentscope_like.shell.surroundings import Surroundings
from agentscope_like.shell.values import Words

__all__ = ["led_to", "renamed_in"]


def led_to(part: Part, around: Surroundings) -> Iterator[Words]:
    """Yield the command by the name of the program that a link leads to: `./x` may be `rm`."""
    name = _own_path(part)
    if name is None:
        return
    for directory in part.directories:
        try:
            target = around.locate(os.path.join(directory, name)).resolved
        except (PathError, TooManyFilesError):
            continue
        if bare_name(target) != bare_name(name):
            yield (bare_name(target), *part.argv[1:])


def renamed_in(analysis: CommandAnalysis, part: Part) -> Iterator[Words]:
    """Yield the command by the name of a program that the same line copies, moves or links."""
    name = _own_path(part)
    if name is None:
        return
    for other in analysis.parts:
        if other.is_a("relocates") or other.program == "install":
            operands = [bare_name(word) for word in other.argv[1:] if word and word[0] != "-"]
            if bare_name(name) in operands[1:]:
                for source in operands[:-1]:
                    yield (source, *part.argv[1:])


def _own_path(part: Part) -> str | None:
    """Return the path that a part runs, unless it is one of the system's programs."""
    name = part.argv[0] if part.argv else None
    return name if name and "/" in name and program_name(name) is None else None
