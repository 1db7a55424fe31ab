"""Which commands tell another one what to act on: `find | xargs`, `find -exec`, `$(git ls-files)`.

A command that is fed file names acts on what the commands before it list. Where these are known to
print nothing but names below the places that they look in, the places stand for the names.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise

from agentscope_like.shell.analysis import (
    CommandAnalysis,
    Effect,
    Part,
    answered_once,
)
from agentscope_like.shell.catalog import canonical
from agentscope_like.shell.syntax import Pipeline, SimpleCommand, Span, Substitution

__all__ = ["Feeders", "cuts_oddly", "prints_names"]

_ODD_OUTPUT = ("-printf", "--format", "--label", "--path-separator", "--base-directory")
_LISTS_NAMES = re.compile(r"-[a-zA-Z]*[lL][a-zA-Z]*|--files(-with(out)?-match(es)?)?")
_KEEPS_LINES = re.compile(r"-[vEFiwPxe]+")
_COMPLETE = re.compile(
    r"-[0rtx]*([ile].*|[nPLsdEIa].+)?"
    r"|--(null|no-run-if-empty|verbose|exit|replace|max-lines|eof|.*=.*)",
    re.DOTALL,
)
"""Options of `xargs` that do not take the next word."""

_DELIMITING = re.compile(r"-[0rtx]*d(.*)|--d[^=]*=?(.*)", re.DOTALL)
_ENDING_EARLY = re.compile(r"-[0rtx]*[Ee].*|--eof.*", re.DOTALL)
_LINES = ("\\n", "\n")


class Feeders:
    """Finds what tells the parts of one command what to act on.

    Args:
        analysis: The whole command.
    """

    __slots__ = ("_analysis", "_carried")

    def __init__(self, analysis: CommandAnalysis) -> None:
        self._analysis = analysis
        self._carried: dict[int, tuple[Part, ...] | None] = {}

    def of(self, effect: Effect, part: Part) -> tuple[Part, ...] | None:
        """Return the parts in whose places all lies that an effect without a path acts on.

        Args:
            effect: The effect of which no path is known.
            part: The part that has it.

        Returns:
            The parts; none for a process substitution, which is no file; None where nobody can say.
        """
        inner = part.sole_segments.get(effect.span)
        if isinstance(inner, Substitution):
            if inner.opener in {"<(", ">("}:
                return ()
            return _listing(_parts_in(inner.span, self._analysis), part)
        carrier = None if part.parent is None else self._analysis.parts[part.parent]
        if carrier is None or not _is_handed_on(effect, part, carrier):
            return None
        if id(part) not in self._carried:
            self._carried[id(part)] = self._of_carried(part, carrier)
        return self._carried[id(part)]

    def _of_carried(self, part: Part, carrier: Part) -> tuple[Part, ...] | None:
        """Return the parts that list what a carrier hands on to a part."""
        if carrier.is_a("finder"):
            return _listing([carrier], part)
        if carrier.program != "xargs" or carrier.effects or _splits_oddly(carrier):
            return None
        return _listing(_before(carrier, self._analysis), part)


def _is_handed_on(effect: Effect, part: Part, carrier: Part) -> bool:
    """Return whether the argument is a name as the carrier got it, with nothing added."""
    if effect.span == part.span:
        return part.argv[-1:] == (None,)  # added at the end, where no word stands
    if effect.target == "{}":
        return True
    return carrier.program == "xargs" and effect.target in _placeholders(carrier)


@answered_once
def _placeholders(xargs: Part) -> frozenset[str | None]:
    """Return what `xargs` may be told to replace."""
    flagged = {word[2:] for word in xargs.argv if word is not None and word.startswith("-I")}
    return frozenset(flagged | {value for option, value in pairwise(xargs.argv) if option == "-I"})


def _splits_oddly(xargs: Part) -> bool:
    """Return whether `xargs` takes its input otherwise than all of it, in pieces between blanks."""
    return cuts_oddly(xargs) or any(map(_ENDING_EARLY.fullmatch, _own_words(xargs)))


@answered_once
def cuts_oddly(xargs: Part) -> bool:
    """Return whether `xargs` is told to cut its input elsewhere than at blanks or line ends."""
    for word, following in pairwise([*_own_words(xargs), ""]):
        found = _DELIMITING.match(word)
        if found and (found[1] or found[2] or following) not in _LINES:
            return True
    return False


def _own_words(xargs: Part) -> list[str]:
    """Return the words before the command that `xargs` runs; more of them where one may be more."""
    words = [word or "" for word in xargs.argv[1:]]
    end = 0
    while end < len(words) and words[end][:1] in {"-", ""}:
        end += 1 if not words[end] or _COMPLETE.fullmatch(words[end]) else 2
    return words[:end]


def _before(xargs: Part, analysis: CommandAnalysis) -> list[Part]:
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
                return [part for span in spans for part in _parts_in(span, analysis)]
            spans.append(command.span)
    return []


def _parts_in(span: Span, analysis: CommandAnalysis) -> Iterator[Part]:
    return (part for part in analysis.parts if span.holds(part.span))


def _listing(parts: Iterable[Part], fed: Part) -> tuple[Part, ...] | None:
    """Return those of the parts that list, where that and choosing lines is all that they do."""
    listing: list[Part] = []
    for part in parts:
        if not _is_known(part) or part.directories != fed.directories:
            return None
        if part.read_only and _lists_names(part):
            listing.append(part)
        elif not _chooses_lines(part):
            return None
    return tuple(listing) or None


@answered_once
def _is_known(part: Part) -> bool:
    """Return whether all words of a part are known, and what it reaches."""
    return None not in part.argv and all(effect.path for effect in part.effects)


@answered_once
def _lists_names(part: Part) -> bool:
    if any(option.startswith(_ODD_OUTPUT) for option in part.options):
        return False
    if part.program == "ls":
        return not part.effects  # the names that it prints are those of another directory
    return not part.is_a("lists_places") and prints_names(part)


@answered_once
def prints_names(part: Part) -> bool:
    """Return whether a part prints the names of files, as they are or with more beside them."""
    words = [word or "" for word in part.argv[1:]]
    if part.is_a("finder") or part.program == "ls":
        return True
    if part.is_a("lists_places"):
        return not part.effects  # else they tell of the places that they are given
    if part.is_a("grep", "searcher"):
        return any(map(_LISTS_NAMES.fullmatch, words))
    return part.program == "git" and (
        words[:1] == ["ls-files"] or (words[:1] == ["diff"] and "--name-only" in words)
    )


@answered_once
def _chooses_lines(part: Part) -> bool:
    if not part.read_only or part.effects:
        return False
    if canonical(part.program or "") == "uniq":
        return not part.options
    if part.is_a("grep"):
        return all(map(_KEEPS_LINES.fullmatch, part.options))
    cuts = part.has_flag("c") or any(option.startswith("--b") for option in part.options)
    return part.is_a("filter") and not cuts
