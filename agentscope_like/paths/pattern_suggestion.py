"""Suggests the allow pattern that a person is offered for a file."""

from __future__ import annotations

import os
from collections.abc import Sequence

from agentscope_like.paths.errors import PatternError
from agentscope_like.paths.file_system import FileSystemNames
from agentscope_like.paths.location import FileKind, Location, is_below, locate
from agentscope_like.paths.path_pattern import escape
from agentscope_like.paths.path_rule_index import PathRuleIndex
from agentscope_like.paths.sensitive import removal_objection
from agentscope_like.paths.working_directories import inside_any

__all__ = ["suggest_pattern"]


def suggest_pattern(
    location: Location, directories: Sequence[Location], *, names: FileSystemNames = os
) -> str | None:
    """Return a glob that covers the directory of a file, or None where no pattern does.

    `/project/src/main.py` in the working directory `/project` gives `src/**` (seed 002, "File
    Tools"), and so does the directory `/project/src`. A file right in a working directory gives
    only its own name. Outside of them it is the absolute directory, unless that is a home, a part
    of the system, or holds the work: then it is the path alone.

    Args:
        location: The file, or a directory that is searched.
        directories: The working directories.
        names: The file system; this host's by default.
    """
    if not location.certain:
        return None
    for pattern in _offers(location, directories, names):
        real = None if names is os else str
        try:
            index = PathRuleIndex((pattern,), strict=True, home=location.home, real=real)
        except PatternError:
            continue
        if index.match(location, directories) is not None:
            return pattern
    return None


def _offers(
    location: Location, directories: Sequence[Location], names: FileSystemNames
) -> list[str]:
    path = location.absolute
    known = [reading for directory in directories for reading in directory.readings]
    bases = [base for base in known if is_below(path, base)]
    if bases and inside_any(location, directories):
        base = max(bases, key=len)
        relative = path[len(base.rstrip("/")) + 1 :]
        searched = location.kind is FileKind.DIRECTORY
        if not relative:
            return ["**"] if searched else []
        parent = relative if searched else relative.rpartition("/")[0]
        return [f"{escape(parent)}/**"] if parent else [escape(relative)]
    parent = path if location.kind is FileKind.DIRECTORY else path.rpartition("/")[0]
    if not parent:
        return [escape(path)]
    held = locate(parent, directory="/", home=location.home, names=names)
    if removal_objection(held, directories):
        return [escape(path)]
    return [f"{escape(parent)}/**", escape(path)]
