"""Which commands tell another one what to act on: `find | xargs`, `find -exec`, `$(git ls-files)`.

A command that is fed file names acts on what the commands before it list. Where these are known to
print nothing but names below the places that they look in, the places stand for the names.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise

from agentscope_like.permission.shell.analysis import CommandAnalysis, Effect, Part
from agentscope_like.permission.shell.programs import FINDERS, GREPS, SEARCHERS
from agentscope_like.permission.shell.tree import Pipeline, SimpleCommand, Span, Substitution

__all__ = ["feeders_of", "prints_names"]

_FILTERS = frozenset({"head", "tail", "sort", "tac", "shuf"})
_ODD_OUTPUT = ("-printf", "-fprintf", "--format", "--label", "--path-separator", "--base-directory")
_LISTS_NAMES = re.compile(r"-[a-zA-Z]*[lL][a-zA-Z]*|--files(-with(out)?-match(es)?)?")
_KEEPS_LINES = re.compile(r"-[vEFiwPxe]+")
_ODD_SPLITTING = re.compile(r"-d.*|--delimiter.*|-E.*|-e.*|--eof.*", re.DOTALL)
_LINES = ("\\n", "\n")
_DELIMITED_BY = ("-d", "--delimiter")
_LINE_ENDS = frozenset({f"{option}{end}" for option in ("-d", "--delimiter=") for end in _LINES})


def feeders_of(effect: Effect, part: Part, analysis: CommandAnalysis) -> tuple[Part, ...] | None:
    """Return the parts in whose places all lies that an effect without a path acts on.

    Args:
        effect: The effect of which no path is known.
        part: The part that has it.
        analysis: The whole command.

    Returns:
        The parts; none for a process substitution, which is no file; None where nobody can say.
    """
    inner = part.sole_segments.get(effect.span)
    if isinstance(inner, Substitution):
        if inner.opener in {"<(", ">("}:
            return ()
        return _listing(_parts_in(inner.span, analysis), part)
    carrier = None if part.parent is None else analysis.parts[part.parent]
    if carrier is None or not _is_handed_on(effect, part, carrier):
        return None
    if carrier.program in FINDERS:
        return _listing([carrier], part)
    if carrier.program != "xargs" or carrier.effects or _splits_oddly(carrier):
        return None
    return _listing(_before(carrier, analysis), part)


def _is_handed_on(effect: Effect, part: Part, carrier: Part) -> bool:
    """Return whether the argument is a name as the carrier got it, with nothing added."""
    if effect.span == part.span:
        return part.argv[-1:] == (None,)  # added at the end, where no word stands
    target, argv = effect.target, carrier.argv
    if target == "{}":
        return True
    flagged = f"-I{target}" in argv or ("-I", target) in pairwise(argv)
    return carrier.program == "xargs" and flagged


def _splits_oddly(xargs: Part) -> bool:
    words = [word or "" for word in xargs.argv[1:]]
    return any(
        _ODD_SPLITTING.fullmatch(word)
        and word not in _LINE_ENDS
        and not (word in _DELIMITED_BY and following in _LINES)
        for word, following in pairwise([*words, ""])
    )


def _before(xargs: Part, analysis: CommandAnalysis) -> Iterator[Part]:
    """Return the parts whose output `xargs` reads; none where it stands in no plain pipeline."""
    statements = () if analysis.script is None else analysis.script.statements
    for statement in statements:
        if not isinstance(statement.command, Pipeline):
            continue
        spans: list[Span] = []
        for command in statement.command.commands:
            if not isinstance(command, SimpleCommand):
                break
            if command.span.holds(xargs.span):
                before = Span(spans[0].start, spans[-1].end) if spans else Span(0, 0)
                return _parts_in(before, analysis)
            spans.append(command.span)
    return iter(())


def _parts_in(span: Span, analysis: CommandAnalysis) -> Iterator[Part]:
    return (part for part in analysis.parts if span.holds(part.span))


def _listing(parts: Iterable[Part], fed: Part) -> tuple[Part, ...] | None:
    """Return those of the parts that list, where that and choosing lines is all that they do."""
    listing: list[Part] = []
    for part in parts:
        known = None not in part.argv and all(effect.path for effect in part.effects)
        if not known or part.directories != fed.directories:
            return None
        if part.read_only and _lists_names(part):
            listing.append(part)
        elif not _chooses_lines(part):
            return None
    return tuple(listing) or None


def _lists_names(part: Part) -> bool:
    words = [word or "" for word in part.argv[1:]]
    if any(word.startswith(_ODD_OUTPUT) for word in words):
        return False
    if part.program == "ls":
        return not part.effects  # the names that it prints are those of another directory
    return prints_names(part)


def prints_names(part: Part) -> bool:
    """Return whether a part prints the names of files, as they are or with more beside them."""
    words = [word or "" for word in part.argv[1:]]
    if part.program in FINDERS or part.program == "ls":
        return True
    if part.program in GREPS | SEARCHERS:
        return any(map(_LISTS_NAMES.fullmatch, words))
    return part.program == "git" and (
        words[:1] == ["ls-files"] or (words[:1] == ["diff"] and "--name-only" in words)
    )


def _chooses_lines(part: Part) -> bool:
    if not part.read_only or part.effects:
        return False
    options = [word for word in part.argv[1:] if word and word.startswith("-")]
    if part.program == "uniq":
        return not options
    if part.program in GREPS:
        return all(map(_KEEPS_LINES.fullmatch, options))
    return part.program in _FILTERS
