"""Detects programs that split text into names elsewhere than at blanks and line ends."""

from __future__ import annotations

import re
from itertools import pairwise

from agentscope_like.shell.analysis import Part
from agentscope_like.shell.names.name_sources import plain_name

__all__ = ["cuts_oddly", "reads_oddly", "says_otherwise"]

_ESCAPES = re.compile(r"\\(?:0[0-7]|[1-7xuUc])")
_APART = re.compile(r"(?:%s(?: |\\[nt0]))+")
"""Formats of printf that keep their words apart."""

_CUTTING = re.compile(r"-[a-zA-Z]*d(.*)", re.DOTALL)
_LINE_ENDS = ("\\n", "\n")
_READ_ENDS = ("", "\n")
"""At what `xargs`, and `read`, may be told to cut their input."""

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
    for word, following in pairwise([*own, ""]):
        if word is None:
            continue
        found = _DELIMITING.match(word)
        if _ENDING.match(word) or (found and _delimiter(found, following) not in _LINE_ENDS):
            return True
    return False


def _delimiter(option: re.Match[str], following: str | None) -> str | None:
    return option[1] or option[2] or following


def reads_oddly(part: Part) -> bool:
    """Return whether `read` or `mapfile` splits elsewhere than at blanks or line ends."""
    if part.program == "read" and part.has_flag("nNi"):
        return True
    for assignment in part.assignments:
        if assignment.name == "IFS" and (assignment.value.literal or "").strip():
            return True
    for word, following in pairwise([*part.argv[1:], ""]):
        found = None if word is None else _CUTTING.match(word)
        if found is not None and (found[1] or following) not in _READ_ENDS:
            return True
    return False


def says_otherwise(part: Part) -> bool:
    """Return whether a part prints text other than its words, such as by escapes."""
    program, words = plain_name(part.program or ""), [*part.argv[1:]]
    if program == "basename":
        return len(words) > 1
    if program == "printf":
        pattern = words[words[:1] == ["--"] :][:1] or [None]
        if pattern[0] is None or ("%" in pattern[0] and not _APART.fullmatch(pattern[0])):
            return True
    return any(word is not None and _ESCAPES.search(word) for word in words)
