"""The one way from the text of a command line to what it means."""

from __future__ import annotations

from functools import lru_cache
from itertools import repeat
from typing import TypeAlias, TypedDict

from msgspec import Struct
from msgspec.structs import replace

from agentscope_like.shell.analysis import (
    CommandAnalysis,
    Dissent,
    Doubt,
    EffectKind,
    Part,
)
from agentscope_like.shell.draft import BudgetError
from agentscope_like.shell.expand import WorkTree
from agentscope_like.shell.facts import (
    Implied,
    doubted_names,
    implied,
    named_files,
    shows_computed,
    shows_unseen_files,
)
from agentscope_like.shell.syntax import ReadError, Script, Span, read
from agentscope_like.shell.voters import default_panel, is_flat, is_plain
from agentscope_like.shell.walk import Walk

__all__ = ["Place", "analyze", "analyze_async", "analyze_unconfirmed"]


class Place(TypedDict):
    """Where a command would run: the keywords of `analyze`."""

    directory: str
    home: str | None
    work_tree: str | None


_NOTHING = Implied.NOTHING

_Texts: TypeAlias = tuple[tuple[str, Script], ...]

_EDITS = frozenset({EffectKind.READ, EffectKind.WRITE, EffectKind.DELETE})
"""What a part may do at most where it could be allowed without a rule that speaks of it."""


class _Reading(Struct, frozen=True):
    """What the strict reader alone makes of a command line.

    Attributes:
        analysis: What it means if others read it likewise.
        texts: The texts that others have to confirm: the command line, scripts in its words.
    """

    analysis: CommandAnalysis
    texts: _Texts = ()


def analyze(
    command: str, *, directory: str, home: str | None = None, work_tree: str | None = None
) -> CommandAnalysis:
    """Read a command line and say what it does.

    Never raises for what `command` holds: a failure is a doubt. The last 1,024 answers are kept.
    Where more than one command could stand in the text and something would be proven of it, two
    other parsers are asked to confirm the reading. That takes about a millisecond, and where one of
    them hangs a quarter of a second, once for a text; on an event loop, use `analyze_async`.

    Args:
        command: The command line as it would be handed to bash.
        directory: The absolute directory it would run in.
        home: The home directory that `~` stands for, or None where unknown.
        work_tree: The root of the git work tree that `directory` lies in, or None where unknown.
    """
    return _confirmed(_read(command, directory, home, work_tree))


async def analyze_async(
    command: str, *, directory: str, home: str | None = None, work_tree: str | None = None
) -> CommandAnalysis:
    """Do what `analyze` does, and let the event loop run while other parsers are waited for."""
    reading = _read(command, directory, home, work_tree)
    if not reading.texts:
        return reading.analysis
    if all(default_panel().knows(text) for text, _ in reading.texts):
        return _confirmed(reading)
    import asyncio  # deciding as such needs none of it

    return await asyncio.to_thread(_confirmed, reading)


def analyze_unconfirmed(
    command: str, *, directory: str, home: str | None = None, work_tree: str | None = None
) -> CommandAnalysis:
    """Do what `analyze` does, but ask nobody: nothing is proven where others would be asked.

    For rules that forbid; they go by what the strict reader read.
    """
    reading = _read(command, directory, home, work_tree)
    if not reading.texts:
        return reading.analysis
    unasked = Dissent("No other parser has confirmed what was read", Span(0, len(command)))
    return _dissented(reading.analysis, unasked, is_whole=True)


def _confirmed(reading: _Reading) -> CommandAnalysis:
    """Return the analysis, with a doubt where another parser reads one of the texts otherwise."""
    analysis = reading.analysis
    for text, script in reading.texts:
        dissent = default_panel().dissent(text, script)
        if dissent is not None:
            return _dissented(analysis, dissent, is_whole=text == analysis.command)
    return analysis


def _dissented(analysis: CommandAnalysis, dissent: Dissent, *, is_whole: bool) -> CommandAnalysis:
    """Return the analysis with a doubt; its place is the whole where it is about a word's text."""
    span = dissent.span if is_whole else Span(0, len(analysis.command))
    return replace(analysis, doubts=(Dissent(dissent.message, span),))


@lru_cache(maxsize=1024)
def _read(command: str, directory: str, home: str | None, work_tree: str | None) -> _Reading:
    whole = Span(0, len(command))

    def unread(doubt: Doubt) -> _Reading:
        return _Reading(CommandAnalysis(command, directory, None, doubts=(doubt,)))

    try:
        script = read(command)
        walk = Walk(command, home, WorkTree(directory, work_tree) if work_tree else None)
        parts = _with_doubted_names(script, walk.run(script, directory), command, directory)
        doubts = tuple(walk.doubts)
        votes_matter = not doubts and any(map(_may_need_no_rule, parts))
        texts = ((command, script), *walk.texts) if votes_matter else ()
        asked = tuple([each for each in texts if not is_plain(*each) and not is_flat(*each)])
    except ReadError as error:
        return unread(Doubt(str(error), getattr(error, "span", whole)))
    except BudgetError:
        return unread(Doubt("The command line is too large to be judged.", whole))
    except Exception as error:
        return unread(Doubt(f"Reading the command failed ({type(error).__name__}).", whole))
    analysis = CommandAnalysis(command, directory, script, parts, doubts)
    if analysis.read_only and not any(map(_names_a_file, parts, repeat(analysis))):
        analysis = replace(analysis, names_no_file=True)
    return _Reading(analysis, asked)


def _with_doubted_names(
    script: Script, parts: tuple[Part, ...], command: str, directory: str
) -> tuple[Part, ...]:
    """Return the parts, with a doubt for each that shows files whose names stand in a file."""
    if not any(map(shows_unseen_files, parts)):
        return parts
    doubted = list(doubted_names(CommandAnalysis(command, directory, script, parts)))
    if not doubted:
        return parts
    doubts = {id(part): doubt for part, doubt in doubted}
    return tuple(
        replace(part, doubts=(*part.doubts, doubts[id(part)])) if id(part) in doubts else part
        for part in parts
    )


def _names_a_file(part: Part, analysis: CommandAnalysis) -> bool:
    if part.effects or shows_computed(part) or any(named_files(part)):
        return True
    return implied(part, analysis) is not _NOTHING


def _may_need_no_rule(part: Part) -> bool:
    """Return whether a part could be allowed for what it does."""
    if part.read_only:
        return True
    return bool(part.effects) and all(effect.kind in _EDITS for effect in part.effects)
