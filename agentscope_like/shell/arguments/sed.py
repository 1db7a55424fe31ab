"""Proves that a sed script only prints, deletes and substitutes.

The grammar is that of GNU sed 4.9 ("sed scripts", sections 3 to 6 of its manual), narrowed to what
GNU, BSD and busybox sed parse alike. `e`, `r`, `R`, `w`, `W` and the flags `e` and `w` of `s` are
not in it, and neither is a bracket expression that holds the delimiter: `s/[/]/x/w f` can be read
two ways.
"""

from __future__ import annotations

import re

from agentscope_like.shell.draft import shortened

__all__ = ["check_sed"]


def _pattern_up_to(delimiter: str) -> str:
    """Return the expression of a pattern and the delimiter behind it; `[` begins a bracket."""
    inside = rf"(?!{delimiter})"
    named = rf"\[{inside}[:.=](?:{inside}[a-z-]){{1,12}}{inside}[:.=]{inside}\]"
    member = rf"(?:\\[^\n]|{inside}{named}|{inside}[^\]\\\n])"
    bracket = rf"(?>\[\^?+(?:{inside}\])?+{member}*{inside}\])"
    return rf"(?:\\[\s\S]|{inside}(?:{bracket}|[^\\\n\[]))*+{delimiter}"


def _text_up_to(delimiter: str) -> str:
    """Return the expression of a text and the delimiter behind it."""
    return rf"(?:\\[\s\S]|(?!{delimiter})[^\\\n])*+{delimiter}"


def _address(number: str, name: str) -> str:
    """Return the expression of an address: a number or a pattern, whose delimiter gets a name."""
    chosen = rf"\\(?P<{name}>[^\\\n]){_pattern_up_to(f'(?P={name})')}"
    return rf"(?:{number}|(?:/{_pattern_up_to('/')}|{chosen})[IM]*)"


_FIRST = _address(r"[0-9]+(?:~[0-9]+)?|\$", "first")
_SECOND = _address(r"[0-9]+|\$|[+~][0-9]+", "second")
_PREFIX = rf"(?:{_FIRST}[ \t]*(?:,[ \t]*{_SECOND}[ \t]*)?)?(?:![ \t]*)*"
_SUBSTITUTION = (
    rf"s(?P<s>[^\\\n\[]){_pattern_up_to('(?P=s)')}{_text_up_to('(?P=s)')}[gpiImM0-9]*"
    rf"|y(?P<y>[^\\\n\[]){_text_up_to('(?P=y)')}{_text_up_to('(?P=y)')}"
)
_PLAIN = r"[=dDgGhHnNpPxzF}]|[lqQ][ \t]*[0-9]*|[btT:][ \t]*[A-Za-z0-9_]*"
_ADDED = r"[aic][ \t]*+(?:\\\n)?+[^\n]*[^\n\\](?=\n|\Z)"
"""A text to add, in the rest of the line or in the line after a backslash."""

_COMMENT = r"\#[^\n]*"
_BETWEEN = re.compile(r"[ \t\n;]*")
_COMMAND = re.compile(
    rf"{_COMMENT}|{_PREFIX}(?:{{|{_ADDED}|(?:{_SUBSTITUTION}|{_PLAIN})[ \t]*(?=[;}}\n\#]|\Z))"
)


def check_sed(script: str) -> str | None:
    """Return why `script` is not known to only print and edit its stream, or None where it is."""
    at = 0
    while (at := _end(_BETWEEN, script, at)) < len(script):
        after = _end(_COMMAND, script, at)
        if after == at:
            return f"`{shortened(script[at:])}` in the sed script is not known to be harmless"
        at = after
    return None


def _end(pattern: re.Pattern[str], script: str, at: int) -> int:
    found = pattern.match(script, at)
    return at if found is None else found.end()
