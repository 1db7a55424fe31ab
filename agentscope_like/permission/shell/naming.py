"""The paths that a command names, where no more is known of what it does to them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from agentscope_like.permission.errors import PathError
from agentscope_like.permission.shell.analysis import CommandAnalysis, EffectKind, Part
from agentscope_like.permission.shell.directories import joined
from agentscope_like.permission.shell.families import families
from agentscope_like.permission.shell.readings import raw_words
from agentscope_like.permission.shell.safety import INTERPRETERS
from agentscope_like.permission.shell.surroundings import Surroundings, paths_in
from agentscope_like.permission.shell.touch import Touch, TouchKind
from agentscope_like.permission.shell.tree import Heredoc

__all__ = ["named_by_command", "named_in_history"]

_UNKNOWN = frozenset({EffectKind.UNKNOWN, EffectKind.EXECUTE, EffectKind.NETWORK})
_SCRIPTED = frozenset({"awk", "gawk", "mawk", "sed", "gsed", "sqlite3"})


def named_in_history(part: Part, around: Surroundings) -> Iterator[Touch]:
    """Yield the paths of a repository's past that git may show: `git show HEAD:path`."""
    if part.program == "git" and part.read_only:
        # `REV:path` counts from the root of the repository, wherever git runs.
        roots = [location.absolute for location in around.working_directories]
        yield from _touches(part, part.argv[2:], TouchKind.SHOW, around, roots)


def named_by_command(analysis: CommandAnalysis, around: Surroundings) -> Iterator[Touch]:
    """Yield the paths that are named to a program that may do anything, or in unread text.

    Args:
        analysis: The command, as it was read, or not.
        around: Where it runs.
    """
    if analysis.script is None:
        yield from _touches(None, raw_words(analysis.command), TouchKind.NAME, around)
    for part in analysis.parts:
        if any(effect.kind in _UNKNOWN for effect in part.effects):
            words = _words_of(part, analysis.command)
            yield from _touches(part, words, TouchKind.NAME, around)


def _words_of(part: Part, command: str) -> Iterator[str | None]:
    """Yield the words of a part, and those of the code that it is given."""
    runs_code = part.program in INTERPRETERS | families().shells | _SCRIPTED
    for word in part.argv[1:]:
        if runs_code and word is not None:
            yield from raw_words(word)
        else:
            yield word
    for redirect in part.redirects:
        if runs_code and isinstance(redirect.target, Heredoc):
            span = redirect.target.body.span
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
