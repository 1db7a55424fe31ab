"""Tells whether `find` lists regular files only, and no symlinks."""

from __future__ import annotations

from itertools import pairwise, takewhile

from agentscope_like.shell.analysis import Part, answered_once
from agentscope_like.shell.names.name_sources import plain_name

__all__ = ["finds_files_alone"]

_OTHERWISE = frozenset({",", "-L", "-follow", "-o", "-or", "!", "-not", "("})
"""Words with which a test need not hold for all that is listed."""

_ACTIONS = ("-exec", "-ok", "-print", "-ls", "-fprint", "-fls", "-delete")


@answered_once
def finds_files_alone(part: Part) -> bool:
    """Return whether a part is `find` with `-type f`, which holds for all that it lists."""
    words = part.argv
    if plain_name(part.program or "") != "find" or not _OTHERWISE.isdisjoint(words):
        return False
    tests = takewhile(lambda word: word is None or not word.startswith(_ACTIONS), words)
    return ("-type", "f") in pairwise(tests)
