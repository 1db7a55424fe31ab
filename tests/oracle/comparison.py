"""Whether another parser finds the same commands as the strict reader, and where it does not."""

from __future__ import annotations

from collections.abc import Sequence, Set
from typing import NamedTuple

from agentscope_like.shell import shortened
from agentscope_like.shell.syntax import Span
from tests.oracle.findings import Findings, Places
from tests.oracle.parser_process import Opinion, Outcome

__all__ = ["Difference", "difference_of_bashlex", "difference_of_tree_sitter"]

_ESCAPED = frozenset({r"\(", r"\)", r"\<", r"\>"})


class Difference(NamedTuple):
    """What another parser found differently, as the rest of a sentence, and where."""

    message: str
    span: Span


def difference_of_bashlex(text: str, findings: Findings, opinion: Opinion) -> Difference | None:
    """Return how bashlex differs from the strict reader, or None where it confirms or abstains.

    It abstains where it says that it does not know a construct, where it hangs, and where it takes
    for an error a text with constructs that it is known not to know. What stands where it never
    looks need not be found by it.
    """
    match opinion.outcome:
        case Outcome.UNSUPPORTED | Outcome.SILENT:
            return None
        case Outcome.SYNTAX if findings.constructs:
            return None
        case Outcome.READ:
            opinion = _without_quoted(_without_evaluations(opinion, findings), findings)
            return _difference(text, findings, opinion, but=findings.buried)
    return _unread(text, opinion)


def _without_evaluations(opinion: Opinion, findings: Findings) -> Opinion:
    """Return the opinion without the subshells that bashlex reads in `((...))`.

    What the strict reader takes for arithmetic has no quote and no command in it, and its closing
    brackets stand together: bash reads that in one way.
    """
    return _outside(findings.evaluations, opinion)


def _without_quoted(opinion: Opinion, findings: Findings) -> Opinion:
    """Return the opinion without what bashlex finds wholly inside of single quotes.

    It looks into a word's quotes where they do not begin the word (`--x='$(y)'`). That the quotes
    are where the strict reader sees them, tree-sitter-bash has to confirm: to it, too, what they
    hold must be no command.
    """
    return _outside([Span(each.start + 1, each.end - 1) for each in findings.literals], opinion)


def _outside(spans: Sequence[Span], opinion: Opinion) -> Opinion:
    if not spans:
        return opinion

    def outside(places: Places) -> bool:
        start, end = places[0][0], places[-1][1]
        return not any(each.start <= start and end <= each.end for each in spans)

    commands = tuple(each for each in opinion.commands if not each or outside(each))
    targets = tuple(each for each in opinion.targets if outside((each,)))
    return Opinion(opinion.outcome, commands, targets)


def difference_of_tree_sitter(
    text: str, findings: Findings, opinion: Opinion, *, bashlex: Opinion
) -> Difference | None:
    r"""Return how tree-sitter-bash differs from the strict reader, or None where it confirms.

    It takes `time` for a program, and drops a lone `-` before a heredoc: neither counts. It cannot
    read `[ \( ... ]`, where bashlex has to confirm everything without any allowance.
    """
    if opinion.outcome is Outcome.SYNTAX and _has_bracket_test(text, findings):
        plain = bashlex.outcome is Outcome.READ and not (findings.buried or findings.constructs)
        if plain and _difference(text, findings, bashlex) is None:
            return None
    if opinion.outcome is not Outcome.READ:
        return _unread(text, opinion)
    untimed = tuple(_without_time(text, command, findings) for command in opinion.commands)
    opinion = Opinion(opinion.outcome, untimed, opinion.targets)
    return _difference(text, findings, opinion, ignored={"-"})


def _has_bracket_test(text: str, findings: Findings) -> bool:
    """Return whether a `[` command has an operator that a backslash keeps from the shell."""
    return any(
        text[slice(*places[0])] == "[" and any(text[slice(*each)] in _ESCAPED for each in places)
        for places in findings.commands
    )


def _unread(text: str, opinion: Opinion) -> Difference:
    fails = opinion.outcome is Outcome.FAILED
    return Difference("fails on it" if fails else "cannot read all of it", Span(0, len(text)))


def _difference(
    text: str,
    findings: Findings,
    opinion: Opinion,
    *,
    but: Set[Places] = frozenset(),
    ignored: Set[str] = frozenset(),
) -> Difference | None:
    pairs = (
        ("the command", findings.commands, opinion.commands),
        ("the redirection to", findings.targets, ((target,) for target in opinion.targets)),
    )
    for what, here, there in pairs:
        normal = {places: _normal_command(text, places, ignored) for places in here}
        known = set(filter(None, normal.values()))
        expected = {each for places, each in normal.items() if each and places not in but}
        found = set(filter(None, (_normal_command(text, places, ignored) for places in there)))
        for verb, differing in (("finds", found - known), ("misses", expected - found)):
            if differing:
                first = min(differing)
                span = Span(first[0][0], first[-1][1])
                shown = shortened(text[span.start : span.end])
                return Difference(f"{verb} {what} `{shown}`", span)
    return None


def _normal_command(text: str, places: Places, ignored: Set[str]) -> Places:
    """Return a command as places that are the same where only the form of the trees differs."""
    if places and text[slice(*places[0])] == "[":
        return ((places[0][0], places[-1][1]),)
    trimmed = (_trimmed(text, place) for place in places)
    return tuple(place for place in trimmed if text[slice(*place)] not in ignored)


def _trimmed(text: str, place: tuple[int, int]) -> tuple[int, int]:
    """Return a word's place without a line continuation behind it."""
    start, end = place
    while text.endswith("\\\n", start, end):
        end -= 2
    return start, end


def _without_time(text: str, command: Places, findings: Findings) -> Places:
    """Return a command that begins with the keyword `time` without it."""
    if len(command) == 1 and command[0][0] in findings.braces:
        return ()
    if not command or not any(span.start <= command[0][0] < span.end for span in findings.timings):
        return command
    rest = command[1:]
    if rest and text[slice(*rest[0])] == "-p":
        rest = rest[1:]
    if rest and rest[0][0] in findings.braces:
        return rest[1:]
    is_subshell = len(rest) == 1 and text.startswith("(", rest[0][0])
    return () if is_subshell else rest
