"""Lists paths that a command names without a known effect: arguments of unknown programs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from agentscope_like.paths import PathError
from agentscope_like.shell.analysis import CommandAnalysis, EffectKind, Part
from agentscope_like.shell.catalog import families
from agentscope_like.shell.facts import all_words, raw_words, shown_in_history, shows_computed
from agentscope_like.shell.state import joined
from agentscope_like.shell.surroundings import Surroundings, paths_in
from agentscope_like.shell.syntax import Heredoc
from agentscope_like.shell.touches.file_touch import Below, Touch, TouchKind

__all__ = ["is_pattern", "named_by_command", "named_in_history", "words_in_history"]

_UNKNOWN = frozenset({EffectKind.UNKNOWN, EffectKind.EXECUTE, EffectKind.NETWORK})
_MAGIC = re.compile(r"[*?\[\\]")
_ANYTHING = re.compile(r"[*?]*")
_ENDING = re.compile(r"\*+(?:\.[\w*?\[\]-]+)+")
"""A pattern of what names end with: `*.py`."""


def is_pattern(text: str) -> bool:
    """Return whether a text contains a wildcard."""
    return _MAGIC.search(text) is not None


def _stands_for_places(pattern: str) -> bool:
    """Return whether a pattern says more than the end of a name, or than anything at all."""
    folder, _, last = pattern.rpartition("/")
    is_ending = _ENDING.fullmatch(last) or _ANYTHING.fullmatch(last)
    return not is_ending or not _ANYTHING.fullmatch(folder)


def _literal_folder(pattern: str) -> str:
    """Return the known directory of all that a pattern matches."""
    magic = _MAGIC.search(pattern)
    return pattern[: magic.start()].rpartition("/")[0] if magic else pattern


def named_in_history(part: Part, around: Surroundings) -> Iterator[Touch]:
    """Yield the paths of a repository's past that git may show: `git show HEAD:path`."""
    if part.program != "git" or not part.read_only:
        return
    # `REV:path` counts from the root of the repository, wherever git runs.
    roots = [location.absolute for location in around.working_directories]
    shown = list(shown_in_history(part))
    names = [name for name in shown if not is_pattern(name)]
    yield from _touches(part, (*part.argv[2:], *names), TouchKind.SHOW, around, roots)
    for pattern in dict.fromkeys(filter(is_pattern, shown)):
        if _stands_for_places(pattern):
            yield from _matched(part, pattern, around, roots)


def words_in_history(analysis: CommandAnalysis, around: Surroundings) -> Iterator[Touch]:
    """Yield the paths among all words, if git shows a path that is only known at run time."""
    part = next(filter(shows_computed, analysis.parts), None)
    if part is not None:
        roots = [location.absolute for location in around.working_directories]
        yield from _touches(part, all_words(analysis), TouchKind.SHOW, around, roots)


def _matched(
    part: Part, pattern: str, around: Surroundings, roots: Iterable[str]
) -> Iterator[Touch]:
    """Yield the locations that a pattern may match, now or in the past."""
    folder = _literal_folder(pattern)
    for start in dict.fromkeys((*part.directories, *roots)):
        try:
            location = around.locate(joined(start, folder) or start)
        except PathError:
            continue
        yield Touch(part, TouchKind.SHOW, pattern, location, Below.ANYTHING, certain=False)


def named_by_command(analysis: CommandAnalysis, around: Surroundings) -> Iterator[Touch]:
    """Yield the paths in arguments of a program that may do anything, or in unparsed text."""
    if analysis.script is None:
        yield from _touches(None, raw_words(analysis.command), TouchKind.NAME, around)
    for part in analysis.parts:
        if any(effect.kind in _UNKNOWN for effect in part.effects):
            words = _words_of(part, analysis.command)
            yield from _touches(part, words, TouchKind.NAME, around)


def _words_of(part: Part, command: str) -> Iterator[str | None]:
    """Yield the words of a part, and those of its code arguments."""
    runs_code = families().runs_code(part.program) or part.is_a("scripted")
    for word in part.argv[1:]:
        if runs_code and word is not None:
            yield from raw_words(word)
        else:
            yield word
    for redirect in part.redirects if runs_code else ():
        target = redirect.target
        if redirect.operator.startswith("<<"):
            span = target.body.span if isinstance(target, Heredoc) else target.span
            yield from raw_words(command[span.start : span.end])


def _touches(
    part: Part | None,
    words: Iterable[str | None],
    kind: TouchKind,
    around: Surroundings,
    roots: Iterable[str] = (),
) -> Iterator[Touch]:
    known = (part.directories if part else ()) or (around.directory,)
    directories = dict.fromkeys((*known, *roots))
    pieces = (piece for word in words if word for piece in paths_in(word))
    for piece in dict.fromkeys(pieces):
        starts = (None,) if piece.startswith(("/", "~")) else directories
        for start in starts:
            try:
                location = around.locate(joined(start, piece) or piece)
            except PathError:
                continue
            yield Touch(part, kind, piece, location, certain=False)
