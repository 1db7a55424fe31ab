"""Flat command lines: words, quotes, redirections, pipes and lists, and nothing else.

Of these, what is a command is a matter of one regular expression, so that no other parser needs to
be asked: a scanner of its own, which shares nothing with the strict reader, confirms it.
"""

from __future__ import annotations

import re

from agentscope_like.shell.syntax import Command, Pipeline, Script, SimpleCommand
from agentscope_like.shell.voters.findings import Places, find

__all__ = ["is_flat"]

_PLAIN = re.compile(r"[A-Za-z0-9_+./:,@%^=\- |]+")
_NAME = r"[A-Za-z_][A-Za-z0-9_]*+"
_VARIABLE = rf"\$(?:{_NAME}|\{{{_NAME}\}}|[0-9?#@*])"
_DELIMITED = r"(?=[ \t\n;|&<>]|\Z)"
_WORD = (
    r"(?:[A-Za-z0-9_+./:,@%^=*?~-]"
    r"|'[^']*'"
    rf'|"(?:[^"\\$`]|\\[^\n]|{_VARIABLE})*+"'
    r"|\\[^\n]"
    rf"|{_VARIABLE})++{_DELIMITED}"
)
_TOKEN = re.compile(
    rf"""
    (?P<blank> [ \t]+ )
    | (?P<end> \|\|?(?!&) | && | ;(?![;&]) | \n )
    | [0-9]*[<>]&(?:[0-9]+|-){_DELIMITED}
    | (?:&>>? | [0-9]*(?:>>|>\||[<>]))(?![<>(&|])[ \t]*(?P<target>{_WORD})
    | (?P<word>{_WORD}|[][]{_DELIMITED})
    """,
    re.VERBOSE,
)
_KEYWORDS = frozenset(
    [
        "if",
        "then",
        "elif",
        "else",
        "fi",
        "for",
        "while",
        "until",
        "do",
        "done",
        "case",
        "esac",
        "in",
        "select",
        "function",
        "time",
        "coproc",
    ]
)


def is_flat(text: str, script: Script) -> bool:
    """Return whether a text is flat, and holds just the commands that the strict reader found.

    Args:
        text: The text.
        script: What the strict reader read in it.
    """
    if not all(map(_is_flat_command, (each.command for each in script.statements))):
        return False
    if "||" not in text and _PLAIN.fullmatch(text):
        return _is_split(text, script)
    scanned = _scan(text)
    if scanned is None:
        return False
    findings = find(text, script)
    targets = {place for places in findings.targets for place in places}
    return scanned == (findings.commands, targets)


def _is_flat_command(command: Command) -> bool:
    if isinstance(command, Pipeline):
        return not command.timed and all(isinstance(e, SimpleCommand) for e in command.commands)
    return isinstance(command, SimpleCommand)


def _is_split(text: str, script: Script) -> bool:
    """Return whether bars and blanks alone part a text into what the strict reader found."""
    stages = [stage.split() for stage in text.split("|")]
    if any(not stage or stage[0] in _KEYWORDS for stage in stages):
        return False
    (whole,) = [statement.command for statement in script.statements] or (None,)
    commands = whole.commands if isinstance(whole, Pipeline) else (whole,)
    found = [
        [word.literal for word in each.words]
        for each in commands
        if isinstance(each, SimpleCommand) and not each.assignments
    ]
    return found == stages


def _scan(text: str) -> tuple[list[Places], set[tuple[int, int]]] | None:
    """Return the places of each command's words, and of all targets; None where it is not flat."""
    commands: list[Places] = []
    targets: set[tuple[int, int]] = set()
    words: list[tuple[int, int]] = []
    position = 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None or (not words and match["word"] in _KEYWORDS):
            return None
        position = match.end()
        if match["target"] is not None:
            targets.add(match.span("target"))
        elif match["word"] is not None:
            words.append(match.span())
        elif match["end"] is not None and words:
            commands.append(tuple(words))
            words = []
    return ([*commands, tuple(words)] if words else commands), targets
