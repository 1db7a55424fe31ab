"""Where the names come from that a part is only told of while it runs.

`find ~ | xargs cat`, `cat $(cat names)`, `find ~ | while read f; do cat "$f"; done`: what is read
is what other parts print. Where these list the names below a place, all of that place is read.
Where they show what is in a file, nobody can tell which names stand there.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from itertools import pairwise, takewhile

from agentscope_like.shell.analysis import (
    CommandAnalysis,
    Doubt,
    Effect,
    EffectKind,
    Part,
    answered_once,
)
from agentscope_like.shell.catalog import canonical, families
from agentscope_like.shell.expand import cutting
from agentscope_like.shell.facts import counts, lists_only, shows_unseen_files
from agentscope_like.shell.names.feeding import Feeders, cuts_oddly, prints_names
from agentscope_like.shell.syntax import Pipeline, Redirect, Span, Substitution, Word

__all__ = ["doubted_names", "finds_files_alone", "finds_source_code", "sources"]

_ESCAPES = re.compile(r"\\(?:0[0-7]|[1-7xuUc])")
_TOLD_BY_GIT = (
    *("log", "show", "cat-file", "whatchanged", "reflog", "stash", "notes", "config", "remote"),
    *("for-each-ref", "branch", "tag", "shortlog"),
)
_SOURCE_CODE = frozenset(
    {
        *("py", "pyi", "js", "mjs", "cjs", "jsx", "ts", "tsx", "go", "rs", "c", "h", "cc", "hh"),
        *("cpp", "hpp", "cxx", "hxx", "java", "kt", "kts", "scala", "rb", "pl", "pm", "php", "lua"),
        *("swift", "m", "mm", "cs", "fs", "vb", "ex", "exs", "erl", "hs", "ml", "mli", "clj", "el"),
        *("vue", "svelte", "css", "scss", "less", "html", "md", "rst", "tex", "cmake", "so", "a"),
        *("o", "pyc", "class", "jar", "whl", "proto", "sql", "ipynb", "zig", "dart", "jl", "nim"),
    }
)
"""What names end with that hold no secret, wherever they are."""

_CONVERTS = re.compile(r"%(?![s%])")
_DELIMITED = re.compile(r"-[a-zA-Z]*d")
_LINE_ENDS = ("", "\n")
_NAMES_OF_BLANKS = re.compile(r"\\(?:0+|[abfnrtv])|^-[cCdst]+$")
_OR = frozenset({"-o", "-or"})
_NOT = frozenset({"!", "-not"})
_RUNNING = frozenset({"-exec", "-execdir", "-ok", "-okdir"})
_ACTIONS = ("-print", "-ls", "-fprint", "-fls", "-delete")
_NAMED = frozenset({"-name", "-iname"})
_SHOWS_NAMES = re.compile(r"-[a-zA-Z]*[rRH][a-zA-Z]*|--recursive|--with-filename")


def sources(analysis: CommandAnalysis) -> list[Part]:
    """Return the parts that list the names of files whose content other parts then show.

    Args:
        analysis: The command, as it was read.
    """
    found: dict[int, Part] = {}
    upstream: _Upstream | None = None
    feeders_of = Feeders(analysis).of
    for part, effects in _unseen(analysis):
        known = [feeders_of(effect, part) for effect in effects]
        found |= {id(each): each for feeders in known for each in feeders or ()}
        if None in known:
            upstream = upstream or _Upstream(analysis)
            for each in upstream.listing(part):
                found[id(each)] = each
    return list(found.values())


def doubted_names(analysis: CommandAnalysis) -> Iterator[tuple[Part, Doubt]]:
    """Yield the parts that show files whose names stand in another file, and the doubt about each.

    Args:
        analysis: The command, as it was read.
    """
    upstream: _Upstream | None = None
    feeders_of = Feeders(analysis).of
    for part, effects in _unseen(analysis):
        if all(feeders_of(effect, part) is not None for effect in effects):
            continue
        upstream = upstream or _Upstream(analysis)
        if upstream.cuts:
            message = f"`{part.program or '<'}` shows files whose names are cut out of a text"
            yield part, Doubt(message, part.span)
        elif part.is_a("connects") and upstream.hands_made_text_to(part):
            message = f"`{part.program}` may take a name that is made here for a connection"
            yield part, Doubt(message, part.span)
        elif upstream.hands_text_to(part):
            message = f"`{part.program or '<'}` shows files whose names stand in another one"
            yield part, Doubt(message, part.span)


def _unseen(analysis: CommandAnalysis) -> Iterator[tuple[Part, list[Effect]]]:
    """Yield the parts that show unseen files, each with the effects whose names are not known."""
    for part in analysis.parts:
        if not shows_unseen_files(part):
            continue
        # A name that stands in the command is known, though the directory may not be.
        written = {
            word.span
            for word, text in zip(part.words[1:], part.argv[1:], strict=False)
            if text is not None
        }
        effects = [
            effect
            for effect in part.effects
            if effect.kind is EffectKind.READ and effect.path is None and effect.span not in written
        ]
        if effects:
            yield part, effects


class _Upstream:
    """The parts of a command whose output may be taken for names.

    Args:
        analysis: The command.

    Attributes:
        cuts: Whether names are cut out of a text at other places than its blanks and line ends.
    """

    __slots__ = ("_analysis", "_listing", "_making", "_showing", "_unseen", "cuts")

    def __init__(self, analysis: CommandAnalysis) -> None:
        self._analysis = analysis
        self.cuts = any(map(_cuts_oddly, analysis.parts))
        places = _taken_for_names(analysis)
        handing = [each for each in analysis.parts if _hands_on(each, places, analysis)]
        uncut = [each for each in handing if not _is_cut_to_names(each, analysis)]
        self._listing = [each for each in handing if _lists(each)]
        self._making = [each for each in handing if each.is_a("maker")]
        self._showing = [each for each in uncut if _shows_text(each)]
        self._unseen = [each for each in uncut if shows_unseen_files(each)]

    def listing(self, part: Part) -> Iterator[Part]:
        """Yield the other parts that list names which a part may read."""
        yield from filter(_lists, self._finders(part))
        yield from (each for each in self._listing if each is not part)

    def hands_text_to(self, part: Part) -> bool:
        """Return whether another part hands on what is in a file, and a part takes it for names."""
        return (
            any(each is not part for each in self._showing)
            or any(each is not part and part.span.holds(each.span) for each in self._unseen)
            or any(
                _shows_text(each) and not _is_cut_to_names(each, self._analysis)
                for each in self._finders(part)
            )
        )

    def hands_made_text_to(self, part: Part) -> bool:
        """Return whether another part hands on a text of its own making that is taken for names."""
        return any(each is not part for each in self._making)

    def _finders(self, part: Part) -> Iterator[Part]:
        """Yield the programs that find files and run a part on them."""
        return (each for each in _carriers(part, self._analysis) if each.is_a("finder"))


@answered_once
def _cuts_oddly(part: Part) -> bool:
    """Return whether a part takes pieces of its input that no blank or line end bounds."""
    if part.program == "xargs":
        return cuts_oddly(part)
    if not part.is_a("takes_names"):
        return False
    if part.program == "read" and part.has_flag("nNi"):
        return True
    return any(
        word is not None
        and _DELIMITED.match(word) is not None
        and (word.partition("d")[2] or following) not in _LINE_ENDS
        for word, following in pairwise([*part.argv[1:], ""])
    )


def _carriers(part: Part, analysis: CommandAnalysis) -> Iterator[Part]:
    while part.parent is not None:
        part = analysis.parts[part.parent]
        yield part


def _taken_for_names(analysis: CommandAnalysis) -> list[Span]:
    """Return the places of a command whose output is taken for names."""
    takers = sorted(
        part.span for part in analysis.parts if part.is_a("takes_names") or shows_unseen_files(part)
    )
    places: list[Span] = []
    for node in analysis.nodes:
        if isinstance(node, Substitution):
            places.append(node.span)
        elif isinstance(node, Pipeline):
            places += _before_takers(node, takers)
    return places


def _hands_on(part: Part, places: Sequence[Span], analysis: CommandAnalysis) -> bool:
    """Return whether what a part prints, or takes from a file, may be taken for names."""
    if part.is_a("takes_names") or any(place.holds(part.span) for place in places):
        return True
    return any(families().is_shell(each.program) for each in _carriers(part, analysis))


def _before_takers(pipeline: Pipeline, takers: Sequence[Span]) -> list[Span]:
    """Return the places of the commands of a pipeline that stand before one that takes names.

    Args:
        pipeline: The pipeline.
        takers: The places of all that takes names, in order.
    """
    spans = [command.span for command in pipeline.commands]
    for number, span in reversed(list(enumerate(spans))):
        first = bisect_left(takers, span.start, key=_start)
        last = bisect_right(takers, span.end, key=_start)
        if any(map(span.holds, takers[first:last])):
            return spans[:number]
    return []


def _start(span: Span) -> int:
    return span.start


def _lists(part: Part) -> bool:
    """Return whether a part prints names of files; what it reads of itself are the places."""
    if part.program == "git":
        return part.git_command not in _TOLD_BY_GIT
    return prints_names(part) or any(lists_only(effect, part) for effect in part.effects)


def _is_cut_to_names(part: Part, analysis: CommandAnalysis) -> bool:
    """Return whether a search is cut to the names that its lines begin with."""
    if not (part.is_a("grep") or part.program == "rg"):
        return False
    parts = iter(analysis.parts)
    following = next((next(parts, None) for each in parts if each is part), None)
    if following is None:
        return False
    words = [word or "" for word in part.argv[1:]]
    named = part.program == "rg" or any(map(_SHOWS_NAMES.fullmatch, words))
    cut = " ".join(word or "" for word in following.argv)
    return named and cutting().fullmatch(cut) is not None


def _shows_text(part: Part) -> bool:
    """Return whether a part shows what is in a file."""
    if part.is_a("takes_names"):
        reads = any(effect.kind is EffectKind.READ for effect in part.effects)
        return reads or any(map(_is_from_file, part.redirects))
    if part.git_command in _TOLD_BY_GIT:
        return "--name-only" not in part.argv
    if part.is_a("decoder") or _writes_otherwise(part):
        return True
    if prints_names(part) or counts(part):
        return False
    return any(
        effect.kind is EffectKind.READ
        and not lists_only(effect, part)
        and effect.path not in {None, "/dev/null", "/dev/stdin"}
        for effect in part.effects
    )


def _writes_otherwise(part: Part) -> bool:
    """Return whether a part prints letters that its words do not show as they are."""
    words = [word or "" for word in part.argv[1:]]
    if canonical(part.program or "") == "tr":
        return any(any(map(str.isalnum, _NAMES_OF_BLANKS.sub("", word))) for word in words)
    if part.program == "printf" and any(map(_CONVERTS.search, words[:1])):
        return True
    return part.is_a("printer") and any(map(_ESCAPES.search, words))


def _is_from_file(redirect: Redirect) -> bool:
    if not redirect.operator.startswith("<") or not isinstance(redirect.target, Word):
        return False
    first = redirect.target.segments[0]
    is_process = isinstance(first, Substitution) and first.opener == "<("
    return redirect.operator != "<<<" and not is_process


@answered_once
def finds_source_code(part: Part) -> bool:
    """Return whether a part is `find` and lists only names of source code, or of documents."""
    tests = _tests_of_find(part)
    return bool(tests) and all(map(_names_source_code, tests))


@answered_once
def finds_files_alone(part: Part) -> bool:
    """Return whether a part is `find` and lists regular files only, no symlinks."""
    tests = _tests_of_find(part)
    return bool(tests) and all(map(_is_of_files, tests))


@answered_once
def _tests_of_find(part: Part) -> list[list[str]]:
    """Return the tests of `find`, one list for each alternative of which all have to hold.

    Nothing is known of a list of tests that is negated as a whole, so there is none then. What is
    pruned is not listed where another alternative says what to do with the rest. A test behind the
    first action comes too late.
    """
    if part.program != "find":
        return []
    words = _without_clauses([word or "" for word in part.argv])
    negates = any(one in _NOT and other == "(" for one, other in pairwise(words))
    if "," in words or negates:
        return []
    alternatives: list[list[str]] = [[""]]
    for word in words:
        if word in _OR:
            alternatives.append([""])
        else:
            alternatives[-1].append(word)
    if _acting(alternatives[-1]) and "(" not in words:
        last = alternatives.pop()
        alternatives = [each for each in alternatives if each[-1] != "-prune" or _acting(each)]
        alternatives.append(last)
    return [list(takewhile(_tests, each)) for each in alternatives]


def _without_clauses(words: Sequence[str]) -> list[str]:
    """Return the words of `find` without the commands that it runs, but with what runs them."""
    kept: list[str] = []
    is_inside = False
    for before, word in pairwise(["", *words]):
        if not is_inside:
            kept.append(word)
            is_inside = word in _RUNNING
        elif word == ";" or (word == "+" and before == "{}"):
            is_inside = False
    return kept


def _acts(word: str) -> bool:
    return word in _RUNNING or word.startswith(_ACTIONS)


def _tests(word: str) -> bool:
    return not _acts(word)


def _acting(tests: Sequence[str]) -> bool:
    return any(map(_acts, tests))


def _names_source_code(tests: Sequence[str]) -> bool:
    """Return whether one of several tests, all of which hold, is about such a name."""
    return any(
        test in _NAMED and before not in _NOT and name.rpartition(".")[2].lower() in _SOURCE_CODE
        for before, test, name in zip(tests, tests[1:], tests[2:], strict=False)
    )


def _is_of_files(tests: Sequence[str]) -> bool:
    return any(
        test == "-type" and before not in _NOT and kind == "f"
        for before, test, kind in zip(tests, tests[1:], tests[2:], strict=False)
    )
