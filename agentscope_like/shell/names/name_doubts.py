"""Doubts about parts that show files whose names are only known at run time."""

from __future__ import annotations

from agentscope_like.shell.analysis import CommandAnalysis, Doubt, Effect, EffectKind, Part
from agentscope_like.shell.catalog import programs_with
from agentscope_like.shell.facts import shows_unseen_files
from agentscope_like.shell.known_names import NO_NAMES, VARIABLE, Names, any_of

__all__ = ["feeders", "name_doubt", "unnamed_reads"]

_READ = EffectKind.READ
_PROCESS = "/dev/fd/"
"""What the name of a process substitution begins with."""


def unnamed_reads(part: Part) -> list[Effect]:
    """Return what a part reads under names that do not stand in the command.

    A name that stands there is known, though its directory may not be.
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


def feeders(effect: Effect, part: Part, analysis: CommandAnalysis) -> tuple[Part, ...] | None:
    """Return the parts in whose places all lies that an effect without a path acts on.

    Returns:
        The parts; none for a process substitution, which is no file; None where nobody can say.
    """
    names = _names_of(effect)
    if names.is_harmless and effect.start.startswith(_PROCESS):
        return ()
    producers = [analysis.parts[number] for number in names.producers]
    if names.unknown or names.spoken or not names.exact:
        return None
    if any(each.directories != part.directories for each in producers):
        return None
    return tuple(producers) or None


def name_doubt(part: Part) -> Doubt | None:
    """Return the doubt about a part that shows files of unknown names, or None."""
    effects = unnamed_reads(part) if shows_unseen_files(part) else ()
    message = _told(any_of(map(_names_of, effects)), part) if effects else None
    return None if message is None else Doubt(message, part.span)


def _names_of(effect: Effect) -> Names:
    return NO_NAMES if effect.start.startswith(_PROCESS) else effect.names


def _told(names: Names, part: Part) -> str | None:
    program = part.program or "<"
    if names.unknown.startswith(VARIABLE):
        return f"{names.unknown} is only known at run time, so it cannot be checked for secrets"
    if names.unknown:
        return f"`{program}` shows {names.unknown}; one of them may be secret"
    if names.spoken and program in programs_with("connects"):
        return f"`{program}` opens file names only known at run time, perhaps as connections"
    return None
