"""Refuses a pattern of one word, to deny or ask, that matches no command which does anything.

`deny Bash(install)` is the command `install` without an argument, which only complains. Whoever
wrote it meant `npm install` or `install FILE`.
"""

from __future__ import annotations

from collections.abc import Iterator

from agentscope_like.paths import PatternError
from agentscope_like.permission.patterns.command_patterns import CommandPattern
from agentscope_like.shell.catalog import Grammar, RoleKind, families, lookup, program_name

__all__ = ["refuse_lone_word"]

_CHANGED = frozenset({RoleKind.WRITE, RoleKind.DELETE, RoleKind.MOVE, RoleKind.INTO})


def refuse_lone_word(pattern: CommandPattern) -> None:
    """Refuse a pattern that forbids nothing.

    Raises:
        PatternError: It is a whole line, or one word that does nothing without arguments; says
            which patterns do.
    """
    if pattern.line:
        raise PatternError(
            f"{pattern.text!r} names a whole line, which only a rule that allows can: any other "
            "spelling of the line would get around a rule that forbids; name the command's words"
        )
    if pattern.is_prefix or len(pattern.words) != 1 or not isinstance(pattern.words[0], str):
        return
    word = pattern.words[0]
    nearest = list(_nearest(word))
    if nearest:
        raise PatternError(
            f"{pattern.text!r} matches only the command `{word}` without arguments, which does "
            f"nothing: write {' or '.join(f'`{each}`' for each in nearest)}"
        )


def _nearest(word: str) -> Iterator[str]:
    """Yield the patterns that may have been meant; none where the word alone does something."""
    grammar = lookup(program_name(word) or word)
    if grammar is None or _needs_operands(grammar):
        if grammar is not None:
            yield f"{word}:*"
        for program in families().programs_with_command(word):
            yield f"{program} {word}:*"


def _needs_operands(grammar: Grammar) -> bool:
    return any(
        place.role.kind in _CHANGED and not place.optional and not grammar.default
        for place in grammar.operands
    )
