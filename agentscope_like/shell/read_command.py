"""Analyzes a command line: reads it, walks its tree and collects its effects and doubts."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from agentscope_like.shell.analysis import (
    CommandAnalysis,
    Dissent,
    Doubt,
    Part,
)
from agentscope_like.shell.draft import BudgetError
from agentscope_like.shell.facts import (
    choosing_option,
    shows_computed,
    shows_content,
)
from agentscope_like.shell.names import name_doubt
from agentscope_like.shell.secrets import named_files
from agentscope_like.shell.syntax import OPENING, ReadError, Span, read, unread_expansion
from agentscope_like.shell.walk import Walk
from agentscope_like.sized_cache import cached_by_size

__all__ = ["analyze"]


_KEPT_CHARACTERS = 200_000
"""Of the commands whose analyses are kept; an analysis takes a hundred bytes for each."""


def analyze(
    command: str, *, directory: str, home: str | None = None, work_tree: str | None = None
) -> CommandAnalysis:
    """Analyse a command line.

    Never raises for what `command` holds: a failure is a doubt. The last answers are kept.

    Args:
        command: The command line as it would be handed to bash.
        directory: The absolute directory it would run in.
        home: The home directory, or None if unknown.
        work_tree: The root of the git work tree that `directory` lies in, or None where unknown.
    """
    return _analysis(command, directory, home, work_tree)


@cached_by_size(_KEPT_CHARACTERS)
def _analysis(
    command: str, directory: str, home: str | None, work_tree: str | None
) -> CommandAnalysis:
    whole = Span(0, len(command))

    def unread(doubt: Doubt) -> CommandAnalysis:
        return CommandAnalysis(command, directory, None, doubts=(doubt,))

    try:
        script = read(command)
        walk = Walk(command, home, work_tree)
        parts = _with_doubted_names(walk.run(script, directory))
        inner, doubts, held = tuple(walk.texts), tuple(walk.doubts), tuple(walk.held)
        analysis = CommandAnalysis(command, directory, script, parts, doubts, inner, held)
        may_hold_more = bool(inner) or OPENING.search(command) is not None
        if may_hold_more and analysis.may_need_no_rule and (dissent := _dissent(analysis)):
            return replace(analysis, doubts=(dissent,))
    except ReadError as error:
        return unread(Doubt(str(error), getattr(error, "span", whole)))
    except BudgetError:
        return unread(Doubt("The command line is too large to analyse.", whole))
    except Exception as error:
        return unread(Doubt(f"Reading the command failed ({type(error).__name__}).", whole))
    if analysis.read_only and not any(map(_names_a_file, parts)):
        return replace(analysis, names_no_file=True)
    return analysis


def _dissent(analysis: CommandAnalysis) -> Dissent | None:
    """Return a doubt about an expansion in a text that was not parsed, or None."""
    for text, script in analysis.texts:
        place = unread_expansion(text, script)
        if place is not None:
            message = f"The expansion that begins with `{text[slice(*place)]}` was not parsed"
            if text == analysis.command:
                return Dissent(message, place)
            return Dissent(message, Span(0, len(analysis.command)))
    return None


def _with_doubted_names(parts: Sequence[Part]) -> tuple[Part, ...]:
    """Return the parts, with a doubt for each that shows files of unknown names."""
    checked = list(parts)
    for number, part in enumerate(parts):
        if part.effects and (doubt := name_doubt(part)):
            checked[number] = replace(part, doubts=(*part.doubts, doubt))
    return tuple(checked)


def _names_a_file(part: Part) -> bool:
    if part.effects or not (shows_content(part) or choosing_option(part.program)):
        return bool(part.effects)
    return shows_computed(part) or any(named_files(part))
