"""What tests ask about a command: what it is read as, and what is decided about it.

Beside the doors of the package and the reader's own parts (`tests.permission.shell.syntax`), tests
of commands ask here. Where a module of the engine moves, only this file follows it.
"""

from __future__ import annotations

import asyncio
import atexit
import os
import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple
from unittest.mock import patch

import agentscope_like
from agentscope_like.paths import LookBudget
from agentscope_like.permission import (
    PermissionBehavior,
    PermissionContext,
    PermissionDecision,
    PermissionEngine,
    PermissionMode,
    PermissionRule,
)
from agentscope_like.permission.command import (
    find_danger,
    hold_objection,
    suggest_wider_patterns,
)
from agentscope_like.shell import (
    CommandAnalysis,
    Doubt,
    Effect,
    EffectKind,
    Part,
    Surroundings,
    analyze,
)
from agentscope_like.tool import Bash
from tests.record import AtOnce

__all__ = [
    "HOLDING",
    "PURPOSES",
    "CommandAnalysis",
    "Doubt",
    "Effect",
    "EffectKind",
    "Part",
    "Place",
    "Surroundings",
    "analysis_of",
    "analyze",
    "argv_of",
    "context_of",
    "danger_of",
    "danger_within",
    "decide",
    "doubts_of",
    "make_place",
    "met",
    "objection_to_holding",
    "paths_of",
    "place",
    "reads",
    "rule_of",
    "suggested_for",
    "wider_for",
]

PURPOSES = Path(agentscope_like.__file__).parent / "shell" / "walk" / "purposes.toml"
"""The table of what programs do, in words."""

HOLDING = Path(agentscope_like.__file__).parent / "permission" / "command" / "holding.toml"
"""The table of commands that are not to run held."""

_TOOLS = ("Bash", "Read", "Write", "Edit", "Glob", "Grep")


class Place(NamedTuple):
    """Where a command is decided about.

    Attributes:
        work: The directory that it starts in, which is the one that is worked in.
        home: The home.
    """

    work: Path
    home: Path


def analysis_of(command: str) -> CommandAnalysis:
    """Return what is read in a command that starts in `/ws`, with the home `/home/u`."""
    return analyze(command, directory="/ws", home="/home/u")


def reads(command: str) -> bool:
    """Return whether a command is proven to read only."""
    return analysis_of(command).read_only


def doubts_of(command: str) -> list[str]:
    """Return the messages of all doubts about a command."""
    return [doubt.message for doubt in analysis_of(command).all_doubts]


def argv_of(command: str) -> tuple[str | None, ...]:
    """Return the words of the last simple command, None for what is not known."""
    return analysis_of(command).parts[-1].argv


def paths_of(command: str, *kinds: EffectKind) -> list[str | None]:
    """Return the paths of the effects of a command, or of those of some kinds."""
    effects = analysis_of(command).effects
    return [each.path for each in effects if not kinds or each.kind in kinds]


def make_place(directory: Path, files: str = "") -> Place:
    """Make a project and a home below a directory.

    Args:
        directory: An empty directory.
        files: The paths of files to put into the project, parted by blanks.
    """
    made = Place(directory.resolve() / "work" / "project", directory.resolve() / "home" / "u")
    made.work.mkdir(parents=True)
    made.home.mkdir(parents=True)
    for name in files.split():
        path = made.work / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x")
    return made


@cache
def place() -> Place:
    """Return an empty project and an empty home, the same ones each time."""
    base = tempfile.TemporaryDirectory()
    atexit.register(base.cleanup)
    return make_place(Path(base.name))


def rule_of(text: str) -> PermissionRule:
    """Return the rule that `deny Read(.env)`, `deny rm:*` or `allow Bash` stands for."""
    behavior, _, rest = text.partition(" ")
    tool, bracket, content = rest.removesuffix(")").partition("(")
    if not bracket and tool not in _TOOLS:
        tool, content = "Bash", rest
    return PermissionRule(
        tool_name=tool, rule_content=content or None, behavior=PermissionBehavior(behavior)
    )


def context_of(rules: Sequence[str] = (), mode: str = "default") -> PermissionContext:
    """Return a context with these rules."""
    context = PermissionContext(mode=PermissionMode(mode))
    engine = PermissionEngine(context)
    for text in rules:
        engine.add_rule(rule_of(text))
    return context


def decide(
    command: str,
    where: Place | None = None,
    *,
    mode: str = "default",
    rules: Sequence[str] = (),
    tool: Bash | None = None,
) -> PermissionDecision:
    """Return what the engine says of a command.

    Args:
        command: The command.
        where: Where it starts; in an empty project where none is given.
        mode: The permission mode.
        rules: The rules, as `rule_of` takes them.
        tool: The tool, if it is no plain one.
    """
    here = where or place()
    with patch.dict(os.environ, HOME=str(here.home)):
        engine = PermissionEngine(context_of(rules, mode))
        asked = tool or Bash(cwd=here.work, confine="off")
        return _runner().run(engine.check_permission(asked, {"command": command}))


@cache
def _runner() -> asyncio.Runner:
    """Return one event loop for all decisions: to make one takes longer than to decide."""
    runner = asyncio.Runner()
    runner.get_loop().set_default_executor(AtOnce())
    atexit.register(runner.close)
    return runner


def danger_of(command: str, where: Place | None = None, *, tool: Bash | None = None) -> str:
    """Return why a person has to look at a command whatever is allowed; empty where nothing is."""
    decision = decide(command, where, rules=["allow Bash"], tool=tool)
    return decision.message if decision.bypass_immune else ""


def objection_to_holding(command: str, where: Place | None = None) -> str | None:
    """Return why a command is not to run held; it starts in `/ws` where no place is given."""
    here = where or Place(Path("/ws"), Path("/home/u"))
    directory, home = str(here.work), str(here.home)
    around = Surroundings(directory=directory, working=(directory,), root=directory, home=home)
    return hold_objection(analyze(command, directory=directory, home=home), around)


def met(command: str, rule: str, where: Place | None = None) -> str:
    """Return what a deny rule makes of a command that is allowed: "deny", "ask" or "allow"."""
    return decide(command, where, rules=["allow Bash", f"deny {rule}"]).behavior.value


def danger_within(effort: int, command: str) -> str:
    """Return likewise why a person has to look, where only so much effort may be spent."""
    work, home = map(str, place())
    around = Surroundings(work, (), work, home, effort=LookBudget(effort))
    found = find_danger(analyze(command, directory=work, home=home), around)
    return "" if found is None else found.message


def suggested_for(command: str, where: Place | None = None) -> list[str]:
    """Return the rules that are offered where a command is asked about."""
    return [each.rule_content or "" for each in decide(command, where).suggested_rules or ()]


def wider_for(command: str, where: Place | None = None) -> list[str]:
    """Return the rules that a person is told of beside those that are offered for a command."""
    work, home = map(str, where or place())
    return suggest_wider_patterns(analyze(command, directory=work, home=home))
