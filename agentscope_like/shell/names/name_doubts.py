"""Doubts about parts that show files whose names are only known at run time."""

from __future__ import annotations

from collections.abc import Iterator

from agentscope_like.shell.analysis import CommandAnalysis, Doubt, Effect, EffectKind, Part
from agentscope_like.shell.catalog import programs_with
from agentscope_like.shell.facts import shows_unseen_files
from agentscope_like.shell.names.known_names import VARIABLE, Names, any_of
from agentscope_like.shell.names.name_origins import Origins

__all__ = ["doubted_names", "unnamed_reads"]

_READ = EffectKind.READ


def unnamed_reads(part: Part) -> list[Effect]:
    """Return what a part reads under names that do not stand in the command.

    A name that stands there is known, though its directory may not be.

    Args:
        part: The part.
    """
    written = {
        word.span
        for word, text in zip(part.words[1:], part.argv[1:], strict=False)
        if text is not None
    }
    return [
        effect
        for effect in part.effects
        if effect.kind is _READ and effect.path is None and effect.span not in written
    ]


def doubted_names(analysis: CommandAnalysis) -> Iterator[tuple[int, Doubt]]:
    """Yield the parts, by number, that show files of unknown names, and the doubt about each.

    Args:
        analysis: The command, as it was read.
    """
    origins: Origins | None = None
    for number, part in enumerate(analysis.parts):
        effects = unnamed_reads(part) if shows_unseen_files(part) else ()
        if effects:
            origins = origins or Origins(analysis)
            names = any_of(origins.of(effect, part) for effect in effects)
            if message := _told(names, part):
                yield number, Doubt(message, part.span)


def _told(names: Names, part: Part) -> str | None:
    program = part.program or "<"
    if names.unknown.startswith(VARIABLE):
        return f"{names.unknown} is only known at run time, so it cannot be checked for secrets"
    if names.unknown:
        return f"`{program}` shows {names.unknown}; one of them may be secret"
    if names.spoken and program in programs_with("connects"):
        return f"`{program}` opens file names only known at run time, perhaps as connections"
    return None
