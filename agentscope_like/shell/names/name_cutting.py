"""Detects programs that split text into names elsewhere than at blanks and line ends."""

from __future__ import annotations

import re
from itertools import pairwise

from agentscope_like.shell.analysis import Part, answered_once
from agentscope_like.shell.names.name_sources import plain_name

__all__ = ["cuts_oddly", "ends_early", "reads_oddly", "says_otherwise"]

_ESCAPES = re.compile(r"\\(?:0[0-7]|[1-7xuUc])")
_APART = re.compile(r"(?:%s(?: |\\[nt0]))+")
"""Formats of printf that keep their words apart."""

_CUTTING = re.compile(r"-[a-zA-Z]*d(.*)", re.DOTALL)
_LINE_ENDS = ("\\n", "\n")
_READ_ENDS = ("", "\n")
"""At what `xargs`, and `read`, may be told to cut their input."""

_COMPLETE = re.compile(
    r"-[0rtx]*([ile].*|[nPLsdEIa].+)?"
    r"|--(null|no-run-if-empty|verbose|exit|replace|max-lines|eof|.*=.*)",
    re.DOTALL,
)
"""Options of `xargs` that do not take the next word."""

_DELIMITING = re.compile(r"-[0rtx]*d(.*)|--d[^=]*=?(.*)", re.DOTALL)
_ENDING_EARLY = re.compile(r"-[0rtx]*[Ee].*|--eof.*", re.DOTALL)


@answered_once
def cuts_oddly(xargs: Part) -> bool:
    """Return whether `xargs` splits its input elsewhere than at blanks or line ends."""
    for word, following in pairwise([*_own_words(xargs), ""]):
        found = _DELIMITING.match(word)
        if found and (found[1] or found[2] or following) not in _LINE_ENDS:
            return True
    return False


def ends_early(xargs: Part) -> bool:
    """Return whether `xargs` may skip some of its input."""
    return any(map(_ENDING_EARLY.fullmatch, _own_words(xargs)))


def _own_words(xargs: Part) -> list[str]:
    """Return the options of `xargs` before its command, or more words if that is uncertain."""
    words = [word or "" for word in xargs.argv[1:]]
    end = 0
    while end < len(words) and words[end][:1] in {"-", ""}:
        end += 1 if not words[end] or _COMPLETE.fullmatch(words[end]) else 2
    return words[:end]


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
