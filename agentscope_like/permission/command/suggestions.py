"""Suggests allow patterns for a command: what the person saw, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from agentscope_like.permission.command.command_patterns import line_pattern, quoted
from agentscope_like.shell import CommandAnalysis, Part
from agentscope_like.shell.catalog import families, program_name

__all__ = ["suggest_line", "suggest_patterns", "suggest_wider_patterns"]

MAX_EXACT_LENGTH = 200
"""Characters of a whole command that is still worth a rule of its own."""

_MOST = 8


def suggest_patterns(analysis: CommandAnalysis) -> list[str]:
    """Return the parts that are not proven to read only, as they are, in their order.

    `git commit -m "fix"` has also `git commit -m *`: its message may be any. Of a part with words
    that bash computes, the first words are a pattern, unless they run whatever they are given.
    """
    if not analysis.understood:
        return []
    unproven = [part for part in analysis.parts if analysis.doubts or not part.read_only]
    found = (pattern for part in unproven for pattern in _patterns(part))
    return list(dict.fromkeys(found))[:_MOST]


def suggest_wider_patterns(analysis: CommandAnalysis) -> list[str]:
    """Return a pattern for each unproven part that opens its operands: `npm run build:*`.

    It is never among the suggestions that a question offers, but is told beside them: more than the
    person saw would run. Shells, interpreters, wrappers and whole families have none.
    """
    if not analysis.understood:
        return []
    unproven = [part for part in analysis.parts if analysis.doubts or not part.read_only]
    prefixes = filter(None, map(_prefix, unproven))
    return list(dict.fromkeys(prefixes))[:_MOST]


def _prefix(part: Part) -> str | None:
    if not part.argv or not part.argv[0]:
        return None
    words = (program_name(part.argv[0]) or part.argv[0], *part.argv[1:])
    prefix = families().prefix_of(words)
    return None if prefix is None else " ".join(map(quoted, prefix)) + ":*"


def suggest_line(lines: Sequence[str]) -> list[str]:
    """Return patterns for a whole command line, by the texts that a rule may name it by."""
    return [line_pattern(line) for line in lines]


def _patterns(part: Part) -> Iterator[str]:
    if not part.argv or not part.argv[0]:
        return
    words = (program_name(part.argv[0]) or part.argv[0], *part.argv[1:])
    known = [word for word in words if word is not None]
    if len(known) < len(words):
        prefix = _prefix(part)
        if prefix is not None:
            yield prefix
        return
    exact = " ".join(map(quoted, known))
    if len(exact) <= MAX_EXACT_LENGTH and exact.isprintable() and not exact.endswith(":*"):
        yield exact
    wider = _with_any_message(known)
    if wider is not None:
        yield wider


def _with_any_message(words: Sequence[str]) -> str | None:
    """Return a pattern of the words with any text for each message; None if they have none."""
    options = families().message_options(words)
    pattern = [
        "*" if number and words[number - 1] in options else quoted(word)
        for number, word in enumerate(words)
    ]
    return " ".join(pattern) if "*" in pattern else None
