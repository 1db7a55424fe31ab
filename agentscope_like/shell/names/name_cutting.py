"""Detects programs that split text into names elsewhere than at blanks and line ends."""

from __future__ import annotations

import re
from collections.abc import Set
from itertools import pairwise

from agentscope_like.shell.analysis import Part
from agentscope_like.shell.values import Words

__all__ = ["cuts_oddly", "reads_oddly"]

_DELIMITING = re.compile(r"-[a-zA-Z0]*d(.*)|--d[^=]*=?(.*)", re.DOTALL)
_ENDING = re.compile(r"-[a-zA-Z0]*[Ee].*|--eof.*", re.DOTALL)


def cuts_oddly(xargs: Part, command: Part) -> bool:
    """Return whether `xargs` is told where names or its input end: not at blanks or line ends.

    Args:
        xargs: The part.
        command: What it runs; whatever stands behind the first word of that is no option of it.
    """
    places = [id(word) for word in xargs.words]
    own = xargs.argv[1 : places.index(id(command.words[0]))]
    ends = any(word is not None and _ENDING.match(word) for word in own)
    return ends or _delimits(own, {"\\n", "\n"})


def reads_oddly(part: Part) -> bool:
    """Return whether `read` or `mapfile` splits elsewhere than at blanks or line ends."""
    if part.program == "read" and part.has_flag("nNi"):
        return True
    for assignment in part.assignments:
        separators = assignment.value.literal
        if assignment.name == "IFS" and (separators is None or separators.strip()):
            return True
    return _delimits(part.argv[1:], {"", "\n"})


def _delimits(words: Words, harmless: Set[str]) -> bool:
    """Return whether an option names a delimiter that is not harmless."""
    for word, following in pairwise([*words, ""]):
        found = None if word is None else _DELIMITING.match(word)
        if found is not None and (found[1] or found[2] or following) not in harmless:
            return True
    return False
