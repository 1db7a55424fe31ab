"""Suggests allow patterns for a command: for each part, the shortest one that is safe."""

from __future__ import annotations

from collections.abc import Iterator

from agentscope_like.permission.command.command_patterns import quoted
from agentscope_like.shell import CommandAnalysis, Part
from agentscope_like.shell.catalog import families, program_name

__all__ = ["suggest_patterns"]

MAX_EXACT_LENGTH = 200
"""Characters of a whole command that is still worth a rule of its own."""

_MOST = 8


def suggest_patterns(analysis: CommandAnalysis) -> list[str]:
    """Return patterns for the parts that are not proven to read only, in their order.

    `git commit -m "fix"` has `git commit:*`. Shells, interpreters, wrappers and whole families get
    no open-ended pattern but the command as it is, if all of it is literal.
    """
    if not analysis.understood:
        return []
    unproven = [part for part in analysis.parts if analysis.doubts or not part.read_only]
    found = (pattern for part in unproven for pattern in _patterns(part))
    return list(dict.fromkeys(found))[:_MOST]


def _patterns(part: Part) -> Iterator[str]:
    if not part.argv or not part.argv[0]:
        return
    words = (program_name(part.argv[0]) or part.argv[0], *part.argv[1:])
    prefix = families().prefix_of(words)
    if prefix is not None:
        yield " ".join(map(quoted, prefix)) + ":*"
        return
    known = [word for word in words if word is not None]
    if len(known) < len(words):
        return
    exact = " ".join(map(quoted, known))
    if len(exact) <= MAX_EXACT_LENGTH and exact.isprintable() and not exact.endswith(":*"):
        yield exact
